import type { Arena } from "../mesh/pinned-mesh.ts";
import { coarserInTime, type Grid, grids, gridsOn, type Resolution } from "../mesh/grid.ts";
import { instance, type SolutionPart } from "../execute/instance.ts";
import { hasLargeDividends } from "../mesh/pinned-domain.ts";
import { cellOf, nodeAt } from "../mesh/mesh.ts";
import { deviationOf, knockedOutBy, type OneFactorProblem } from "../problem/one-factor.ts";
import { premiumAtBoundary } from "../read/solution.ts";
import {
  Assessment,
  type Attempts,
  type BoundaryNoise,
  boundaryNoise,
  errorEstimate,
  noiseAt,
} from "./error-estimate.ts";
import { cellPeclet, type ErrorModel, nextResolution, type LeadingErrors } from "./error-model.ts";
import {
  difference,
  extrapolatedPoint,
  type InstancePool,
  pointOf,
  type ProblemDifference,
  type SpotReader,
} from "./extrapolation.ts";

/** The target accuracy of an adaptive solution. */
export interface AccuracyTarget {
  /** The target error of a value, as a fraction of the spot at which it is read. */
  readonly accuracy: number;
  /** The relative rounding error of the values. */
  readonly rounding: number;
}

/** The settings with which one problem of a batch is solved. */
export interface RowSettings {
  /** The resolution of the first attempt. */
  readonly size: Resolution;
  /** The largest number of nodes that a mesh may have. */
  readonly maxNodes: number;
  readonly errorModel: ErrorModel;
  /** The spots at which the solution is read: all of them ("both"), or only those other than today's ("points"). */
  readonly reading: "both" | "points";
  /** Returns the grids of a resolution that the problem shares with others; without it, it has its own. */
  readonly sharedGrids?: (size: Resolution) => SolvedGrids;
}

/** The grids on which a problem is solved: the fine one, the coarse one, and the fine mesh with coarse time steps. */
export interface SolvedGrids {
  readonly pair: readonly [Grid, Grid];
  /** Returns the third grid, which few problems need. */
  readonly between: () => Grid;
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
 * The objects that the problems of a batch share: their accuracy target, the pool and the memory of instances, and a
 * reader of solutions.
 */
export interface AdaptiveBatch {
  readonly goal: AccuracyTarget;
  readonly pool: InstancePool;
  readonly arena: Arena;
  readonly reader: SpotReader;
}

/**
 * The adaptive solution of one problem of a batch, at finer and finer resolutions until the estimated error at every
 * requested spot is small enough.
 *
 * At each resolution a problem is solved on a fine and a coarse grid; a difference of two problems takes such a pair
 * for each. Where errors in space and time may cancel or fall at different rates, the fine mesh is also solved with the
 * coarse time steps. The constructor adds the first instances to the pool. `advance` assesses them once they are
 * solved, and refines where needed. The error model is in design/accuracy.md.
 */
export class AdaptiveRow {
  /** The delta and gamma at today's spot. */
  delta = 0;
  gamma = 0;
  /** The amounts by which extrapolation changed them, which are their leading errors on the fine mesh. */
  deltaMove = 0;
  gammaMove = 0;
  readonly #batch: AdaptiveBatch;
  readonly #problems: ProblemDifference;
  readonly #spec: RowSettings;
  /** The number of problems: 2 for a difference. */
  readonly #parts: 1 | 2;
  readonly #spots: readonly Assessment[];
  readonly #attempts: Attempts;
  #noise: BoundaryNoise = "none";
  /** True while instances are to be solved. */
  #isPending = false;
  #tries = 0;
  /** The pool index of the first instance at the last resolution: pairs, then those with coarse time steps, if any. */
  #first = 0;
  #tellsTime = false;

  /** Adds the first instances to the pool. @throws errors of the payoff or volatility */
  constructor(batch: AdaptiveBatch, problems: ProblemDifference, spec: RowSettings) {
    this.#batch = batch;
    this.#problems = problems;
    this.#spec = spec;
    this.#parts = problems.subtracted === undefined ? 1 : 2;
    this.#spots = Array.from(problems.problem.spots, () => new Assessment());
    const { nodes, steps } = spec.size;
    this.#attempts = { now: { nodes, steps, driftDominated: false }, before: undefined };
    this.#attempt();
  }

  /**
   * Assesses the problem if its instances were to be solved, and adds those of a finer resolution if it needs one and
   * `mayRefine`.
   * @returns true where a finer resolution is needed but forbidden by `mayRefine` @throws as the constructor
   */
  advance(mayRefine: boolean): boolean {
    const next = this.assess();
    if (next === undefined || !mayRefine) return next !== undefined;
    this.refine(next);
    return false;
  }

  /** Assesses the problem if its instances were to be solved, and returns the resolution that it needs, if finer. */
  assess(): Resolution | undefined {
    if (!this.#isPending) return undefined;
    this.#isPending = false;
    this.#tries++;
    this.#assess();
    return this.#refined();
  }

  /** Adds the instances of a resolution that is finer than the last one. @throws as the constructor */
  refine(next: Resolution): void {
    const { now, before } = this.#attempts;
    this.#spots.forEach((spot, k) => {
      const isBeyond = Math.abs(spot.value - spot.valueBefore) > spot.estimateBefore;
      if (before !== undefined && isBeyond) spot.irregular = true;
      spot.estimateBefore = this.estimate(k);
    });
    for (const spot of this.#spots) spot.valueBefore = spot.value;
    this.#attempts.before = now;
    this.#attempts.now = { nodes: next.nodes, steps: next.steps, driftDominated: now.driftDominated };
    this.#attempt();
  }

  /** The current resolution, solved or not. */
  get size(): Resolution {
    return this.#attempts.now;
  }

  /** The pool index of the first instance at the current resolution. */
  get pairs(): number {
    return this.#first;
  }

  /** The value at spot k; k = 0 is today's. */
  value(k: number): number {
    return this.#spots[k].value;
  }

  /** Tells whether immediate exercise is optimal at today's spot. */
  get isExercised(): boolean {
    return this.#spots[0].exercised;
  }

  /** The width of the mesh cell that contains today's spot, as a price. */
  get cellWidth(): number {
    const { mesh, problem } = this.#batch.pool.instance(this.#first).grid;
    const cell = cellOf(mesh, problem.spots[0]);
    return nodeAt(mesh, cell + 1) - nodeAt(mesh, cell);
  }

  /** Tells whether drift dominates diffusion, so that the scheme is only of first order. */
  get isDriftDominated(): boolean {
    return this.#attempts.now.driftDominated;
  }

  /** The size of the value at spot k, or the sum of the sizes of both values whose difference it is. */
  magnitude(k: number): number {
    return this.#spots[k].magnitude;
  }

  /** The error estimate of the value at spot k, in the currency, without rounding errors. */
  estimate(k: number): number {
    return errorEstimate(this.#spots[k], this.#attempts, this.#spec.errorModel, this.#problems.problem.spots[k]);
  }

  /** Makes the instances at the current resolution. */
  #attempt(): void {
    const { pool, arena } = this.#batch;
    const { reading, sharedGrids } = this.#spec;
    const { problem, subtracted } = this.#problems;
    const first = pool.count;
    const size = this.#attempts.now;
    const shared = sharedGrids?.(size);
    const fine: Grid[] = [];
    const addPair = (one: OneFactorProblem, pair: readonly [Grid, Grid]): void => {
      addPairTo(this.#batch, pair, one, reading);
      fine.push(pair[0]);
    };
    try {
      if (subtracted === undefined) addPair(problem, shared?.pair ?? grids(problem, size, arena));
      else {
        // On one mesh, so that their errors cancel where the knock-in is far away.
        const both = grids(subtracted, size, arena);
        addPair(problem, gridsOn(problem, both[0].mesh, size, arena));
        addPair(subtracted, both);
      }
      this.#tellsTime = fine.some((grid) => tellsTime(grid.problem));
      if (this.#tellsTime) {
        const reads = reading === "points" || problem.spots.length > 1 ? reading : "window";
        for (const [part, grid] of fine.entries()) {
          const one = part === 0 ? problem : subtracted!;
          pool.add(instance(shared?.between() ?? coarserInTime(grid, size), one, arena, reads), 0);
        }
      }
      this.#noise = boundaryNoise({ problem, mesh: fine[0].mesh });
      this.#first = first;
      this.#isPending = true;
    } catch (error) {
      pool.truncate(first);
      throw error;
    }
  }

  #assess(): void {
    const { pool } = this.#batch;
    let drift = pool.cellPeclet(this.#first);
    if (this.#parts > 1) drift = Math.max(drift, pool.cellPeclet(this.#first + 2));
    this.#attempts.now.driftDominated = drift > 1;
    if (this.#spec.reading === "both") this.#assessToday(drift);
    if (this.#spots.length > 1) this.#assessSpots(drift);
  }

  /** Today's value, and what its solutions say of each other. */
  #assessToday(drift: number): void {
    const { pool, goal } = this.#batch;
    const [today] = this.#spots;
    const first = this.#first;
    const { problem } = pool.instance(first).grid;
    const [spot] = problem.spots;
    const isDifference = this.#parts > 1;
    const fine = pointOf(pool, first, goal.rounding);
    const coarse = pointOf(pool, first + 1, goal.rounding);
    const minusFine = isDifference ? pointOf(pool, first + 2, goal.rounding) : undefined;
    const minusCoarse = isDifference ? pointOf(pool, first + 3, goal.rounding) : undefined;
    const minus =
      minusFine &&
      minusCoarse &&
      extrapolatedPoint(pool.instance(first + 2).grid.problem, pool.cellPeclet(first + 2), minusFine, minusCoarse);
    const plus = extrapolatedPoint(problem, pool.cellPeclet(first), fine, coarse);
    const point = difference(plus, minus);
    today.value = point.value;
    today.magnitude = Math.abs(plus.value) + Math.abs(minus?.value ?? 0);
    this.delta = point.delta;
    this.gamma = point.gamma;
    const [onFine, onCoarse] = [difference(fine, minusFine), difference(coarse, minusCoarse)];
    this.deltaMove = Math.abs(onFine.delta - onCoarse.delta) / 3;
    this.gammaMove = Math.abs(onFine.gamma - onCoarse.gamma) / 3;
    if (knockedOutBy(problem, spot) !== undefined) {
      today.exercised = true;
      today.observeNothing();
      return;
    }
    today.exercised = point.exercised;
    const between = (part: number): number => pointOf(pool, first + 2 * this.#parts + part, goal.rounding).value;
    today.observe(spot, {
      fine: onFine.value,
      coarse: onCoarse.value,
      between: this.#tellsTime ? between(0) - (isDifference ? between(1) : 0) : undefined,
      noise: this.#noiseToday(problem, point.exercised),
      drift,
      nearby: this.#leadingNearby(spot * Math.min(deviationOf(problem), 1)),
    });
  }

  /**
   * A part of the largest premium over the payoff where no formula tells; none where the payoff is all that is left on
   * the nodes about the spot, for the boundary is not near.
   */
  #noiseToday(problem: OneFactorProblem, exercised: boolean): number {
    const { pool, goal } = this.#batch;
    const { grid } = pool.instance(this.#first);
    const premium = (): number => premiumAtBoundary(grid, pool.values(this.#first), goal.rounding);
    if (this.#noise === "unknown") return premium() / 8;
    return exercised && premium() === 0 ? 0 : noiseAt(this.#noise, problem, problem.spots[0]);
  }

  /** The change of the leading error about today's spot, in the currency, by its first two derivatives. */
  #leadingNearby(deviation: number): number {
    const distance = SURROUNDINGS * deviation;
    return distance * (this.deltaMove + 0.5 * distance * this.gammaMove);
  }

  /** Assesses the spots after today's. */
  #assessSpots(drift: number): void {
    const { reader } = this.#batch;
    const { problem } = this.#problems;
    const { values, magnitudes, fine, coarse, between } = reader.read(this.#first, this.#parts, this.#tellsTime);
    for (let k = 1; k < this.#spots.length; k++) {
      const at = this.#spots[k];
      at.value = values[k - 1];
      at.magnitude = magnitudes[k - 1];
      at.exercised = fine.exercised[k - 1] !== 0;
      // Exercised on both meshes: the boundary is not near.
      const isAway = at.exercised && coarse.exercised[k - 1] !== 0;
      at.observe(problem.spots[k], {
        fine: fine.values[k - 1],
        coarse: coarse.values[k - 1],
        between: between?.values[k - 1],
        noise: isAway ? 0 : noiseAt(this.#noise, problem, problem.spots[k]),
        drift,
      });
    }
  }

  /** The resolution to go on to, if the last one was not enough. */
  #refined(): Resolution | undefined {
    if (this.#tries >= MAX_TRIES) return undefined;
    const { accuracy } = this.#batch.goal;
    const { reading, errorModel, maxNodes } = this.#spec;
    const { spots } = this.#problems.problem;
    let excess = 0;
    let worst: LeadingErrors | undefined;
    const first = reading === "both" ? 0 : 1;
    for (let k = first; k < spots.length; k++) {
      const own = this.estimate(k) / (accuracy * spots[k]);
      // At the first spot what is not a number is too large.
      if (k === first ? own <= 1 : !(own > 1)) continue;
      worst = worst === undefined ? this.#spots[k] : worse(worst, this.#spots[k]);
      excess = Math.max(excess, own);
    }
    if (worst === undefined) return undefined;
    const size = this.#attempts.now;
    const next = nextResolution(size, worst, accuracy, errorModel, excess < NEARLY, maxNodes);
    return next.nodes === size.nodes && next.steps === size.steps ? undefined : next;
  }
}

/** Adds the fine and the coarse instance of a problem to the pool, on grids that may be those of another one. */
export function addPairTo(
  { pool, arena }: Pick<AdaptiveBatch, "pool" | "arena">,
  [fine, coarse]: readonly [Grid, Grid],
  problem: OneFactorProblem,
  reading: SolutionPart,
): void {
  const drift = cellPeclet(fine, problem);
  pool.add(instance(fine, problem, arena, reading), drift);
  pool.add(instance(coarse, problem, arena, reading), drift);
}

function worse(a: LeadingErrors | undefined, b: LeadingErrors): LeadingErrors {
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
