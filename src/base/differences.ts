/** Sensitivities by differences: which moved problems are solved for them, and how their values are combined. */

/** A sensitivity as a linear combination of values. */
export interface Measure {
  readonly name: string;
  /** The weight of the problem as it is, then that of each moved copy. */
  readonly weights: readonly number[];
  /** A number that is added to the combination. */
  readonly added?: number;
}

/** The moved copies of a problem, and the sensitivities that follow from their values. */
export interface MovedCopies<P> {
  readonly copies: readonly P[];
  readonly measures: readonly Measure[];
}

/**
 * A derivative that is wanted by an input: the moves at which values are taken, in units of a size; 0 is the problem as
 * it is. Its name is that of the measure.
 */
export interface Derivative {
  readonly name: string;
  readonly order: 1 | 2;
  readonly moves: readonly number[];
}

/** The moves of differences, whose errors are of the second order in the size but for `FORWARD`, of the first. */
export const MOVES = {
  CENTRAL: [1, -1],
  /** With the problem as it is: second differences. */
  AROUND: [0, 1, -1],
  FORWARD: [1, 0],
  /** To one side; second differences have errors of the first order. */
  BESIDE: [0, 1, 2],
  /** To one side without the problem as it is, which is at the end of a range. */
  BEYOND: [1, 2, 3],
  /** Of the fourth order. */
  FIVE: [-2, -1, 0, 1, 2],
} as const;

/** How far an input may move up and down until it crosses what it must not: a barrier, 0, or the end of a range. */
export interface Room {
  readonly up: number;
  readonly down: number;
}

/** Returns the moves up and down by a size, each no further than there is room. */
export const movesWithin = (size: number, { up, down }: Room): readonly [up: number, down: number] => [
  Math.min(size, up),
  -Math.min(size, down),
];

/**
 * Returns the size of moves and the side that they are made to: both sides (0), by less than asked for where there is
 * little room; where less than `least` would be left, the side with more room, of which two moves take a share.
 */
export function movesClear(
  size: number,
  { up, down }: Room,
  { least, beside, share }: { readonly least: number; readonly beside: number; readonly share: number },
): { readonly by: number; readonly side: Side } {
  const both = Math.min(size, up, down);
  if (both >= least) return { by: both, side: 0 };
  return { by: Math.min(beside, share * Math.max(up, down)), side: up > down ? 1 : -1 };
}

/** The side of an input on which differences are taken: above it (1), below it (−1), or both (0). */
export type Side = -1 | 0 | 1;

/** The number of the problem as it is among those of the copies. */
export const ITSELF = -1;

/** The weights of copies in a sensitivity, by their numbers. */
export type Weights = readonly (readonly [copy: number, weight: number])[];

/** A list of moved copies, and of sensitivities as weights of their values. */
export class DifferencePlan<P> {
  readonly #copies: P[] = [];
  readonly #weights = new Map<string, Weights>();

  /** Adds a moved copy, and returns its number. */
  add(copy: P): number {
    return this.#copies.push(copy) - 1;
  }

  /** Adds a sensitivity with given weights, which may be those of one copy several times. */
  measure(name: string, weights: Weights): void {
    this.#weights.set(name, weights);
  }

  /**
   * Adds derivatives by an input. `at` makes the copy with the input moved by a number of `size`; those of several
   * derivatives share copies. Returns the numbers of the copies, in the order in which their moves occur.
   */
  input(size: number, derivatives: readonly Derivative[], at: (by: number, move: number) => P): readonly number[] {
    const made: number[] = [];
    const numbers: number[] = [];
    const numberOf = (move: number): number => {
      if (move === 0) return ITSELF;
      const known = made.indexOf(move);
      if (known >= 0) return numbers[known];
      made.push(move);
      const number = this.add(at(move * size, move));
      numbers.push(number);
      return number;
    };
    for (const { name, order, moves } of derivatives) {
      const weights = weightsOf(moves, order);
      const unit = order === 1 ? size : size * size;
      this.measure(
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
  made(): MovedCopies<P> {
    const measures = Array.from(this.#weights, ([name, of]): Measure => {
      const weights = new Array<number>(1 + this.#copies.length).fill(0);
      for (const [copy, weight] of of) weights[copy + 1] += weight;
      return { name, weights };
    });
    return { copies: this.#copies, measures };
  }
}

/**
 * Returns the weights of values at given points in the derivative of an order at 0 of the polynomial through them: the
 * derivative of Lagrange's Π (x − xₖ)/(xᵢ − xₖ), k ≠ i.
 */
export function weightsOf(points: readonly number[], order: 1 | 2): readonly number[] {
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

/** Returns a sensitivity from the value of the problem as it is and those of its copies. */
export const combined = (measure: Measure, values: readonly number[]): number => combinedBy(measure, (v) => values[v]);

/** Returns a sensitivity, given a function for the value of the problem as it is (0) and those of its copies. */
export function combinedBy({ weights, added = 0 }: Measure, valueOf: (v: number) => number): number {
  let sum = added;
  for (let v = 0; v < weights.length; v++) if (weights[v] !== 0) sum += weights[v] * valueOf(v);
  return sum;
}

/** Returns the error of a sensitivity whose values have errors that are independent of each other, such as rounding. */
export const combinedErrors = ({ weights }: Measure, errors: readonly number[]): number =>
  weights.reduce((sum, weight, v) => (weight === 0 ? sum : sum + Math.abs(weight) * errors[v]), 0);
