import { type Device, firstThatFits, isGpu, type LaunchSize } from "../../../device/index.ts";
import type { Precision } from "../../../kernel/index.ts";
import type { Instance } from "./instance.ts";
import type { OneFactorProblem } from "../problem/one-factor.ts";
import { groupSize, HALF_SUBGROUP_TEAM, SUBGROUP_TEAM, type Team, WORKGROUP_TEAM } from "./team/team.ts";
import { teamWords } from "./team/option.ts";

/**
 * The division of a launch's instances among work items: each instance is solved by one item, half a subgroup, a
 * subgroup, or a workgroup.
 */
export type Split = "item" | "half-subgroup" | "subgroup" | "workgroup";

/** The divisions in which a team of several work items solves one instance. */
export type TeamSplit = Exclude<Split, "item">;

/** The team of work items of each division. */
const teams: Readonly<Record<TeamSplit, Team>> = {
  "half-subgroup": HALF_SUBGROUP_TEAM,
  subgroup: SUBGROUP_TEAM,
  workgroup: WORKGROUP_TEAM,
};

/** Returns the team of work items that solves an instance under a division; undefined if a single item solves it. */
export const teamOf = (split: Split): Team | undefined => (split === "item" ? undefined : teams[split]);

/**
 * Returns the launch size, in work items or workgroups, for a number of instances that are divided among work items by
 * `split`.
 */
export function launchSize(split: Split, instances: number): LaunchSize {
  const team = teamOf(split);
  return team === undefined ? { items: instances } : { groups: Math.ceil(instances / team.options) };
}

/**
 * The numbers of nodes for which team kernels are made: 2, 3, 5 and 9 nodes for each item of a workgroup; 3, 6, 9 and
 * 17 for those of a subgroup; 6, 11 and 17 for those of half a subgroup.
 */
export const CAPACITIES: Readonly<Record<TeamSplit, readonly number[]>> = {
  "half-subgroup": [96, 176, 272],
  subgroup: [96, 192, 288, 544],
  workgroup: [128, 192, 320, 576],
};

/**
 * Returns the smallest of `CAPACITIES` with which a team can solve instances of `nodes` nodes; undefined where the
 * device cannot run the kernel or has too little memory.
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

/** Returns the numbers of nodes for which team kernels can run on a device, ascending. */
export const teamCapacities = (device: Device, precision: Precision, split: TeamSplit): number[] =>
  CAPACITIES[split].filter((size) => teamCapacity(device, precision, size, split) === size);

/**
 * Returns the smallest sufficient capacity of a team kernel; undefined if there is none. `bytesOf` returns the number
 * of bytes of workgroup memory that a capacity needs.
 */
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
 * Returns the divisions of instances among work items that a device supports, the fastest first for a given number of
 * instances.
 *
 * A CPU is busy with a few hundred instances, one in each SIMD lane, so it always has one item for each instance. So
 * does a software adapter, for which a barrier means 64 changes of thread: SwiftShader takes 5 to 100 times as long
 * with a workgroup for each instance.
 *
 * On a GPU a team keeps its instance in registers for the whole time loop, where the private arrays of a single item
 * would be in memory off the chip (design/splits.md). Two instances in one subgroup share its shuffles, but need half
 * as many subgroups.
 */
export function preferredSplits(device: Device, instances = 0): readonly Split[] {
  if (!isGpu(device)) return ["item"];
  const paired = instances * THREADS >= PAIRED_INSTANCES * device.parallelism;
  return paired ? ["half-subgroup", "subgroup", "workgroup", "item"] : ["subgroup", "workgroup", "item"];
}

/**
 * Tells whether a problem can be solved only by single work items. Teams solve one value for each instance, so they
 * cannot solve a trade with a pending knock-in, which has two.
 */
export function needsItems({ knockIns }: OneFactorProblem): boolean {
  return knockIns !== undefined;
}

/**
 * Tells whether two instances may share a subgroup. Problems that need more registers for each node get whole
 * subgroups, which have half as many nodes for each item: policy iteration, barriers, emulated double precision, and
 * dividends where the matrix changes in every step. So do volatilities that are evaluated in each step, because their
 * cost is not in the scans.
 */
export function mayShare({ grid, formula, surface }: Instance, precision: Precision): boolean {
  const { scheme, problem, time } = grid;
  const few = scheme !== "policy" && problem.barriers === undefined && precision !== "f32x2";
  return few && (time.homogeneous || time.dividends === 0) && formula === undefined && surface === undefined;
}
