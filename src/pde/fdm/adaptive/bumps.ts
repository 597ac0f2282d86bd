import type { Arena } from "../mesh/arena.ts";
import { instance } from "../execute/instance.ts";
import type { OneFactorProblem } from "../problem/one-factor.ts";
import {
  extrapolatedValue,
  type InstancePool,
  pointOf,
  type ProblemDifference,
  shiftedDifference,
} from "./extrapolation.ts";

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

/** The inputs that are bumped. */
const INPUTS = ["volatility", "rate"] as const;
type Input = (typeof INPUTS)[number];

/** Bumps across an exercise boundary are made smaller so often, and by a factor within these bounds. */
const TRIES = 2;
const SMALLER = { least: 0.5, most: 1 / 16 } as const;
/** The part of rho that the difference of the slopes on both sides may be, beyond which bumps are made smaller. */
const CURVED = 0.02;
/** The noise of values on one mesh as an exercise boundary moves between its nodes, relative to the spot. */
const NOISE = 3e-7;

/** The bumps of one input of a batch; arrays have one entry a problem. */
interface InputBumps {
  /** The pool index of the first bumped instance. */
  readonly first: Int32Array;
  readonly size: Float64Array;
  /** 1 where bumps of some size went across a bend. */
  readonly bent: Uint8Array;
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
  /** The pool index of the first instance of the base case. */
  readonly #base: Int32Array;
  readonly #inputs: Readonly<Record<Input, InputBumps>>;
  readonly #problems: ProblemDifference[] = [];
  readonly #tries: Uint8Array;

  /** `tellsErrors`: whether error estimates are wanted, too. */
  constructor(rows: number, pool: InstancePool, arena: Arena, tellsErrors: boolean) {
    this.#pool = pool;
    this.#arena = arena;
    this.#tellsErrors = tellsErrors;
    this.#exists = new Uint8Array(rows);
    this.#smooth = new Uint8Array(rows);
    this.#parts = new Uint8Array(rows);
    this.#tries = new Uint8Array(rows);
    this.#base = new Int32Array(rows);
    const input = (): InputBumps => ({
      first: new Int32Array(rows),
      size: new Float64Array(rows),
      bent: new Uint8Array(rows),
    });
    this.#inputs = { volatility: input(), rate: input() };
  }

  /** Adds the bumped instances of a problem to the pool; `base` is the pool index of its base case. */
  start(row: number, base: number, problems: ProblemDifference, { isSmooth, volatility, rate }: BumpsOnMeshes): void {
    const { count } = this.#pool;
    this.#smooth[row] = isSmooth ? 1 : 0;
    this.#parts[row] = problems.subtracted === undefined ? 1 : 2;
    this.#base[row] = base;
    this.#problems[row] = problems;
    try {
      this.#bump(row, "volatility", volatility);
      this.#bump(row, "rate", rate);
    } catch (error) {
      this.#pool.truncate(count);
      throw error;
    }
    this.#exists[row] = 1;
  }

  /**
   * Adds smaller bumps to the pool where those that are solved go across an exercise boundary or the value is curved
   * much, as near to one. The size balances what a bend leaves of a difference, ½·h·V″, and the noise of values.
   */
  refine(row: number, rounding: number): void {
    if (this.#exists[row] === 0 || this.#smooth[row] !== 0 || this.#tries[row] >= TRIES) return;
    this.#tries[row]++;
    const [spot] = this.#problems[row].problem.spots;
    for (const input of INPUTS) {
      const size = this.#inputs[input].size[row];
      const difference = this.#curvature(row, input, rounding);
      const isCurved =
        input === "rate" &&
        0.5 * difference > CURVED * Math.abs(this.#slope(row, input, rounding)) + (4 * NOISE * spot) / size;
      if (!isCurved && !this.#isAcross(row, input, rounding)) continue;
      this.#inputs[input].bent[row] = 1;
      const best = Math.sqrt((2 * NOISE * spot * size) / difference);
      if (best < SMALLER.least * size) this.#bump(row, input, Math.max(best, SMALLER.most * size));
    }
  }

  /**
   * Returns vega per unit of volatility; NaN for a problem without bumps. `rounding` is the relative rounding error of
   * values.
   */
  vega(row: number, rounding: number): number {
    return this.#slope(row, "volatility", rounding);
  }

  /** Returns rho per unit of the rate; NaN for a problem without bumps. */
  rho(row: number, rounding: number): number {
    return this.#slope(row, "rate", rounding);
  }

  /**
   * The error estimate of vega; NaN where there are no bumps or no estimates were requested. `estimate` is the error
   * estimate of the value, and `scale` a change of the volatility that changes the value substantially.
   */
  vegaError(row: number, estimate: number, scale: number, rounding: number): number {
    return this.#error(row, "volatility", { estimate, scale, rounding });
  }

  /**
   * The error estimate of rho, as `vegaError`; `scale` is a change of the rate that changes the value substantially.
   */
  rhoError(row: number, estimate: number, scale: number, rounding: number): number {
    return this.#error(row, "rate", { estimate, scale, rounding });
  }

  /** Adds the instances of one input's bumps, up and, for central differences or estimates, down. */
  #bump(row: number, input: Input, size: number): void {
    const { first, size: sizes } = this.#inputs[input];
    first[row] = this.#pool.count;
    sizes[row] = size;
    const isSmooth = this.#smooth[row] !== 0;
    for (const by of isSmooth && !this.#tellsErrors ? [size] : [size, -size]) {
      const shift = { volatility: 0, rate: 0, [input]: by };
      this.#add(this.#base[row], shiftedDifference(this.#problems[row], shift), isSmooth || this.#tellsErrors);
    }
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

  #slope(row: number, input: Input, rounding: number): number {
    if (this.#exists[row] === 0) return Number.NaN;
    const parts = this.#parts[row];
    const pool = this.#pool;
    const [first, size] = [this.#inputs[input].first[row], this.#inputs[input].size[row]];
    if (this.#smooth[row] !== 0) {
      const up = extrapolatedValue(pool, first, parts, rounding);
      return (up - extrapolatedValue(pool, this.#base[row], parts, rounding)) / size;
    }
    const fine = (start: number): number => this.#valueOf(row, start, this.#stride(row), rounding);
    return (fine(first) - fine(first + parts * this.#stride(row))) / (2 * size);
  }

  /** Returns h·V″, by which the slopes on both sides of the base case differ, on the fine mesh. */
  #curvature(row: number, input: Input, rounding: number): number {
    const { first, size } = this.#inputs[input];
    const stride = this.#stride(row);
    const at = (start: number, step: number): number => this.#valueOf(row, start, step, rounding);
    const down = first[row] + this.#parts[row] * stride;
    return Math.abs(at(first[row], stride) - 2 * at(this.#base[row], 2) + at(down, stride)) / size[row];
  }

  /** Tells whether the bumps of an input go across a bend: an exercise boundary, or a rate of 0 where exercise ends. */
  #isAcross(row: number, input: Input, rounding: number): boolean {
    const { first, size } = this.#inputs[input];
    const { american, exerciseTimes, rates } = this.#problems[row].problem;
    if (!american && exerciseTimes === undefined) return false;
    const down = first[row] + this.#parts[row] * this.#stride(row);
    const states = [this.#base[row], first[row], down].map((at) => pointOf(this.#pool, at, rounding).exercised);
    if (states.some((state) => state !== states[0])) return true;
    return input === "rate" && rates.values.some((value) => Math.abs(value) < size[row]);
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
   * difference is off by ½·h·V″, a central one by ⅙·h²·V‴, where V‴ is about V″ over the `scale` on which V changes,
   * and by up to ½·h·V″ near a bend, which the rates, unlike the volatility, move across the spot before they change
   * much else. Of the value's own error the part that a bump moves is divided by the bump, where it moves an exercise
   * boundary.
   */
  #error(
    row: number,
    input: Input,
    { estimate, scale, rounding }: Readonly<Record<"estimate" | "scale" | "rounding", number>>,
  ): number {
    if (this.#exists[row] === 0 || !this.#tellsErrors) return Number.NaN;
    const [first, size] = [this.#inputs[input].first[row], this.#inputs[input].size[row]];
    const at = (start: number): number => this.#valueOf(row, start, 2, rounding);
    const down = first + 2 * this.#parts[row];
    const [spot] = this.#problems[row].problem.spots;
    const slope = (of: number): number => (at(first + of) - at(down + of)) / (2 * size);
    const leading = Math.abs(slope(0) - slope(1)) / 3;
    const isSmooth = this.#smooth[row] !== 0;
    const isBent = isSmooth || input === "rate" || this.#inputs.volatility.bent[row] !== 0;
    const width = isBent ? 0.5 : (0.5 * size) / scale;
    const moved = isSmooth ? estimate / scale : estimate * Math.max(1 / scale, MOVED / size);
    return 2 * leading + width * this.#curvature(row, input, rounding) + moved + (4 * rounding * spot) / size;
  }
}

/** The part of a value's error estimate that moves with an exercise boundary. */
const MOVED = 0.3;
