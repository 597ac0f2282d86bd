import { isKnockedIn } from "../problem/barriers.ts";
import { stencil, WINDOW } from "./interpolation.ts";
import type { Grid, Stencil } from "../mesh/grid.ts";
import { windowOf } from "./window.ts";
import { isExercisableNow } from "../problem/barriers.ts";
import { cellOf, nodeAt } from "../mesh/mesh.ts";

/** The values read of an instance's solution, in the currency. */
export interface InstanceValues {
  /**
   * The values at the six nodes about today's spot; empty if not requested, and meaningless where there are no such
   * nodes. Where the device made the mesh, the six nodes follow, as rounded by the device.
   */
  readonly window: readonly number[];
  /**
   * Writes the values at the problem's spots after the first into `column`; infinite where immediate exercise is
   * optimal. Numbers that are returned one at a time would be allocated.
   */
  spots(column: Float64Array): void;
}

/** The value, delta and gamma of a solution at one spot. */
export interface PointValue {
  readonly value: number;
  readonly delta: number;
  readonly gamma: number;
  /** True where immediate exercise is optimal, so that the value is the payoff. */
  readonly exercised: boolean;
}

/** Reads an instance's solution at today's spot; `rounding` is the relative rounding error of its values. */
export function pointValue(grid: Grid, { window }: InstanceValues, rounding: number): PointValue {
  const { problem } = grid;
  const [spot] = problem.spots;
  const today = windowOf(grid);
  const { first } = today;
  if (first === undefined || (problem.american && onObstacle(grid, window, first, rounding * spot)))
    return exercisedNow(grid);
  const weights = (today.stencil ??= stencilOf(grid, window, first));
  let [value, delta, gamma] = [0, 0, 0];
  for (let k = 0; k < WINDOW; k++) {
    const v = window[k];
    value += weights.value[k] * v;
    delta += weights.delta[k] * v;
    gamma += weights.gamma[k] * v;
  }
  if (isExercisableNow(problem, spot)) {
    const paid = problem.payoff.exercised(spot);
    if (!problem.american && paid > 0 && paid >= value) return exercisedNow(grid);
    value = Math.max(value, paid);
  }
  return { value, delta, gamma, exercised: false };
}

/**
 * Writes the values at the requested spots after the first into `column`. Where immediate exercise is optimal, the
 * device's result is infinite and the written value is the payoff. `paid` is the exercise payoff at each spot, −∞ where
 * exercise is not allowed.
 */
export function spotValues({ problem }: Grid, values: InstanceValues, paid: Float64Array, column: Float64Array): void {
  values.spots(column);
  for (let k = 0; k < column.length; k++) {
    const isExercised = !problem.american && paid[k] > 0 && paid[k] >= column[k];
    column[k] = isExercised ? Number.POSITIVE_INFINITY : Math.max(column[k], paid[k]);
  }
}

/** The stencil on a window's nodes: those that the device made, rounded as it did, else the mesh's. */
function stencilOf({ problem, mesh }: Grid, window: InstanceValues["window"], first: number): Stencil {
  const spot = problem.spots[0];
  if (window.length > WINDOW) return stencil(window, WINDOW, spot);
  if ("nodes" in mesh) return stencil(mesh.nodes, first, spot);
  return stencil(
    [0, 1, 2, 3, 4, 5].map((k) => nodeAt(mesh, first + k)),
    0,
    spot,
  );
}

function nodeOf({ mesh }: Grid, window: InstanceValues["window"], first: number, k: number): number {
  return window.length > WINDOW ? window[WINDOW + k] : nodeAt(mesh, first + k);
}

/** Tells whether the two nodes about the spot, and a payoff worth something there, say that exercise is optimal. */
function onObstacle(grid: Grid, window: InstanceValues["window"], first: number, tolerance: number): boolean {
  const { spots } = grid.problem;
  if (!isKnockedIn(grid.problem, spots[0])) return false;
  // At the end of live nodes, and beside a kink, the spot need not be in the middle of its window.
  const below = cellOf(grid.mesh, spots[0]) - first;
  for (let k = below; k <= below + 1; k++) {
    const payoff = grid.problem.payoff.exercised(nodeOf(grid, window, first, k));
    if (!(payoff > 0 && window[k] <= payoff + tolerance)) return false;
  }
  return true;
}

/**
 * The largest excess of the value over the payoff at the six nodes about today's spot, if the exercise boundary lies
 * among them. Otherwise it is 0, also where the payoff jumps: a boundary at a jump is on a node, and the payoff beyond
 * it is no lower bound.
 */
export function premiumAtBoundary(grid: Grid, { window }: InstanceValues, rounding: number): number {
  const { first } = windowOf(grid);
  const { american, payoff, spots } = grid.problem;
  if (first === undefined || !american || payoff.jumps || !isKnockedIn(grid.problem, spots[0])) return 0;
  let [min, max] = [Number.POSITIVE_INFINITY, 0];
  for (let k = 0; k < WINDOW; k++) {
    const premium = window[k] - grid.problem.payoff.exercised(nodeOf(grid, window, first, k));
    min = Math.min(min, premium);
    max = Math.max(max, premium);
  }
  return min <= rounding * spots[0] ? max : 0;
}

function exercisedNow({ problem }: Grid): PointValue {
  const { payoff } = problem;
  const [spot] = problem.spots;
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
