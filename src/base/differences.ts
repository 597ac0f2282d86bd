/**
 * Sensitivities by finite differences: the problems with moved inputs that are solved, and how their values are
 * combined.
 */

/** A formula for a sensitivity: a linear combination of the value of a problem and the values of its moved copies. */
export interface SensitivityFormula {
  readonly name: string;
  /** The weight of the problem as it is, then that of each moved copy. */
  readonly weights: readonly number[];
  /** A number that is added to the combination. */
  readonly added?: number;
}

/**
 * The copies of a problem in which an input is moved, and the formulas of the sensitivities that follow from their
 * values.
 */
export interface MovedCopies<P> {
  readonly copies: readonly P[];
  readonly formulas: readonly SensitivityFormula[];
}

/**
 * A derivative with respect to an input, to be computed by finite differences: the name of the sensitivity, the order,
 * and the moves of the input at which values are taken. Moves are in units of a size; move 0 is the unmoved problem.
 */
export interface DerivativeByDifferences {
  readonly name: string;
  readonly order: 1 | 2;
  readonly moves: readonly number[];
}

/**
 * The moves of finite differences, by the name of the scheme. First derivatives have errors of the second order in the
 * size of the moves, except by `FORWARD`, whose errors are of the first order.
 */
export const MOVES = {
  CENTRAL: [1, -1],
  /** Second differences, which include the problem as it is. */
  AROUND: [0, 1, -1],
  FORWARD: [1, 0],
  /** Differences to one side; second ones have errors of the first order. */
  BESIDE: [0, 1, 2],
  /** Differences to one side, without the problem as it is, which is at the end of a range. */
  BEYOND: [1, 2, 3],
  /** First differences of the fourth order. */
  FIVE: [-2, -1, 0, 1, 2],
} as const;

/** The largest moves of an input up and down that cross neither a barrier, nor 0, nor the end of a range. */
export interface MoveLimits {
  readonly up: number;
  readonly down: number;
}

/** Returns the moves up and down by a size, each limited to the largest that is allowed. */
export const movesWithin = (size: number, { up, down }: MoveLimits): readonly [up: number, down: number] => [
  Math.min(size, up),
  -Math.min(size, down),
];

/**
 * Returns moves of an input within limits: their size `by` and their side. Moves to both sides (0) are at most `size`.
 * If the limits allow less than `least`, both moves are made to the side with the larger limit; their size is then at
 * most `beside` and at most the fraction `share` of this limit.
 */
export function limitedMoves(
  size: number,
  { up, down }: MoveLimits,
  { least, beside, share }: { readonly least: number; readonly beside: number; readonly share: number },
): { readonly by: number; readonly side: Side } {
  const both = Math.min(size, up, down);
  if (both >= least) return { by: both, side: 0 };
  return { by: Math.min(beside, share * Math.max(up, down)), side: up > down ? 1 : -1 };
}

/** The side of an input on which differences are taken: above it (1), below it (−1), or both (0). */
export type Side = -1 | 0 | 1;

/** The number of the unmoved problem among the numbers of its copies. */
export const UNMOVED = -1;

/** The weights of copies in a sensitivity, by the numbers of the copies. */
export type Weights = readonly (readonly [copy: number, weight: number])[];

/** A list of moved copies of a problem, and of the sensitivities that are computed from the values of the copies. */
export class DifferencePlan<P> {
  readonly #copies: P[] = [];
  readonly #weights = new Map<string, Weights>();

  /** Adds a moved copy, and returns its number. */
  addCopy(copy: P): number {
    return this.#copies.push(copy) - 1;
  }

  /** Adds a sensitivity with given weights, which may be those of one copy several times. */
  addFormula(name: string, weights: Weights): void {
    this.#weights.set(name, weights);
  }

  /**
   * Adds derivatives with respect to an input. `at` makes the copy whose input is moved by `move` times `size`.
   * Derivatives with the same moves share copies. Returns the numbers of the copies, in the order in which their moves
   * occur.
   */
  addDerivatives(
    size: number,
    derivatives: readonly DerivativeByDifferences[],
    at: (by: number, move: number) => P,
  ): readonly number[] {
    const made: number[] = [];
    const numbers: number[] = [];
    const numberOf = (move: number): number => {
      if (move === 0) return UNMOVED;
      const known = made.indexOf(move);
      if (known >= 0) return numbers[known];
      made.push(move);
      const number = this.addCopy(at(move * size, move));
      numbers.push(number);
      return number;
    };
    for (const { name, order, moves } of derivatives) {
      const weights = finiteDifferenceWeights(moves, order);
      const unit = order === 1 ? size : size * size;
      this.addFormula(
        name,
        moves.map((move, k) => [numberOf(move), weights[k] / unit]),
      );
    }
    return numbers;
  }

  /** Returns the weights of a sensitivity that has been added. */
  weightsOf(name: string): Weights {
    return this.#weights.get(name) ?? [];
  }

  /** Returns the copies, and the sensitivities in the order in which they were added. */
  movedCopies(): MovedCopies<P> {
    const measures = Array.from(this.#weights, ([name, of]): SensitivityFormula => {
      const weights = new Array<number>(1 + this.#copies.length).fill(0);
      for (const [copy, weight] of of) weights[copy + 1] += weight;
      return { name, weights };
    });
    return { copies: this.#copies, formulas: measures };
  }
}

/**
 * Returns the weights of a finite difference: the first or second derivative at 0 of the polynomial through values at
 * the given points is the sum of weights times values. Weight i is the derivative of Lagrange's polynomial Π (x −
 * xₖ)/(xᵢ − xₖ), k ≠ i.
 */
export function finiteDifferenceWeights(points: readonly number[], order: 1 | 2): readonly number[] {
  if (points.length === 2 && order === 1) {
    const weight = 1 / (points[0] - points[1]);
    return [weight, -weight];
  }
  return points.map((point, i) => {
    // The coefficients of 1, x and x² in the product.
    let [constant, linear, square] = [1, 0, 0];
    let width = 1;
    for (let k = 0; k < points.length; k++) {
      if (k === i) continue;
      const other = points[k];
      width *= point - other;
      square = linear - other * square;
      linear = constant - other * linear;
      constant *= -other;
    }
    return (order === 1 ? linear : 2 * square) / width;
  });
}

/** Returns a sensitivity, given the value of the unmoved problem and then the values of its copies. */
export const sensitivityOf = (measure: SensitivityFormula, values: readonly number[]): number =>
  sensitivityBy(measure, (v) => values[v]);

/**
 * Returns a sensitivity, given a function that returns the value of the unmoved problem (for 0) or of a copy (from 1
 * on).
 */
export function sensitivityBy({ weights, added = 0 }: SensitivityFormula, valueOf: (v: number) => number): number {
  let sum = added;
  for (let v = 0; v < weights.length; v++) if (weights[v] !== 0) sum += weights[v] * valueOf(v);
  return sum;
}

/**
 * Returns a bound of a sensitivity's error, given the errors of the values from which it is computed, such as rounding
 * errors.
 */
export const sensitivityErrorOf = ({ weights }: SensitivityFormula, errors: readonly number[]): number =>
  weights.reduce((sum, weight, v) => (weight === 0 ? sum : sum + Math.abs(weight) * errors[v]), 0);
