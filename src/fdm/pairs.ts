import type { Precision } from "../kernel/index.ts";
import type { Lane } from "./lane.ts";
import { nodeAt } from "./mesh.ts";

/** Prices and values, in units of the spot, whose squares and products are far from the ends of the precision. */
const MOST = { f32: 1e12, f64: 1e100 } as const;

/**
 * Whether a lane may share a subgroup with another one (`HALF_SUBGROUP`). What a shuffle brings from the other one is multiplied by 0, which keeps out any number, but not what is
 * none: so no lane of a formula σ(S, t), whose values nobody has seen, and none of such prices that its squares are not numbers. Nor what is left to whole subgroups, as half as many
 * registers a node would not do: policy iteration, barriers, surfaces, emulated double.
 */
export function mayShare({ grid, formula, surface, variance }: Lane, precision: Precision): boolean {
  const { scheme, problem, mesh, table } = grid;
  if (formula !== undefined || surface !== undefined || precision === "f32x2") return false;
  if (scheme === "policy" || problem.barriers !== undefined) return false;
  const most = MOST[precision] * problem.spots[0];
  const isTame = (value: number): boolean => Math.abs(value) < most;
  // Nodes go one way, and so does a vanilla payoff, which is less than they are.
  const ends = isTame(nodeAt(mesh, 0)) && isTame(nodeAt(mesh, mesh.count - 1));
  if (table === undefined || !ends) return ends;
  const columns = [table.initial, table.obstacle ?? []];
  return columns.every((column) => column.every(isTame)) && (variance ?? []).every((value) => value < most * most);
}
