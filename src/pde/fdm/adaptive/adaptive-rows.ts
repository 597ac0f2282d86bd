import type { Arena } from "../mesh/arena.ts";
import { coarserInTime, grids, gridsOn, type Resolution } from "../execute/grid.ts";
import type { Grid } from "../mesh/grid.ts";
import { instance, type Instance, type Reading } from "../execute/instance.ts";
import { hasLargeDividends } from "../mesh/dividend-domain.ts";
import { cellPeclet } from "../mesh/drift.ts";
import { cellOf, nodeAt } from "../mesh/mesh.ts";
import { deviationOf, knockedOutBy, type OneFactorProblem } from "../problem/one-factor.ts";
import { premiumAtBoundary } from "../read/solution.ts";
import { Assessments, BoundaryNoise, errorEstimate } from "./error-estimate.ts";
import { type ErrorModel, nextResolution, type Observed } from "./error-model.ts";
import {
  difference,
  extrapolatedPoint,
  type InstancePool,
  pointOf,
  type ProblemDifference,
  SpotReader,
  type SpotReading,
} from "./extrapolation.ts";

/** The target accuracy of an adaptive solution. */
export interface Goal {
  /** The target error of a value, as a fraction of the spot at which it is read. */
  readonly accuracy: number;
  /** The relative rounding error of the values. */
  readonly rounding: number;
}

/** The settings with which one problem of a batch is solved. */
export interface RowSpec {
  /** The resolution of the first attempt. */
  readonly size: Resolution;
  /** The largest number of nodes that a mesh may have. */
  readonly maxNodes: number;
  readonly errorModel: ErrorModel;
  /** The spots at which the solution is read: all of them ("both"), or only those after today's ("points"). */
  readonly reading: "both" | "points";
}

/**
 * The distance from the spot, in its standard deviations, within which the leading error counts with its largest size.
 * The leading error changes its sign between kinks and barriers, where what extrapolation leaves does not vanish.
 */
const SURROUNDINGS = 0.7;
/** Resolutions that are tried: the first, the one it predicts, and one more where that prediction was wrong. */
const MAX_TRIES = 3;
/** The multiple of the accuracy below which √2 times finer will do: errors fall as h² at least. */
const NEARLY = 2.2;

/**
 * The adaptive solver of a batch: each problem is solved at finer and finer resolutions until the estimated error at
 * every requested spot is small enough. All arrays have one entry a problem, and `row` is a problem's index in them.
 *
 * At each resolution a problem is solved on a fine and a coarse grid; a difference of two problems takes such a pair
 * for each. Where errors in space and time may cancel or fall at different rates, the fine mesh is also solved with the
 * coarse time steps. `start` adds the instances of a problem to the pool. `advance` assesses them once they are solved,
 * and refines where needed. The error model is in design/accuracy.md.
 */
export class AdaptiveRows {
  readonly #assessments: Assessments;
  /** The delta at today's spot of each problem. */
  readonly delta: Float64Array;
  /** The gamma at today's spot of each problem. */
  readonly gamma: Float64Array;
  /** The amounts by which extrapolation changed each delta, which are the leading errors of delta on the fine mesh. */
  readonly deltaMove: Float64Array;
  /** The amounts by which extrapolation changed each gamma. */
  readonly gammaMove: Float64Array;
  readonly #goal: Goal;
  readonly #pool: InstancePool;
  readonly #arena: Arena;
  readonly #spots: SpotReader;
  readonly #noise: BoundaryNoise;
  readonly #problems: ProblemDifference[] = [];
  readonly #models: ErrorModel[] = [];
  readonly #maxNodes: Int32Array;
  /** 1 for a row that is read at today's spot, too. */
  readonly #readsToday: Uint8Array;
  /** 1 while instances of a row are to be solved. */
  readonly #pending: Uint8Array;
  readonly #tries: Uint8Array;
  /** The number of the row's first instance at its last resolution: pairs, then those with coarse time steps. */
  readonly #first: Int32Array;
  /** 1 where there are some of those. */
  readonly #tellsTime: Uint8Array;

  constructor(rows: number, spots: number, goal: Goal, pool: InstancePool, arena: Arena) {
    this.#assessments = new Assessments(rows, spots);
    this.delta = new Float64Array(rows);
    this.gamma = new Float64Array(rows);
    this.deltaMove = new Float64Array(rows);
    this.gammaMove = new Float64Array(rows);
    this.#goal = goal;
    this.#pool = pool;
    this.#arena = arena;
    this.#spots = new SpotReader(pool, spots - 1);
    this.#noise = new BoundaryNoise(rows);
    this.#maxNodes = new Int32Array(rows);
    this.#readsToday = new Uint8Array(rows);
    this.#pending = new Uint8Array(rows);
    this.#tries = new Uint8Array(rows);
    this.#first = new Int32Array(rows);
    this.#tellsTime = new Uint8Array(rows);
  }

  /** Adds the first instances of a problem to the pool. @throws errors of its payoff or volatility */
  start(row: number, problems: ProblemDifference, { size, maxNodes, errorModel, reading }: RowSpec): void {
    this.#problems[row] = problems;
    this.#models[row] = errorModel;
    this.#maxNodes[row] = maxNodes;
    this.#readsToday[row] = reading === "both" ? 1 : 0;
    this.#assessments.nodes[row] = size.nodes;
    this.#assessments.steps[row] = size.steps;
    this.#attempt(row);
  }

  /** Tells whether a problem has unsolved instances. */
  isPending(row: number): boolean {
    return this.#pending[row] !== 0;
  }

  /**
   * Assesses a problem whose instances are solved, and adds those of a finer resolution if it needs one and
   * `mayRefine`.
   * @returns true where a finer resolution is needed but forbidden by `mayRefine` @throws as `start`
   */
  advance(row: number, mayRefine: boolean): boolean {
    if (!this.isPending(row)) return false;
    this.#pending[row] = 0;
    this.#tries[row]++;
    this.#assess(row);
    const next = this.#refined(row);
    if (next === undefined || !mayRefine) return next !== undefined;
    this.#assessments.refine(row, next.nodes, next.steps, (k) => this.estimate(row, k));
    this.#attempt(row);
    return false;
  }

  /** The current resolution of a problem, solved or not. */
  sizeOf(row: number): Resolution {
    return { nodes: this.#assessments.nodes[row], steps: this.#assessments.steps[row] };
  }

  /** The pool index of the first instance of a problem at its current resolution. */
  pairsOf(row: number): number {
    return this.#first[row];
  }

  /** The value of a problem at its spot k; k = 0 is today's. */
  value(row: number, k: number): number {
    return this.#assessments.value[row * this.#assessments.spots + k];
  }

  /** Tells whether immediate exercise is optimal at today's spot. */
  isExercised(row: number): boolean {
    return this.#assessments.exercised[row * this.#assessments.spots] !== 0;
  }

  /** The width of the mesh cell that contains today's spot, as a price. */
  cellWidth(row: number): number {
    const { mesh, problem } = this.#pool.instance(this.#first[row]).grid;
    const cell = cellOf(mesh, problem.spots[0]);
    return nodeAt(mesh, cell + 1) - nodeAt(mesh, cell);
  }

  /** Tells whether drift dominates diffusion in a problem, so that the scheme is only of first order. */
  isDriftDominated(row: number): boolean {
    return this.#assessments.driftDominated[row] !== 0;
  }

  /** The size of a problem's value at its spot k, or the sum of the sizes of both values whose difference it is. */
  magnitude(row: number, k: number): number {
    return this.#assessments.magnitude[row * this.#assessments.spots + k];
  }

  /** The error estimate of a problem's value at its spot k, in the currency, without rounding errors. */
  estimate(row: number, k: number): number {
    const slot = row * this.#assessments.spots + k;
    return errorEstimate(this.#assessments, row, slot, this.#models[row], this.#problems[row].problem.spots[k]);
  }

  /** Makes the instances of a row at its resolution. */
  #attempt(row: number): void {
    const pool = this.#pool;
    const first = pool.count;
    const reading = this.#readsToday[row] !== 0 ? "both" : "points";
    const { problem, subtracted } = this.#problems[row];
    const size = this.sizeOf(row);
    const fine: Grid[] = [];
    const addPair = (one: OneFactorProblem, [own, coarse]: readonly [Grid, Grid]): void => {
      const drift = cellPeclet(own);
      pool.add(this.#instance(own, one, reading), drift);
      pool.add(this.#instance(coarse, one, reading), drift);
      fine.push(own);
    };
    try {
      if (subtracted === undefined) addPair(problem, grids(problem, size, this.#arena));
      else {
        // On one mesh, so that their errors cancel where the knock-in is far away.
        const both = grids(subtracted, size, this.#arena);
        addPair(problem, gridsOn(problem, both[0].mesh, size, this.#arena));
        addPair(subtracted, both);
      }
      const tells = fine.some((grid) => tellsTime(grid.problem));
      if (tells) {
        const reads = reading === "points" || problem.spots.length > 1 ? reading : "window";
        for (const grid of fine) pool.add(this.#instance(coarserInTime(grid, size), grid.problem, reads), 0);
      }
      this.#noise.set(row, fine[0]);
      this.#tellsTime[row] = tells ? 1 : 0;
      this.#first[row] = first;
      this.#pending[row] = 1;
    } catch (error) {
      pool.truncate(first);
      throw error;
    }
  }

  #instance(grid: Grid, problem: OneFactorProblem, reading: Reading): Instance {
    return instance(grid, problem, this.#arena, reading);
  }

  #parts(row: number): number {
    return this.#problems[row].subtracted === undefined ? 1 : 2;
  }

  #assess(row: number): void {
    const assessments = this.#assessments;
    const first = this.#first[row];
    let drift = this.#pool.drift(first);
    if (this.#parts(row) > 1) drift = Math.max(drift, this.#pool.drift(first + 2));
    assessments.driftDominated[row] = drift > 1 ? 1 : 0;
    if (this.#readsToday[row] !== 0) this.#assessToday(row, drift);
    if (assessments.spots > 1) this.#assessSpots(row, drift);
  }

  /** Today's value, and what its solutions say of each other. */
  #assessToday(row: number, drift: number): void {
    const assessments = this.#assessments;
    const pool = this.#pool;
    const { rounding } = this.#goal;
    const slot = row * assessments.spots;
    const first = this.#first[row];
    const parts = this.#parts(row);
    const { problem } = pool.instance(first).grid;
    const [spot] = problem.spots;
    const fine = pointOf(pool, first, rounding);
    const coarse = pointOf(pool, first + 1, rounding);
    const minusFine = parts > 1 ? pointOf(pool, first + 2, rounding) : undefined;
    const minusCoarse = parts > 1 ? pointOf(pool, first + 3, rounding) : undefined;
    const minus =
      minusFine &&
      minusCoarse &&
      extrapolatedPoint(pool.instance(first + 2).grid.problem, pool.drift(first + 2), minusFine, minusCoarse);
    const plus = extrapolatedPoint(problem, pool.drift(first), fine, coarse);
    const point = difference(plus, minus);
    assessments.value[slot] = point.value;
    assessments.magnitude[slot] = Math.abs(plus.value) + Math.abs(minus?.value ?? 0);
    this.delta[row] = point.delta;
    this.gamma[row] = point.gamma;
    const [onFine, onCoarse] = [difference(fine, minusFine), difference(coarse, minusCoarse)];
    this.deltaMove[row] = Math.abs(onFine.delta - onCoarse.delta) / 3;
    this.gammaMove[row] = Math.abs(onFine.gamma - onCoarse.gamma) / 3;
    if (knockedOutBy(problem, spot) !== undefined) {
      assessments.exercised[slot] = 1;
      assessments.observeNothing(slot);
      return;
    }
    assessments.exercised[slot] = point.exercised ? 1 : 0;
    const hasBetween = this.#tellsTime[row] !== 0;
    const between = (part: number): number => pointOf(pool, first + 2 * parts + part, rounding).value;
    assessments.observe(slot, spot, {
      fine: onFine.value,
      coarse: onCoarse.value,
      between: hasBetween ? between(0) - (parts > 1 ? between(1) : 0) : undefined,
      noise: this.#noiseToday(row, problem, point.exercised),
      drift,
      nearby: this.#leadingNearby(row, spot * Math.min(deviationOf(problem), 1)),
    });
  }

  /**
   * A part of the largest premium over the payoff where no formula tells; none where the payoff is all that is left on
   * the nodes about the spot, for the boundary is not near.
   */
  #noiseToday(row: number, problem: OneFactorProblem, exercised: boolean): number {
    const first = this.#first[row];
    const { grid } = this.#pool.instance(first);
    const premium = (): number => premiumAtBoundary(grid, this.#pool.values(first), this.#goal.rounding);
    if (this.#noise.isUnknown(row)) return premium() / 8;
    return exercised && premium() === 0 ? 0 : this.#noise.at(row, problem, problem.spots[0]);
  }

  /** The change of the leading error about today's spot, in the currency, by its first two derivatives. */
  #leadingNearby(row: number, deviation: number): number {
    const distance = SURROUNDINGS * deviation;
    return distance * (this.deltaMove[row] + 0.5 * distance * this.gammaMove[row]);
  }

  /** Assesses the spots after today's. */
  #assessSpots(row: number, drift: number): void {
    const assessments = this.#assessments;
    const first = this.#first[row];
    const { problem } = this.#pool.instance(first).grid;
    const reading = this.#spots.read(first, this.#parts(row), this.#tellsTime[row] !== 0);
    for (let k = 1; k < assessments.spots; k++) {
      const slot = row * assessments.spots + k;
      assessments.value[slot] = reading.values[k - 1];
      assessments.magnitude[slot] = reading.magnitudes[k - 1];
      assessments.exercised[slot] = reading.fine.exercised[k - 1];
      assessments.observe(slot, problem.spots[k], this.#observedAt(row, problem, reading, k, drift));
    }
  }

  #observedAt(
    row: number,
    problem: OneFactorProblem,
    { fine, coarse, between }: SpotReading,
    k: number,
    drift: number,
  ): Parameters<Assessments["observe"]>[2] {
    // Exercised on both meshes: the boundary is not near.
    const isAway = fine.exercised[k - 1] !== 0 && coarse.exercised[k - 1] !== 0;
    return {
      fine: fine.values[k - 1],
      coarse: coarse.values[k - 1],
      between: between?.values[k - 1],
      noise: isAway ? 0 : this.#noise.at(row, problem, problem.spots[k]),
      drift,
    };
  }

  /** The resolution to go on to, if the last one was not enough. */
  #refined(row: number): Resolution | undefined {
    if (this.#tries[row] >= MAX_TRIES) return undefined;
    const { accuracy } = this.#goal;
    const { spots } = this.#problems[row].problem;
    const excessAt = (k: number): number => this.estimate(row, k) / (accuracy * spots[k]);
    const first = this.#readsToday[row] !== 0 ? 0 : 1;
    let excess = excessAt(first);
    // What is not a number is too large.
    let worst = excess <= 1 ? undefined : this.#observed(row, first);
    for (let k = first + 1; k < this.#assessments.spots; k++) {
      const own = excessAt(k);
      if (!(own > 1)) continue;
      worst = worse(worst, this.#observed(row, k));
      excess = Math.max(excess, own);
    }
    if (worst === undefined) return undefined;
    const size = this.sizeOf(row);
    const isNear = excess < NEARLY;
    const next = nextResolution(size, worst, accuracy, this.#models[row], isNear, this.#maxNodes[row]);
    return next.nodes === size.nodes && next.steps === size.steps ? undefined : next;
  }

  #observed(row: number, k: number): Observed {
    const { inSpace, inTime, total, noise, drift, spots } = this.#assessments;
    const slot = row * spots + k;
    return {
      inSpace: inSpace[slot],
      inTime: inTime[slot],
      total: total[slot],
      noise: noise[slot],
      drift: drift[slot],
    };
  }
}

function worse(a: Observed | undefined, b: Observed): Observed {
  if (a === undefined) return b;
  return {
    inSpace: Math.max(a.inSpace, b.inSpace),
    inTime: Math.max(a.inTime, b.inTime),
    total: Math.max(a.total, b.total),
    noise: Math.max(a.noise, b.noise),
    drift: Math.max(a.drift, b.drift),
  };
}

/** True where exercise is early, there are barriers, or dividends large enough to need many nodes and steps both. */
function tellsTime(problem: OneFactorProblem): boolean {
  const { american, exerciseTimes, barriers } = problem;
  return american || exerciseTimes !== undefined || barriers !== undefined || hasLargeDividends(problem);
}
