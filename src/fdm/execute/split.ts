import { type Device, firstThatFits, isGpu } from "../../device/index.ts";
import type { Precision } from "../../kernel/index.ts";
import type { Instance } from "./instance.ts";
import type { OneFactorProblem } from "../problem/one-factor.ts";
import { groupSize, HALF_SUBGROUP, SUBGROUP, type Team, WORKGROUP } from "./team/team.ts";
import { teamWords } from "./team/memory.ts";

/** The way in which a launch is shared out: one work item an option, half a subgroup, a subgroup, or a workgroup. */
export type Split = "item" | "half-subgroup" | "subgroup" | "workgroup";

export type TeamSplit = Exclude<Split, "item">;

export const teams: Readonly<Record<TeamSplit, Team>> = {
  "half-subgroup": HALF_SUBGROUP,
  subgroup: SUBGROUP,
  workgroup: WORKGROUP,
};

/**
 * Node capacities of the teams: 2, 3, 5 and 9 nodes an item of a workgroup; 3, 6, 9 and 17 of a subgroup; 6, 11 and 17
 * of half of one.
 */
export const CAPACITIES: Readonly<Record<TeamSplit, readonly number[]>> = {
  "half-subgroup": [96, 176, 272],
  subgroup: [96, 192, 288, 544],
  workgroup: [128, 192, 320, 576],
};

/**
 * The capacity that an instance's kernel gets in a split among teams; undefined where the device cannot, or has no room
 * for it.
 */
export function teamCapacity(
  device: Device,
  precision: Precision,
  nodes: number,
  split: TeamSplit,
): number | undefined {
  const bytes = precision === "f32" ? 4 : 8;
  return fittingCapacity(device, nodes, split, (team, size) => teamWords(team, size, precision) * bytes);
}

/** The capacity of any kernel for teams, which takes so many bytes of workgroup memory for a capacity. */
export function fittingCapacity(
  device: Device,
  nodes: number,
  split: TeamSplit,
  bytesOf: (team: Team, size: number) => number,
): number | undefined {
  const team = teams[split];
  const items = groupSize(team);
  const enough = CAPACITIES[split].filter((size) => size >= nodes);
  const subgroup = team.shuffles ? items : undefined;
  return firstThatFits(device, enough, (size) => ({ items, subgroup, workgroupBytes: bytesOf(team, size) }));
}

/**
 * The number of threads that a multiprocessor has room for, by which `Device.parallelism` tells how many of those there
 * are.
 */
const THREADS = 2048;
/**
 * The number of instances a multiprocessor from which on they fill a GPU two a subgroup; fewer are done sooner with a
 * subgroup each.
 */
const PAIRED_INSTANCES = 8;

/**
 * The splits of a device from best to worst for as many instances.
 *
 * A CPU is full with a few hundred options, one a SIMD lane: one item an option, always. So is a software adapter, to
 * which a barrier is 64 changes of thread: SwiftShader takes 5 to 100 times as long for the workgroup split.
 *
 * On a GPU a team keeps its option in registers for the whole time loop, where an item's private arrays are in memory
 * off the chip (design/splits.md). Two options a subgroup share its shuffles, but are half as many subgroups.
 */
export function preferredSplits(device: Device, instances = 0): readonly Split[] {
  if (!isGpu(device)) return ["item"];
  const paired = instances * THREADS >= PAIRED_INSTANCES * device.parallelism;
  return paired ? ["half-subgroup", "subgroup", "workgroup", "item"] : ["subgroup", "workgroup", "item"];
}

/**
 * Tells whether a problem is for one item an option: teams have one value an instance, none that waits for a knock-in.
 */
export function needsItems({ knockIns }: OneFactorProblem): boolean {
  return knockIns !== undefined;
}

/**
 * Tells whether two instances may share a subgroup. What needs more registers a node is left to whole subgroups, which
 * have half as many nodes an item: policy iteration, barriers, emulated double, dividends where the matrix changes in
 * every step; and so are volatilities made in each step, whose cost is not that of the scans.
 */
export function mayShare({ grid, formula, surface }: Instance, precision: Precision): boolean {
  const { scheme, problem, time } = grid;
  const few = scheme !== "policy" && problem.barriers === undefined && precision !== "f32x2";
  return few && (time.homogeneous || time.dividends === 0) && formula === undefined && surface === undefined;
}
