import { type Device, isGpu } from "../device/index.ts";
import type { Precision } from "../kernel/index.ts";
import type { OneFactorProblem } from "./problem.ts";
import { SUBGROUP, type Team, teamWords, WORKGROUP } from "./solver/index.ts";

/** How a launch is shared out: one work item an option, one subgroup an option, or one workgroup an option. */
export type Split = "item" | "subgroup" | "workgroup";

export type TeamSplit = Exclude<Split, "item">;

export const teams: Readonly<Record<TeamSplit, Team>> = { subgroup: SUBGROUP, workgroup: WORKGROUP };

/** Node capacities of the teams: 2, 3, 5 and 9 nodes an item of a workgroup; 3, 6, 9 and 17 of a subgroup. */
const CAPACITIES: Readonly<Record<TeamSplit, readonly number[]>> = {
  subgroup: [96, 192, 288, 544],
  workgroup: [128, 192, 320, 576],
};

/** The capacity that a lane's kernel gets in a split among teams; undefined where the device cannot, or has no room for it. */
export function teamCapacity(
  { limits }: Device,
  precision: Precision,
  nodes: number,
  split: TeamSplit,
): number | undefined {
  const bytes = precision === "f32" ? 4 : 8;
  const team = teams[split];
  if (limits.maxGroupSize < team.items || (team.shuffles && limits.subgroupSize !== team.items)) return undefined;
  return CAPACITIES[split].find((size) => size >= nodes && teamWords(team, size) * bytes <= limits.maxWorkgroupBytes);
}

/**
 * The splits of a device from best to worst.
 *
 * A CPU is full with a few hundred options, one a SIMD lane: one item an option, always. So is a software adapter, to which a barrier is
 * 64 changes of thread: SwiftShader takes 5 to 100 times as long for the workgroup split.
 *
 * On a GPU a team keeps its option in registers for the whole time loop, where an item's private arrays are in memory off the chip
 * (design/splits.md).
 */
export function preferredSplits(device: Device): readonly Split[] {
  return isGpu(device) ? ["subgroup", "workgroup", "item"] : ["item"];
}

/**
 * Whether a problem is for one item an option: teams have one value a lane, none that waits for a knock-in, and no half cells where a dividend takes early
 * exercise to a barrier (`averageAtCrossing`).
 */
export function needsItems({ knockIns, american, barriers, dividends }: OneFactorProblem): boolean {
  return knockIns !== undefined || (american && barriers !== undefined && dividends.length > 0);
}
