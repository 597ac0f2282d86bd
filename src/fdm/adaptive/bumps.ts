import type { Arena } from "../execute/arena.ts";
import { instance } from "../execute/instance.ts";
import type { OneFactorProblem } from "../problem/one-factor.ts";
import { extrapolatedValue, pointOf } from "./extrapolation.ts";
import type { InstancePool } from "./instance-pool.ts";
import { type ProblemDifference, shiftedDifference } from "./problem-difference.ts";

/** The bump sizes for vega and rho, which are computed on the mesh of the base case. */
export interface BumpsOnMeshes {
  /**
   * True where the value is a smooth function of volatility and rate. Forward differences of extrapolated values are
   * then taken, otherwise central differences of values on the fine mesh.
   */
  readonly isSmooth: boolean;
  /** The bump of the volatility, as a decimal per √year. */
  readonly volatility: number;
  /** The bump of the rates, as a decimal per year. */
  readonly rate: number;
}

/**
 * Vega and rho of a batch of problems by bumping volatility and rates and solving again on the mesh of the base case.
 * Arrays have one entry a problem, and `row` is a problem's index in them.
 */
export class Bumps {
  readonly #pool: InstancePool;
  readonly #arena: Arena;
  readonly #tellsErrors: boolean;
  /** 1 where there are some. */
  readonly #exists: Uint8Array;
  /** 1 for forward differences, 0 for central ones. */
  readonly #smooth: Uint8Array;
  readonly #parts: Uint8Array;
  /** The numbers of the first instance of the base case, and of the bumps: those of volatility, then those of rates. */
  readonly #base: Int32Array;
  readonly #first: Int32Array;
  /** The number of the first bump of rates, from the first. */
  readonly #ofRate: Int32Array;
  readonly #volatility: Float64Array;
  readonly #rate: Float64Array;

  /** `tellsErrors`: whether error estimates are wanted, too. */
  constructor(rows: number, pool: InstancePool, arena: Arena, tellsErrors: boolean) {
    this.#pool = pool;
    this.#arena = arena;
    this.#tellsErrors = tellsErrors;
    this.#ofRate = new Int32Array(rows);
    this.#exists = new Uint8Array(rows);
    this.#smooth = new Uint8Array(rows);
    this.#parts = new Uint8Array(rows);
    this.#base = new Int32Array(rows);
    this.#first = new Int32Array(rows);
    this.#volatility = new Float64Array(rows);
    this.#rate = new Float64Array(rows);
  }

  /** Adds the bumped instances of a problem to the pool; `base` is the pool index of its base case. */
  start(row: number, base: number, problems: ProblemDifference, { isSmooth, volatility, rate }: BumpsOnMeshes): void {
    const { subtracted } = problems;
    const parts = subtracted === undefined ? 1 : 2;
    const inPairs = isSmooth || this.#tellsErrors;
    const first = this.#pool.count;
    try {
      const signs = isSmooth && !this.#tellsErrors ? [1] : [1, -1];
      for (const sign of signs)
        this.#add(base, shiftedDifference(problems, { volatility: sign * volatility, rate: 0 }), inPairs);
      this.#ofRate[row] = this.#pool.count - first;
      for (const sign of signs)
        this.#add(base, shiftedDifference(problems, { volatility: 0, rate: sign * rate }), inPairs);
    } catch (error) {
      this.#pool.truncate(first);
      throw error;
    }
    this.#exists[row] = 1;
    this.#smooth[row] = isSmooth ? 1 : 0;
    this.#parts[row] = parts;
    this.#base[row] = base;
    this.#first[row] = first;
    this.#volatility[row] = volatility;
    this.#rate[row] = rate;
  }

  /**
   * Returns vega per unit of volatility; NaN for a problem without bumps. `rounding` is the relative rounding error of
   * values.
   */
  vega(row: number, rounding: number): number {
    return this.#slope(row, this.#first[row], this.#volatility[row], rounding);
  }

  /** Returns rho per unit of the rate; NaN for a problem without bumps. */
  rho(row: number, rounding: number): number {
    return this.#slope(row, this.#first[row] + this.#ofRate[row], this.#rate[row], rounding);
  }

  /**
   * The error estimate of vega; NaN where there are no bumps or no estimates were requested. `estimate` is the error
   * estimate of the value, and `scale` a change of the volatility that changes the value substantially.
   */
  vegaError(row: number, estimate: number, scale: number, rounding: number): number {
    return this.#error(row, this.#first[row], this.#volatility[row], { estimate, scale, rounding });
  }

  /**
   * The error estimate of rho, as `vegaError`; `scale` is a change of the rate that changes the value substantially.
   */
  rhoError(row: number, estimate: number, scale: number, rounding: number): number {
    return this.#error(row, this.#first[row] + this.#ofRate[row], this.#rate[row], { estimate, scale, rounding });
  }

  /** Shifted problems on the grids of the base case, for today's spot: pairs, or fine solutions alone. */
  #add(base: number, { problem, subtracted }: ProblemDifference, inPairs: boolean): void {
    [problem, subtracted].forEach((one, part) => {
      if (one === undefined) return;
      this.#addOn(base + 2 * part, one);
      if (inPairs) this.#addOn(base + 2 * part + 1, one);
    });
  }

  #addOn(number: number, problem: OneFactorProblem): void {
    const { grid } = this.#pool.instance(number);
    this.#pool.add(instance(grid, problem, this.#arena, "window"), this.#pool.drift(number));
  }

  #slope(row: number, first: number, size: number, rounding: number): number {
    if (this.#exists[row] === 0) return Number.NaN;
    const parts = this.#parts[row];
    const pool = this.#pool;
    if (this.#smooth[row] !== 0) {
      const up = extrapolatedValue(pool, first, parts, rounding);
      return (up - extrapolatedValue(pool, this.#base[row], parts, rounding)) / size;
    }
    const fine = (start: number): number => this.#valueOf(row, start, this.#stride(row), rounding);
    return (fine(first) - fine(first + parts * this.#stride(row))) / (2 * size);
  }

  /** The number of parts from one solution to the same of the next part: 2 where a coarse one stands between. */
  #stride(row: number): number {
    return this.#smooth[row] !== 0 || this.#tellsErrors ? 2 : 1;
  }

  /** The value of a difference whose parts' solutions are number `start` and, if there are two, `stride` after it. */
  #valueOf(row: number, start: number, stride: number, rounding: number): number {
    const { value } = pointOf(this.#pool, start, rounding);
    return this.#parts[row] === 1 ? value : value - pointOf(this.#pool, start + stride, rounding).value;
  }

  /**
   * The slope's leading error in space and time, what the width of the difference leaves, and rounding. A forward
   * difference is off by ½·h·V″, a central one by ⅙·h²·V‴, where V‴ is about V″ over the `scale` on which V changes.
   * Of the value's own error the part that a bump moves is divided by the bump, where it moves an exercise boundary.
   */
  #error(
    row: number,
    first: number,
    size: number,
    { estimate, scale, rounding }: Readonly<Record<"estimate" | "scale" | "rounding", number>>,
  ): number {
    if (this.#exists[row] === 0 || !this.#tellsErrors) return Number.NaN;
    const parts = this.#parts[row];
    const at = (start: number): number => this.#valueOf(row, start, 2, rounding);
    const down = first + 2 * parts;
    const base = this.#base[row];
    const [spot] = this.#pool.instance(base).grid.problem.spots;
    const slope = (of: number): number => (at(first + of) - at(down + of)) / (2 * size);
    const leading = Math.abs(slope(0) - slope(1)) / 3;
    const curvature = Math.abs(at(first) - 2 * at(base) + at(down)) / size;
    const isSmooth = this.#smooth[row] !== 0;
    const width = isSmooth ? 0.5 : (0.5 * size) / scale;
    const moved = isSmooth ? estimate / scale : estimate * Math.max(1 / scale, MOVED / size);
    return 2 * leading + width * curvature + moved + (4 * rounding * spot) / size;
  }
}

/** The part of a value's error estimate that moves with an exercise boundary. */
const MOVED = 0.3;
