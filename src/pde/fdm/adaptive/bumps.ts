import {
  sensitivityBy,
  type DerivativeByDifferences,
  DifferencePlan,
  type SensitivityFormula,
  MOVES,
} from "../../../base/differences.ts";
import type { AdaptiveBatch } from "./adaptive-row.ts";
import { instance } from "../execute/instance.ts";
import type { OneFactorProblem } from "../problem/one-factor.ts";
import { extrapolatedValue, pointOf, type ProblemDifference, shiftedDifference } from "./extrapolation.ts";

/**
 * The bump sizes of volatility and rates for vega and rho. Both bumped problems are solved on the mesh of the base
 * case.
 */
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

/** What is measured of an input: its slope, the central one for error estimates, and V″. */
const SLOPE = { name: "slope", order: 1, moves: MOVES.CENTRAL } as const satisfies DerivativeByDifferences;
const FORWARD_SLOPE = { ...SLOPE, moves: MOVES.FORWARD } as const satisfies DerivativeByDifferences;
const CENTRAL_SLOPE = { ...SLOPE, name: "central" } as const satisfies DerivativeByDifferences;
const CURVATURE = { name: "curvature", order: 2, moves: MOVES.AROUND } as const satisfies DerivativeByDifferences;

/** The moves of bumped copies in units of a bump's size, and the formulas of what is measured in these units. */
interface Scheme {
  readonly moves: readonly number[];
  readonly formulas: ReadonlyMap<string, SensitivityFormula>;
}

function schemeOf(derivatives: readonly DerivativeByDifferences[]): Scheme {
  const plan = new DifferencePlan<number>();
  plan.addDerivatives(1, derivatives, (_by, move) => move);
  const { copies: moves, formulas } = plan.movedCopies();
  return { moves, formulas: new Map(formulas.map((formula) => [formula.name, formula])) };
}

// Made once, because a trade is bumped in less time than its scheme is made.
const CENTRAL = schemeOf([SLOPE, CURVATURE]);
const FORWARD = schemeOf([FORWARD_SLOPE]);
const FORWARD_WITH_ERRORS = schemeOf([FORWARD_SLOPE, CENTRAL_SLOPE, CURVATURE]);

/** The bumps of one input. */
interface InputBumps {
  readonly size: number;
  /** The pool index of the first instance of the base case, and of each copy. */
  readonly starts: readonly number[];
  /** True where bumps of some size went across a bend. */
  bent: boolean;
}

/** Vega and rho of a problem by bumping volatility and rates and solving again on the mesh of the base case. */
export class Bumps {
  readonly #batch: Pick<AdaptiveBatch, "pool" | "arena" | "goal">;
  readonly #tellsErrors: boolean;
  /** True for forward differences, false for central ones. */
  readonly #isSmooth: boolean;
  readonly #scheme: Scheme;
  readonly #parts: 1 | 2;
  /** The pool index of the first instance of the base case. */
  readonly #base: number;
  readonly #problems: ProblemDifference;
  /** The number of parts from one solution to the same of the next part: 2 where a coarse one stands between. */
  readonly #stride: 1 | 2;
  readonly #inputs: Record<Input, InputBumps>;
  #tries = 0;

  /**
   * Adds the bumped instances to the pool; `base` is the pool index of the base case, and `tellsErrors` says whether
   * error estimates are wanted, too.
   */
  constructor(
    batch: Pick<AdaptiveBatch, "pool" | "arena" | "goal">,
    base: number,
    problems: ProblemDifference,
    { isSmooth, volatility, rate }: BumpsOnMeshes,
    tellsErrors: boolean,
  ) {
    this.#batch = batch;
    this.#tellsErrors = tellsErrors;
    this.#isSmooth = isSmooth;
    this.#scheme = !isSmooth ? CENTRAL : tellsErrors ? FORWARD_WITH_ERRORS : FORWARD;
    this.#parts = problems.subtracted === undefined ? 1 : 2;
    this.#base = base;
    this.#problems = problems;
    this.#stride = isSmooth || tellsErrors ? 2 : 1;
    const { pool } = batch;
    const { count } = pool;
    try {
      this.#inputs = { volatility: this.#bumped("volatility", volatility), rate: this.#bumped("rate", rate) };
    } catch (error) {
      pool.truncate(count);
      throw error;
    }
  }

  /**
   * Adds smaller bumps to the pool where those that are solved go across an exercise boundary or the value is curved
   * much, as near to one. The size balances what a bend leaves of a difference, ½·h·V″, and the noise of values.
   */
  refine(): void {
    if (this.#isSmooth || this.#tries >= TRIES) return;
    this.#tries++;
    const [spot] = this.#problems.problem.spots;
    for (const input of INPUTS) {
      const { size } = this.#inputs[input];
      const difference = this.#curvature(input);
      const isCurved =
        input === "rate" && 0.5 * difference > CURVED * Math.abs(this.slope(input)) + (4 * NOISE * spot) / size;
      if (!isCurved && !this.#isAcross(input)) continue;
      this.#inputs[input].bent = true;
      const best = Math.sqrt((2 * NOISE * spot * size) / difference);
      if (best < SMALLER.least * size)
        this.#inputs[input] = { ...this.#bumped(input, Math.max(best, SMALLER.most * size)), bent: true };
    }
  }

  /** Returns vega per unit of volatility, or rho per unit of the rate. */
  slope(input: Input): number {
    if (!this.#isSmooth) return this.#measured(input, SLOPE);
    const { starts, size } = this.#inputs[input];
    const { pool, goal } = this.#batch;
    const valueOf = (v: number): number => extrapolatedValue(pool, starts[v], this.#parts, goal.rounding);
    return sensitivityBy(this.#scheme.formulas.get(SLOPE.name)!, valueOf) / size;
  }

  /**
   * The error estimate of a slope; NaN where no estimates were requested. `estimate` is the error estimate of the
   * value, and `scale` a change of the input that changes the value substantially.
   *
   * It is the slope's leading error in space and time, what the width of the difference leaves, and rounding. A forward
   * difference is off by ½·h·V″, a central one by ⅙·h²·V‴, where V‴ is about V″ over the `scale` on which V changes,
   * and by up to ½·h·V″ near a bend, which the rates, unlike the volatility, move across the spot before they change
   * much else. Of the value's own error the part that a bump moves is divided by the bump, where it moves an exercise
   * boundary.
   */
  error(input: Input, estimate: number, scale: number): number {
    if (!this.#tellsErrors) return Number.NaN;
    const { size } = this.#inputs[input];
    const [spot] = this.#problems.problem.spots;
    const central = this.#isSmooth ? CENTRAL_SLOPE : SLOPE;
    const leading = Math.abs(this.#measured(input, central) - this.#measured(input, central, 1)) / 3;
    const isBent = this.#isSmooth || input === "rate" || this.#inputs.volatility.bent;
    const width = isBent ? 0.5 : (0.5 * size) / scale;
    const moved = this.#isSmooth ? estimate / scale : estimate * Math.max(1 / scale, MOVED / size);
    return 2 * leading + width * this.#curvature(input) + moved + (4 * this.#batch.goal.rounding * spot) / size;
  }

  /** Adds the instances of one input's bumps. */
  #bumped(input: Input, size: number): InputBumps {
    const starts = [this.#base];
    for (const move of this.#scheme.moves) {
      const by = { volatility: 0, rate: 0, [input]: move * size };
      const { problem, subtracted } = shiftedDifference(this.#problems, by);
      starts.push(this.#batch.pool.count);
      // On the grids of the base case, for today's spot: pairs, or fine solutions alone.
      [problem, subtracted].forEach((one, part) => {
        if (one === undefined) return;
        for (let k = 0; k < this.#stride; k++) this.#addOn(this.#base + 2 * part + k, one);
      });
    }
    return { size, starts, bent: false };
  }

  #addOn(number: number, problem: OneFactorProblem): void {
    const { pool, arena } = this.#batch;
    const { grid } = pool.instance(number);
    pool.add(instance(grid, problem, arena, "window"), pool.cellPeclet(number));
  }

  /** Returns what is measured of an input, from the solutions on the fine mesh (0) or on the coarse one (1). */
  #measured(input: Input, { name, order }: DerivativeByDifferences, of: 0 | 1 = 0): number {
    const { starts, size } = this.#inputs[input];
    const valueOf = (v: number): number => this.#valueOf(starts[v] + of, v === 0 ? 2 : this.#stride);
    return sensitivityBy(this.#scheme.formulas.get(name)!, valueOf) / (order === 1 ? size : size * size);
  }

  /** Returns h·V″, by which the slopes on both sides of the base case differ, on the fine mesh. */
  #curvature(input: Input): number {
    return this.#inputs[input].size * Math.abs(this.#measured(input, CURVATURE));
  }

  /** Tells whether the bumps of an input go across a bend: an exercise boundary, or a rate of 0 where exercise ends. */
  #isAcross(input: Input): boolean {
    const { starts, size } = this.#inputs[input];
    const { american, exerciseTimes, rates } = this.#problems.problem;
    if (!american && exerciseTimes === undefined) return false;
    const { pool, goal } = this.#batch;
    const states = starts.map((at) => pointOf(pool, at, goal.rounding).exercised);
    if (states.some((state) => state !== states[0])) return true;
    return input === "rate" && rates.values.some((value) => Math.abs(value) < size);
  }

  /** The value of a difference whose parts' solutions are number `start` and, if there are two, `stride` after it. */
  #valueOf(start: number, stride: number): number {
    const { pool, goal } = this.#batch;
    const { value } = pointOf(pool, start, goal.rounding);
    return this.#parts === 1 ? value : value - pointOf(pool, start + stride, goal.rounding).value;
  }
}

/** The part of a value's error estimate that moves with an exercise boundary. */
const MOVED = 0.3;
