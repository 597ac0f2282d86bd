import { isKnockedIn } from "./barriers.ts";
import { stencil, valueThrough, WINDOW } from "./interpolation.ts";
import type { Grid } from "./lane.ts";
import { isExercisableNow } from "./problem.ts";
import type { LaneValues } from "./launch.ts";
import { cellOf, nodeAt } from "./mesh.ts";

/** The solution at one spot. */
export interface PointValue {
  readonly value: number;
  readonly delta: number;
  readonly gamma: number;
  /** Whether exercise is optimal at once: the value is then the payoff. */
  readonly exercised: boolean;
}

/**
 * Reads window `w` of a lane's values at the grid's w-th spot; `rounding` is the relative rounding of the values. `valueOnly`: without delta and gamma, which a ladder of
 * spots has no use for, at a third of the cost; the value is the same to the bit.
 */
export function pointValue(grid: Grid, values: LaneValues, w: number, rounding: number, valueOnly = false): PointValue {
  const { problem, windows } = grid;
  const first = windows[w];
  const spot = problem.spots[w];
  if (first === undefined || (problem.american && onObstacle(grid, values, w, first, rounding * problem.spots[0]))) {
    return exercisedNow(grid, w);
  }
  let [value, delta, gamma] = [0, Number.NaN, Number.NaN];
  if (valueOnly) value = valueThrough(nodesAt(grid, values, w, first), values, w * WINDOW, spot);
  else {
    const weights = (grid.stencils[w] ??= stencil(nodesAt(grid, values, w, first), 0, spot));
    delta = 0;
    gamma = 0;
    for (let k = 0; k < WINDOW; k++) {
      const v = values[w * WINDOW + k];
      value += weights.value[k] * v;
      delta += weights.delta[k] * v;
      gamma += weights.gamma[k] * v;
    }
  }
  if (isExercisableNow(problem, spot)) {
    const paid = problem.payoff.exercised(spot);
    if (!problem.american && paid > 0 && paid >= value) return exercisedNow(grid, w);
    value = Math.max(value, paid);
  }
  return { value, delta, gamma, exercised: false };
}

/** A window's nodes: those that the device made, rounded as it did, else the mesh's. */
function nodesAt(grid: Grid, values: LaneValues, w: number, first: number): number[] {
  const made = grid.windows.length * WINDOW;
  const nodes = [0, 0, 0, 0, 0, 0];
  for (let k = 0; k < WINDOW; k++) nodes[k] = nodeOf(grid, values, made, w, first, k);
  return nodes;
}

function nodeOf(grid: Grid, values: LaneValues, made: number, w: number, first: number, k: number): number {
  return values.length > made ? values[made + w * WINDOW + k] : nodeAt(grid.mesh, first + k);
}

/** Whether the two nodes about the spot, and a payoff worth something there, say that exercise is optimal. */
function onObstacle(grid: Grid, values: LaneValues, w: number, first: number, tolerance: number): boolean {
  const made = grid.windows.length * WINDOW;
  const { barriers, knockIns, spots } = grid.problem;
  if (!isKnockedIn(grid.problem, spots[w])) return false;
  // At the end of live nodes the spot need not be in the middle of its window.
  const below = barriers === undefined && knockIns === undefined ? 2 : cellOf(grid.mesh, spots[w]) - first;
  for (let k = below; k <= below + 1; k++) {
    const payoff = grid.problem.payoff.exercised(nodeOf(grid, values, made, w, first, k));
    if (!(payoff > 0 && values[w * WINDOW + k] <= payoff + tolerance)) return false;
  }
  return true;
}

/**
 * How much more than the payoff the nodes of a window are worth at most, where the exercise boundary is among them; else 0, and where the payoff jumps: a boundary at
 * the jump is on a node, and beyond it the payoff says nothing.
 */
export function premiumAtBoundary(grid: Grid, values: LaneValues, w: number, rounding: number): number {
  const first = grid.windows[w];
  const { american, payoff, spots } = grid.problem;
  if (first === undefined || !american || payoff.jumps || !isKnockedIn(grid.problem, spots[w])) return 0;
  const made = grid.windows.length * WINDOW;
  let [least, most] = [Number.POSITIVE_INFINITY, 0];
  for (let k = 0; k < WINDOW; k++) {
    const premium = values[w * WINDOW + k] - grid.problem.payoff.exercised(nodeOf(grid, values, made, w, first, k));
    least = Math.min(least, premium);
    most = Math.max(most, premium);
  }
  return least <= rounding * spots[0] ? most : 0;
}

function exercisedNow({ problem }: Grid, w: number): PointValue {
  const { payoff } = problem;
  const spot = problem.spots[w];
  const bump = 1e-5 * spot;
  const here = payoff.exercised(spot);
  const [below, above] = [here - payoff.exercised(spot - bump), payoff.exercised(spot + bump) - here];
  // Next to a jump the holder's side is the one that does not.
  const across = Math.abs(below) < Math.abs(above) ? 2 * below : 2 * above;
  return {
    value: here,
    delta: (payoff.jumps ? across : below + above) / (2 * bump),
    gamma: 0,
    exercised: true,
  };
}
