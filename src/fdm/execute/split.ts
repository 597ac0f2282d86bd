import { type Device, firstThatFits, isGpu, type LaunchSize } from "../../device/index.ts";
import type { Precision } from "../../kernel/index.ts";
import type { Instance } from "./instance.ts";
import type { OneFactorProblem } from "../problem/one-factor.ts";
import { groupSize, HALF_SUBGROUP, SUBGROUP, type Team, WORKGROUP } from "./team/team.ts";
import { teamWords } from "./team/memory.ts";

/** The division of a launch: one option for each work item, half subgroup, subgroup, or workgroup. */
export type Split = "item" | "half-subgroup" | "subgroup" | "workgroup";

/** The splits in which several work items solve one option. */
export type TeamSplit = Exclude<Split, "item">;

/** The team of work items of each split. */
const teams: Readonly<Record<TeamSplit, Team>> = {
  "half-subgroup": HALF_SUBGROUP,
  subgroup: SUBGROUP,
  workgroup: WORKGROUP,
};

/** Returns the team that solves an option in a split; undefined where one work item does it alone. */
export const teamOf = (split: Split): Team | undefined => (split === "item" ? undefined : teams[split]);

/** Returns the launch size for a number of instances in a split. */
export function launchSize(split: Split, instances: number): LaunchSize {
  const team = teamOf(split);
  return team === undefined ? { items: instances } : { groups: Math.ceil(instances / team.options) };
}

/**
 * The node capacities of the teams: 2, 3, 5 and 9 nodes an item of a workgroup; 3, 6, 9 and 17 of a subgroup; 6, 11 and
 * 17 of half of one.
 */
export const CAPACITIES: Readonly<Record<TeamSplit, readonly number[]>> = {
  "half-subgroup": [96, 176, 272],
  subgroup: [96, 192, 288, 544],
  workgroup: [128, 192, 320, 576],
};

/**
 * The smallest sufficient node capacity of an instance's kernel in a team split; undefined where the device cannot run
 * it or lacks memory.
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

/** The smallest sufficient capacity of a team kernel, given the bytes of workgroup memory that each capacity takes. */
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
 * The splits of a device from best to worst for a number of instances.
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
 * Tells whether a problem needs one item an option: teams keep one value an instance, so none for a pending knock-in.
 */
export function needsItems({ knockIns }: OneFactorProblem): boolean {
  return knockIns !== undefined;
}

/**
 * Tells whether two instances may share a subgroup. Problems that need more registers a node are given whole subgroups,
 * which have half as many nodes an item: policy iteration, barriers, emulated double, and dividends where the matrix
 * changes in every step. So are volatilities evaluated in each step, whose cost is not in the scans.
 */
export function mayShare({ grid, formula, surface }: Instance, precision: Precision): boolean {
  const { scheme, problem, time } = grid;
  const few = scheme !== "policy" && problem.barriers === undefined && precision !== "f32x2";
  return few && (time.homogeneous || time.dividends === 0) && formula === undefined && surface === undefined;
}
