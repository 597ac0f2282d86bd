import type { Grid, Stencil, TodaysWindow } from "../mesh/grid.ts";
import { cellOf, firstNodeFrom, isBeyond, type Mesh, nodeAt, nodePositionOf } from "../mesh/mesh.ts";
import {
  aliveBetween,
  dormantBetween,
  hasAnyBarrier,
  isExercisableNow,
  isKnockedIn,
  knockedOutBy,
  type OneFactorProblem,
} from "../problem/one-factor.ts";

/**
 * The number of nodes from which a solution is interpolated. The polynomial of degree 5 through the six nodes about the
 * spot gives the value and two derivatives as weighted sums, with errors of O(h⁶), O(h⁵) and O(h⁴) where the solution
 * is smooth. The device reads values in the same way (`execute/option/values.ts`).
 */
export const WINDOW = 6;

/** Returns the interpolation weights at a spot of the six `nodes` from index `first` on. */
export function stencil(nodes: ArrayLike<number>, first: number, spot: number): Stencil {
  // Plain arrays: of this length they are much cheaper to make than typed ones.
  const value = [0, 0, 0, 0, 0, 0];
  const delta = [0, 0, 0, 0, 0, 0];
  const gamma = [0, 0, 0, 0, 0, 0];
  for (let k = 0; k < WINDOW; k++) {
    // p = Π (S − xⱼ)/(xₖ − xⱼ) over j ≠ k, with p′ and p″ by the product rule, one factor at a time.
    let p = 1;
    let p1 = 0;
    let p2 = 0;
    for (let j = 0; j < WINDOW; j++) {
      if (j === k) continue;
      const scale = 1 / (nodes[first + k] - nodes[first + j]);
      const factor = (spot - nodes[first + j]) * scale;
      p2 = p2 * factor + 2 * p1 * scale;
      p1 = p1 * factor + p * scale;
      p *= factor;
    }
    value[k] = p;
    delta[k] = p1;
    gamma[k] = p2;
  }
  return { value, delta, gamma };
}

/**
 * Returns the index of the first of the six nodes that have the spot in their middle interval, as far as the ends of
 * the mesh, or of its live nodes, allow.
 */
export function windowStart(
  mesh: Mesh,
  spot: number,
  lowest = 0,
  highest = mesh.count - 1,
  cell = cellOf(mesh, spot),
): number {
  const first = Math.min(Math.max(cell - 2, lowest), highest + 1 - WINDOW);
  return Math.min(Math.max(first, 0), mesh.count - WINDOW);
}

/** Returns the nodes from which the value at today's spot is interpolated. */
export function windowOf(grid: Grid): TodaysWindow {
  return (grid.today ??= findWindow(grid));
}

function findWindow(grid: Grid): TodaysWindow {
  const { problem, mesh } = grid;
  const cell = todaysCell(grid);
  if (cell === undefined) return { cell, first: undefined, stencil: undefined };
  const spot = problem.spots[0];
  const isBent = hasAnyBarrier(problem) || bendsInside(problem);
  const [lowest, highest] = isBent ? readableFrom(grid)(spot) : [0, mesh.count - 1];
  return { cell, first: windowStart(mesh, spot, lowest, highest, cell), stencil: undefined };
}

/**
 * Node i of a mesh of every second node is node 2i of the finer one, to the bit: where the spot is need be found but
 * once.
 */
function todaysCell({ problem, mesh, finer }: Grid): number | undefined {
  if (finer !== undefined) {
    const { cell } = windowOf(finer);
    return cell === undefined ? undefined : cell >> 1;
  }
  const spot = problem.spots[0];
  const place = nodePositionOf(mesh, spot);
  if (isBeyond(mesh, spot, place) || knockedOutBy(problem, spot) !== undefined) return undefined;
  return cellOf(mesh, spot, place);
}

/**
 * Returns the function that computes the first and the last node from which the value at a spot may be interpolated:
 * only live nodes where a barrier is monitored today, and none beyond a kink of the solution.
 */
export function readableFrom({ problem, mesh, time: { dates } }: Grid): (spot: number) => readonly [number, number] {
  const all = [0, mesh.count - 1] as const;
  if (!hasAnyBarrier(problem)) return (spot) => betweenKinks(problem, mesh, spot, all);
  const between = ({ down, up }: ReturnType<typeof dormantBetween>): readonly [number, number] => [
    down === undefined ? all[0] : firstNodeFrom(mesh, down.level),
    up === undefined ? all[1] : firstNodeFrom(mesh, up.level),
  ];
  const alive = between(aliveBetween(problem, 0, dates[1]));
  const dormant = problem.knockIns === undefined ? alive : between(dormantBetween(problem, 0, dates[1]));
  return (spot) => (isKnockedIn(problem, spot) ? betweenKinks(problem, mesh, spot, alive) : dormant);
}

/**
 * The nodes, of those that are alive, that a spot may be read from. What is exercised up to a kink bends the solution
 * there (a cap, a jump): none beyond the kinks
 * beside the spot, if that leaves enough of them.
 */
function betweenKinks(
  problem: OneFactorProblem,
  mesh: Mesh,
  spot: number,
  alive: readonly [number, number],
): readonly [number, number] {
  if (!bendsInside(problem)) return alive;
  const { payoff } = problem;
  const below = payoff.kinks.findLast((kink) => kink < spot);
  const above = payoff.kinks.find((kink) => kink > spot);
  const lowest = below === undefined ? alive[0] : Math.max(firstNodeFrom(mesh, below), alive[0]);
  const highest = above === undefined ? alive[1] : Math.min(firstNodeFrom(mesh, above), alive[1]);
  return highest + 1 - lowest < WINDOW || payoff.kinks.includes(spot) ? alive : [lowest, highest];
}

/** Tells whether early exercise ends at kinks of the payoff, of a mesh that ascends. */
const bendsInside = ({ american, payoff, barriers, knockIns }: OneFactorProblem): boolean =>
  american &&
  (payoff.exerciseSide === "unknown" || (payoff.jumps && (barriers !== undefined || knockIns !== undefined)));

/** The values that are read from an instance's solution, in the currency. */
export interface InstanceValues {
  /**
   * The values at the six nodes about today's spot; empty if not requested, and meaningless where there are no such
   * nodes. Where the device made the mesh, the six nodes follow, as rounded by the device.
   */
  readonly window: readonly number[];
  /**
   * Returns the derivative of the value at today's spot by input k of the scheme (`weighedInputs`); only for an
   * instance that was differentiated.
   */
  derivative(k: number): number;
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
 * Returns the largest excess of the value over the payoff at the six nodes about today's spot, if the exercise boundary
 * lies among them. Otherwise it is 0. It is 0 also where the payoff jumps, because a boundary at a jump is on a node,
 * and the payoff beyond it is no lower bound.
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
