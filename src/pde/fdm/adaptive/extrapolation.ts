import {
  isExercisableNow,
  knockedOutBy,
  type KnockOut,
  type OneFactorProblem,
  rebateValue,
  type Shift,
  shiftedProblem,
} from "../problem/one-factor.ts";
import type { BatchSolver } from "../execute/batch.ts";
import type { Instance } from "../execute/instance.ts";
import { type InstanceValues, type PointValue, pointValue, spotValues } from "../read/solution.ts";

/**
 * A value to compute: V(problem), or V(problem) − V(subtracted). By this in–out parity a European knock-in is the trade
 * without barriers less its knock-out. Both problems are solved on one mesh, so that their errors cancel where the
 * barrier is far away.
 */
export interface ProblemDifference {
  readonly problem: OneFactorProblem;
  readonly subtracted: OneFactorProblem | undefined;
}

/** Returns both problems of a difference with their volatility and rates shifted. */
export function shiftedDifference({ problem, subtracted }: ProblemDifference, shift: Shift): ProblemDifference {
  return { problem: shiftedProblem(problem, shift), subtracted: subtracted && shiftedProblem(subtracted, shift) };
}

/**
 * The instances of a batch in the order in which they are solved; they are referred to by index. The two solutions of
 * an extrapolation are neighbours: the fine one, then the one with every second node and half the time steps.
 */
export class InstancePool {
  readonly #instances: Instance[] = [];
  readonly #drift: number[] = [];
  readonly #values: InstanceValues[] = [];

  /** The number of instances. */
  get count(): number {
    return this.#instances.length;
  }

  /** The number of solved instances, which come first. */
  get solved(): number {
    return this.#values.length;
  }

  /** Adds an instance; `cellPeclet` is that of the fine mesh of its pair, above 1 where drift dominates diffusion. */
  add(instance: Instance, drift: number): void {
    this.#instances.push(instance);
    this.#drift.push(drift);
  }

  /** Removes the instances from index `count` on, none of which is solved. */
  truncate(count: number): void {
    this.#instances.length = count;
    this.#drift.length = count;
  }

  /**
   * Has the value of an instance differentiated by the inputs of its scheme, and returns the index of the instance that
   * has the derivatives: the same where it is still to be solved, otherwise a new one.
   */
  differentiate(number: number): number {
    const differentiated = { ...this.#instances[number], differentiated: true };
    if (number >= this.solved) {
      this.#instances[number] = differentiated;
      return number;
    }
    this.add({ ...differentiated, reading: "window" }, this.#drift[number]);
    return this.count - 1;
  }

  instance(number: number): Instance {
    return this.#instances[number];
  }

  /** Returns the cell Péclet number with which an instance was added. */
  cellPeclet(number: number): number {
    return this.#drift[number];
  }

  /** Returns the values read from a solved instance. */
  values(number: number): InstanceValues {
    const values = this.#values[number];
    if (values === undefined) throw new Error("an instance is read before it is solved");
    return values;
  }

  /**
   * Solves the next instances, up to index `end` (excluded). @throws the signal's reason; device errors; then none is
   * solved
   */
  async solve(solver: BatchSolver, end: number, signal: AbortSignal | undefined): Promise<void> {
    for (const values of await solver.solve(this.#instances.slice(this.solved, end), signal)) this.#values.push(values);
  }

  /** Skips the next instances, up to index `end` (excluded), whose results are not needed. */
  skip(end: number): void {
    this.#values.length = end;
  }
}

/**
 * Returns the value and Greeks of a trade whose `barrier` has been breached today: the rebate, which does not depend on
 * the spot.
 */
export function knockedOutPoint(problem: OneFactorProblem, barrier: KnockOut): PointValue {
  // A rebate that is paid at once earns no interest here, as the payoff of an option that is exercised.
  return { value: rebateValue(barrier, 0, problem), delta: 0, gamma: 0, exercised: barrier.rebateAt === "hit" };
}

/** Returns the Richardson extrapolation (4·fine − coarse)/3 of two second-order solutions. */
const extrapolated = (fine: number, coarse: number): number => fine + (fine - coarse) / 3;

/**
 * Returns the value, delta and gamma of a difference of two problems, or those of `plus` itself if nothing is
 * subtracted.
 */
export function difference(plus: PointValue, minus: PointValue | undefined): PointValue {
  if (minus === undefined) return plus;
  return {
    value: plus.value - minus.value,
    delta: plus.delta - minus.delta,
    gamma: plus.gamma - minus.gamma,
    exercised: plus.exercised && minus.exercised,
  };
}

/**
 * Reads the value and its derivatives at today's spot from the solution with an index in the pool; `rounding` is the
 * relative rounding error of the values.
 */
export function pointOf(pool: InstancePool, number: number, rounding: number): PointValue {
  return pointValue(pool.instance(number).grid, pool.values(number), rounding);
}

/**
 * Returns the Richardson extrapolation of value, delta and gamma at today's spot from a fine and a coarse solution.
 * Where exercise is optimal or `drift` (`cellPeclet`) is above 1 it is the fine solution itself.
 */
export function extrapolatedPoint(
  problem: OneFactorProblem,
  drift: number,
  fine: PointValue,
  coarse: PointValue,
): PointValue {
  const [price] = problem.spots;
  const paid = knockedOutBy(problem, price);
  if (paid !== undefined) return knockedOutPoint(problem, paid);
  if (fine.exercised || drift > 1) return fine;
  const value = extrapolated(fine.value, coarse.value);
  return {
    value: isExercisableNow(problem, price) ? Math.max(value, problem.payoff.exercised(price)) : value,
    delta: coarse.exercised ? fine.delta : extrapolated(fine.delta, coarse.delta),
    gamma: coarse.exercised ? fine.gamma : extrapolated(fine.gamma, coarse.gamma),
    exercised: false,
  };
}

/**
 * Returns the extrapolated value at today's spot of one problem, or of a difference of two (`parts` = 2). The pool
 * holds a fine and a coarse solution of each problem in turn, from index `first` on.
 */
export function extrapolatedValue(pool: InstancePool, first: number, parts: number, rounding: number): number {
  let value = 0;
  for (let part = 0; part < parts; part++) {
    const number = first + 2 * part;
    const { problem } = pool.instance(number).grid;
    const [fine, coarse] = [pointOf(pool, number, rounding), pointOf(pool, number + 1, rounding)];
    const one = extrapolatedPoint(problem, pool.cellPeclet(number), fine, coarse).value;
    value = part === 0 ? one : value - one;
  }
  return value;
}

/**
 * The values of a solution at the requested spots after the first, and flags (1) of spots at which immediate exercise
 * is optimal.
 */
interface SpotColumn {
  readonly values: Float64Array;
  readonly exercised: Uint8Array;
}

/**
 * A reader that reads and extrapolates solutions at the requested spots other than the first, which is today's. The
 * arrays that it returns are overwritten by its next reading.
 */
export class SpotReader {
  readonly #pool: InstancePool;
  readonly #paid: Float64Array;
  /**
   * The columns by role: fine, coarse, fine with coarse time steps; those of the difference, and of its second part.
   */
  readonly #columns: readonly SpotColumn[];
  readonly #values: Float64Array;
  readonly #magnitudes: Float64Array;

  constructor(pool: InstancePool, count: number) {
    this.#pool = pool;
    this.#paid = new Float64Array(count);
    this.#columns = Array.from({ length: 6 }, () => ({
      values: new Float64Array(count),
      exercised: new Uint8Array(count),
    }));
    this.#values = new Float64Array(count);
    this.#magnitudes = new Float64Array(count);
  }

  /**
   * Reads one problem, or a difference of two (`parts` = 2), whose fine and coarse solutions follow one another in the
   * pool from index `first` on. With `hasBetween` they are followed by one solution of each problem on the fine mesh
   * with coarse time steps. The returned `values` are extrapolated, except for the exercise payoff where exercise is
   * optimal and the rebate beyond a breached barrier.
   */
  read(first: number, parts: number, hasBetween: boolean): SpotReading {
    const [fine, coarse, between] = this.#columns;
    const [values, magnitudes] = [this.#values, this.#magnitudes];
    for (let part = 0; part < parts; part++) {
      const number = first + 2 * part;
      const [f, c, b] = part === 0 ? [fine, coarse, between] : this.#columns.slice(3);
      this.#payNow(this.#pool.instance(number).problem);
      this.#column(number, f);
      this.#column(number + 1, c);
      if (hasBetween) this.#column(first + 2 * parts + part, b);
      const isFirst = part === 0;
      const isFine = this.#pool.cellPeclet(number) > 1;
      for (let k = 0; k < values.length; k++) {
        const better = isFine || f.exercised[k] !== 0 ? f.values[k] : this.#extrapolated(f.values[k], c.values[k], k);
        values[k] = isFirst ? better : values[k] - better;
        magnitudes[k] = (isFirst ? 0 : magnitudes[k]) + Math.abs(better);
      }
      if (isFirst) continue;
      for (let k = 0; k < values.length; k++) {
        fine.values[k] -= f.values[k];
        coarse.values[k] -= c.values[k];
        if (hasBetween) between.values[k] -= b.values[k];
      }
    }
    return { values, magnitudes, fine, coarse, between: hasBetween ? between : undefined };
  }

  /** Reads the solution with an index in the pool alone. */
  readOne(number: number): SpotColumn {
    const [column] = this.#columns;
    this.#payNow(this.#pool.instance(number).problem);
    this.#column(number, column);
    return column;
  }

  #extrapolated(fine: number, coarse: number, k: number): number {
    return Math.max(extrapolated(fine, coarse), this.#paid[k]);
  }

  #column(number: number, { values, exercised }: SpotColumn): void {
    const { grid, problem } = this.#pool.instance(number);
    spotValues(grid, this.#pool.values(number), this.#paid, values);
    exercised.fill(0);
    for (let k = 0; k < values.length; k++) {
      const spot = problem.spots[k + 1];
      const out = problem.barriers === undefined ? undefined : knockedOutBy(problem, spot);
      if (out !== undefined) values[k] = rebateValue(out, 0, problem);
      else if (values[k] === Number.POSITIVE_INFINITY) {
        values[k] = problem.payoff.exercised(spot);
        exercised[k] = 1;
      }
    }
  }

  /** Computes what exercise now pays at the spots after today's; −∞ where it is not allowed. */
  #payNow(problem: OneFactorProblem): void {
    const paid = this.#paid.fill(Number.NEGATIVE_INFINITY);
    const { american, exerciseTimes, payoff, spots } = problem;
    if (!american && exerciseTimes === undefined) return;
    for (let k = 0; k < paid.length; k++) {
      const spot = spots[k + 1];
      if (isExercisableNow(problem, spot) && knockedOutBy(problem, spot) === undefined)
        paid[k] = payoff.exercised(spot);
    }
  }
}

/**
 * The values at the requested spots other than today's: the extrapolated ones, and the solutions on the fine grid, on
 * the coarse grid, and on the fine mesh with the coarse time steps (`between`).
 */
export interface SpotReading {
  readonly values: Float64Array;
  /** The sizes of the values, or of both values whose difference they are. */
  readonly magnitudes: Float64Array;
  readonly fine: SpotColumn;
  readonly coarse: SpotColumn;
  readonly between: SpotColumn | undefined;
}
