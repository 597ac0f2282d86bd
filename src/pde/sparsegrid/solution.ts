import type { BackendName } from "../../device/index.ts";
import { SpecError } from "../../base/errors.ts";
import { stencilOf, type AxesPoint, type PointValues } from "../fdm/index.ts";
import { checkObject, checkKeys, checkOneOf, typeInWords } from "../../base/argument-checks.ts";
import type { Precision } from "../../kernel/index.ts";
import type { GridValues } from "./grids.ts";

/** A grid of a combination with its solution and its coefficient. */
export interface CombinedGrid {
  readonly grid: GridValues;
  readonly coefficient: number;
}

/**
 * A function that returns V today at a point of a Dirichlet end, where V is prescribed. Its arguments are the axis,
 * whether the end is the upper one, and the values of all axes.
 */
export type EndValue = (axis: number, high: boolean, x: readonly number[]) => number;

/** The combinations solved for one entry: the requested one, and others for its error estimate. */
export interface SparseContents {
  readonly axes: readonly string[];
  readonly parameters: Readonly<Record<string, number>>;
  readonly warnings: readonly string[];
  readonly error: SpecError | undefined;
  readonly endValue: EndValue;
  /** The requested combination. */
  readonly fine: readonly CombinedGrid[];
  /** The combinations whose level is lower by one and by two. */
  readonly coarser: readonly (readonly CombinedGrid[])[];
  /** The combination before the extrapolation from two levels. */
  readonly plain: readonly CombinedGrid[] | undefined;
  /**
   * A small combination solved with all time steps and with half of them. Their difference divided by `by` estimates
   * the error in time.
   */
  readonly time:
    | { readonly all: readonly CombinedGrid[]; readonly half: readonly CombinedGrid[]; readonly by: number }
    | undefined;
  /** The error estimate of the adaptive refinement. */
  readonly estimate: number | undefined;
}

/** The part of an extrapolation's correction that may be wrong: its differences may be small by chance, too. */
const UNSURE = 0.5;

/** The statistics of one solved grid of a combination. @experimental */
export interface SolvedGrid {
  /** The level of each axis; level l has 2^l intervals. */
  readonly levels: readonly number[];
  /** The factor of the grid's solution in the combination. */
  readonly coefficient: number;
  /** The number of nodes whose values were solved for. */
  readonly unknowns: number;
  /** The number of iterations, summed over its linear systems. */
  readonly iterations: number;
  /** The number of linear systems: one for each stage of a time step. */
  readonly systems: number;
}

/**
 * The combined solution of one entry of a batch. If the entry failed it has an `error`, and reading its values throws
 * it.
 *
 * @example
 * import { solveOnSparseGrid } from "feynkac/sparsegrid";
 *
 * // The expectation of X·Y of independent Brownian motions is X·Y.
 * const { entries } = await solveOnSparseGrid({
 *   axes: { X: { from: -2, to: 2 }, Y: { from: -2, to: 2 } },
 *   equation: { XX: 0.5, YY: 0.5 },
 *   terminal: "X*Y",
 *   expiry: 1,
 * });
 * const [entry] = entries;
 * const line = entry!.on({ X: [-1, 0, 1], Y: 1 });
 * console.log(entry!.grids.length, Array.from(line, (value) => Math.round(value)).join(" ")); // 7 -1 0 1
 * @experimental
 */
export class SparseEntrySolution<A extends string = string> {
  /** The parameters of this entry. */
  readonly parameters: Readonly<Record<string, number>>;
  /** Messages about how the solution differs from the requested one. */
  readonly warnings: readonly string[];
  /** The reason why there is no solution, such as a coefficient that is not finite, with its path. */
  readonly error: SpecError | undefined;
  readonly #contents: SparseContents;

  /** @internal */
  constructor(contents: SparseContents) {
    this.parameters = contents.parameters;
    this.warnings = contents.warnings;
    this.error = contents.error;
    this.#contents = contents;
  }

  /** The solved grids of the combination with their coefficients. */
  get grids(): readonly SolvedGrid[] {
    return this.#solved().fine.map(({ grid: { levels, values, report }, coefficient }) => ({
      levels,
      coefficient,
      unknowns: values.length,
      iterations: report.iterations,
      systems: report.systems,
    }));
  }

  /** The number of unknowns of all grids together. */
  get unknowns(): number {
    return this.grids.reduce((sum, { unknowns }) => sum + unknowns, 0);
  }

  /**
   * Returns the value and derivatives of the combined function at a point, by products of Fornberg's weights on the
   * `order` nearest nodes of each axis (one and two more for its derivatives) of every grid. Cheapest and most accurate
   * where the coordinates are the `points` of the axes, which are nodes of every grid.
   *
   * @throws SpecError if the point is outside an axis, or an axis is missing; this entry's `error`.
   */
  at(point: Readonly<Record<A, number>>, { order = 4 }: { readonly order?: 2 | 4 } = {}): AxesPoint<A> {
    const contents = this.#solved();
    checkOneOf("order", order, [2, 4]);
    const x = this.#checked("at", point);
    const { axes, fine, endValue } = contents;
    const read = (orders: readonly number[]): number => combinedValue(fine, x, orders, order, endValue);
    const none = axes.map(() => 0);
    const first = Object.fromEntries(axes.map((name, k) => [name, read(none.with(k, 1))]));
    const second: Record<string, number> = {};
    axes.forEach((a, j) => {
      second[a + a] = read(none.with(j, 2));
      axes.slice(j + 1).forEach((b, k) => {
        second[a + b] = second[b + a] = read(none.with(j, 1).with(j + 1 + k, 1));
      });
    });
    return {
      ...valueOf(contents, x, order),
      first: first as AxesPoint<A>["first"],
      second: second as AxesPoint<A>["second"],
      corrections: [],
    };
  }

  /**
   * Returns the values at several points, as `at` of each would, without derivatives. `points` are the coordinates of
   * each axis. @throws SpecError as `at` @internal
   */
  valuesAt(points: Readonly<Record<A, ArrayLike<number>>>): PointValues {
    const contents = this.#solved();
    const axes = contents.axes as readonly A[];
    const read = Array.from(points[axes[0]], (_, p) => {
      const point = Object.fromEntries(axes.map((name) => [name, points[name][p]])) as Record<A, number>;
      return valueOf(contents, this.#checked("at", point), 4);
    });
    return {
      values: Float64Array.from(read, ({ value }) => value),
      corrections: [],
      errorEstimates: Float64Array.from(read, ({ errorEstimate = Number.NaN }) => errorEstimate),
    };
  }

  /**
   * Returns the values of the combined function on a full grid: on a line, where one axis has several values, on a
   * plane with two. The first axis is the fastest.
   *
   * @throws SpecError as `at`.
   */
  on(
    grid: Readonly<Record<A, number | ArrayLike<number>>>,
    { order = 4 }: { readonly order?: 2 | 4 } = {},
  ): Float64Array {
    const { axes, fine, endValue } = this.#solved();
    checkOneOf("order", order, [2, 4]);
    checkObject("on", grid, `the values of ${axes.join(", ")}`);
    checkKeys("on", grid, axes);
    const lists = axes.map((name) => {
      const given: unknown = (grid as Record<string, unknown>)[name];
      if (typeof given === "number") return [given];
      if (!Array.isArray(given) && !ArrayBuffer.isView(given))
        throw new SpecError(`on.${name}: got ${typeInWords(given)}, expected a number or a list of numbers`);
      return Array.from(given as ArrayLike<number>);
    });
    const size = lists.reduce((product, { length }) => product * length, 1);
    const none = axes.map(() => 0);
    return Float64Array.from({ length: size }, (_, i) => {
      let rest = i;
      const point = axes.map((name, k) => {
        const { length } = lists[k];
        const value = lists[k][rest % length];
        rest = Math.floor(rest / length);
        return [name, value] as const;
      });
      const x = this.#checked("on", Object.fromEntries(point) as Record<A, number>);
      return combinedValue(fine, x, none, order, endValue);
    });
  }

  #checked(what: string, point: Readonly<Record<A, number>>): readonly number[] {
    const { axes, fine } = this.#contents;
    return checkedPoint(what, point, axes, (k) => {
      const { values } = fine[0].grid.meshes[k];
      return [values[0], values[values.length - 1]];
    });
  }

  #solved(): SparseContents {
    if (this.error !== undefined) throw this.error;
    return this.#contents;
  }
}

/** Returns the combined function at the point `x`, and the error estimate that its combinations give. */
function valueOf(
  { axes, fine, coarser, plain, time, estimate, endValue }: SparseContents,
  x: readonly number[],
  order: 2 | 4,
): Pick<AxesPoint, "value" | "errorEstimate"> {
  const none = axes.map(() => 0);
  const read = (combination: readonly CombinedGrid[]): number => combinedValue(combination, x, none, order, endValue);
  const value = read(fine);
  let errorEstimate = estimate;
  // The last difference alone may be small by chance: a change of sign on the way.
  coarser.reduce((finer, combination, k) => {
    const now = read(combination);
    errorEstimate = Math.max(errorEstimate ?? 0, Math.abs(finer - now) / 4 ** k);
    return now;
  }, value);
  if (plain !== undefined && errorEstimate !== undefined)
    errorEstimate = Math.max(errorEstimate, UNSURE * Math.abs(value - read(plain)));
  if (time !== undefined && errorEstimate !== undefined)
    errorEstimate += Math.abs(read(time.all) - read(time.half)) / time.by;
  return { value, errorEstimate };
}

/** Returns the coordinates of a point given by axis. @throws SpecError (one is missing, or outside its axis) */
export function checkedPoint(
  what: string,
  point: Readonly<Record<string, unknown>>,
  axes: readonly string[],
  endsOf: (axis: number) => readonly [low: number, high: number],
): readonly number[] {
  checkObject(what, point, `the values of ${axes.join(", ")}`);
  checkKeys(what, point, axes);
  return axes.map((name, k) => {
    const value = point[name];
    const [low, high] = endsOf(k);
    if (typeof value !== "number") throw new SpecError(`${what}.${name}: got ${typeInWords(value)}, expected a number`);
    if (!(value >= low && value <= high))
      throw new SpecError(`${what}.${name}: ${value} is outside the axis, ${low} to ${high}`);
    return value;
  });
}

/**
 * Returns the combined function or a derivative at the point `x`. `orders` has the order of differentiation with
 * respect to each axis, and `order` is the order of the interpolation.
 */
export function combinedValue(
  combination: readonly CombinedGrid[],
  x: readonly number[],
  orders: readonly number[],
  order: 2 | 4,
  endValue: EndValue,
): number {
  return combination.reduce(
    (sum, { grid, coefficient }) => sum + coefficient * derivative(grid, x, orders, order, endValue),
    0,
  );
}

function derivative(
  { meshes, first, counts, values }: GridValues,
  x: readonly number[],
  orders: readonly number[],
  order: 2 | 4,
  endValue: EndValue,
): number {
  const stencils = meshes.map(({ values: nodes }, k) => stencilOf(nodes, x[k], orders[k], order));
  const index = meshes.map(() => 0);
  const strides = counts.map((_, k) => counts.slice(0, k).reduce((product, count) => product * count, 1));
  const leaf = (): number => {
    let slot = 0;
    for (let k = 0; k < index.length; k++) {
      const own = index[k] - first[k];
      if (own < 0 || own >= counts[k])
        return endValue(
          k,
          own >= 0,
          index.map((i, axis) => meshes[axis].values[i]),
        );
      slot += own * strides[k];
    }
    return values[slot];
  };
  const along = (axis: number): number => {
    if (axis < 0) return leaf();
    const { start, weights } = stencils[axis];
    let sum = 0;
    for (let j = 0; j < weights.length; j++) {
      if (weights[j] === 0) continue;
      index[axis] = start + j;
      sum += weights[j] * along(axis - 1);
    }
    return sum;
  };
  return along(meshes.length - 1);
}

/** The result of `solveOnSparseGrid`. @experimental */
export interface SparseSolution<A extends string = string> {
  /** The solutions of the entries of the batch, in order. */
  readonly entries: readonly SparseEntrySolution<A>[];
  readonly backend: BackendName;
  readonly precision: Precision;
}
