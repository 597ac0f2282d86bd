import { SpecError } from "../../../base/errors.ts";
import type { BackendName } from "../../../device/index.ts";
import type { Precision } from "../../../kernel/index.ts";
import { checkObject, checkKeys, typeInWords } from "../../../base/argument-checks.ts";
import { lazily } from "../problem/lowered.ts";
import { parameterDerivatives, type EntryStatus, bumpWarnings } from "./columns.ts";
import {
  type AxesDerivatives,
  type EntryContents,
  extrapolatedValues,
  type BumpedPair,
  outsideOf,
  type PointValues,
  readPoint,
  readValues,
} from "./point-reader.ts";

/**
 * The solution at a point of the axis. N is the type of each field: a number, or an array with a number for each entry
 * of a batch.
 * @experimental
 */
export interface PointSolution<N = number> {
  readonly value: N;
  /** The derivative ∂V/∂S. */
  readonly first: N;
  /** The derivative ∂²V/∂S². */
  readonly second: N;
  /** The derivative ∂V/∂t today per year, from the equation; where exercise is optimal, from the payoff. */
  readonly theta: N;
  /** The derivatives with respect to the parameters that the problem's `sensitivities` name. */
  readonly sensitivities: Readonly<Record<string, N>>;
  /** The error estimate of the value; undefined unless the problem asks for it or for an extrapolation. */
  readonly errorEstimate: N | undefined;
}

/**
 * The solutions of all entries at the problem's point `at`. Each array has one number for each entry; NaN where the
 * entry has failed.
 * @experimental
 */
export interface PointColumns extends PointSolution<Float64Array> {
  /** The outcome of each entry: it was solved ("ok") or has failed. */
  readonly status: readonly EntryStatus[];
}

/** The exercise boundary as a function of time, from today to expiry. @experimental */
export interface ExerciseBoundary {
  /** The times in years from today, ascending. */
  readonly times: Float64Array;
  /** The boundary S* at each time, as a value of the axis; NaN where no node is exercised. */
  readonly levels: Float64Array;
}

/** The solved or failed entry on one axis from which an `EntrySolution` reads. */
interface AxisContents extends EntryContents<EntrySolution> {
  readonly exerciseBoundary: ExerciseBoundary | undefined;
}

/**
 * The solution of one entry of a batch. If the entry failed it has an `error`, and reading its values throws it.
 *
 * @example
 * import { solve } from "feynkac";
 *
 * // dX = dW: the expectation of X² in one year is X² + 1.
 * const { entries } = await solve({
 *   axes: { X: { from: -6, to: 6 } },
 *   equation: { XX: 0.5 },
 *   terminal: "X^2",
 *   expiry: 1,
 *   boundaries: {
 *     X: { low: { kind: "dirichlet", value: "X^2 + 1 - t" }, high: { kind: "dirichlet", value: "X^2 + 1 - t" } },
 *   },
 * });
 * const { value, first, second } = entries[0]!.at(1);
 * console.log(value.toFixed(6), first.toFixed(6), second.toFixed(6)); // 2.000000 2.000000 2.000000
 * @stable
 */
export class EntrySolution {
  readonly #contents: () => AxisContents;
  #values: Float64Array | undefined;

  /** @internal */
  constructor(contents: () => AxisContents) {
    this.#contents = lazily(contents);
  }

  /** Returns the same solution with its bumped entries. @internal */
  beside(moved: readonly BumpedPair<EntrySolution>[]): EntrySolution {
    return new EntrySolution(() => {
      const contents = this.#contents();
      return { ...contents, moved, warnings: [...contents.warnings, ...bumpWarnings(moved)] };
    });
  }

  /** The parameters of this entry. */
  get parameters(): Readonly<Record<string, number>> {
    return this.#contents().parameters;
  }

  /** Messages about a scheme that loses an order of accuracy, or an iteration that did not converge. */
  get warnings(): readonly string[] {
    return this.#contents().warnings;
  }

  /** The reason why there is no solution, such as a coefficient that is not finite, with its path in the problem. */
  get error(): SpecError | undefined {
    return this.#contents().error;
  }

  /** The values of the axis, ascending. */
  get nodes(): Float64Array {
    return this.#solved().fine.nodes[0];
  }

  /** The values V(0, S) at all nodes, extrapolated if the problem asks for it. */
  get values(): Float64Array {
    return (this.#values ??= extrapolatedValues(this.#solved()));
  }

  /** The exercise boundary; undefined unless the problem has an exercise condition. */
  get exerciseBoundary(): ExerciseBoundary | undefined {
    return this.#solved().exerciseBoundary;
  }

  /**
   * Returns the value and derivatives at S, by Fornberg's weights on the `order` nearest nodes (one and two more for
   * the derivatives). The interpolation error is O(h^order) wherever V is smooth, also at the ends. The solution itself
   * is of order 2, or 4 where space was extrapolated.
   *
   * @throws SpecError if S is outside the axis; this entry's `error`.
   */
  at(S: number, { order = 4 }: { readonly order?: 2 | 4 } = {}): PointSolution {
    const contents = this.#solved();
    const [nodes] = contents.fine.nodes;
    if (typeof S !== "number") throw new SpecError(`at: got ${typeInWords(S)}, expected a number on the axis`);
    if (!(S >= nodes[0] && S <= nodes[nodes.length - 1]))
      throw new SpecError(`at(${S}): ${outsideOf(nodes, contents)}`);
    const { names, moved = [] } = contents;
    const { value, first, second, theta, errorEstimate } = readPoint(contents, [S], order);
    const sensitivities = parameterDerivatives(moved, value, (entry) => entry.at(S, { order }).value);
    const [name] = names;
    return { value, first: first[name], second: second[`${name}${name}`], theta, sensitivities, errorEstimate };
  }

  #solved(): AxisContents {
    const contents = this.#contents();
    if (contents.error !== undefined) throw contents.error;
    return contents;
  }
}

/** The result of `solve` for a problem on one axis. @stable */
export interface Solution {
  /** The solutions of the entries of the batch, in order. */
  readonly entries: readonly EntrySolution[];
  /**
   * Reads all entries at the problem's point `at` into arrays, with the same bits as `at` of each entry, but without an
   * object for each. An entry that has failed is NaN, and its `status` says so.
   *
   * @throws SpecError if the problem has no `at`.
   */
  readonly columns: (options?: { readonly order?: 2 | 4 }) => PointColumns;
  readonly backend: BackendName;
  readonly precision: Precision;
}

/** The value and derivatives of a solution at a point of several axes, with their errors. @experimental */
export interface AxesPoint<A extends string = string> extends AxesDerivatives<A> {
  /**
   * The amounts that extrapolations in space and in time have added, or would add where the problem does not ask for
   * them; empty without coarser solutions.
   */
  readonly corrections: readonly AxesDerivatives<A>[];
  /** The error estimate of the value; undefined unless the problem asks for it or for an extrapolation. */
  readonly errorEstimate: number | undefined;
}

/** The solution of a user's equation at a point of several axes. @experimental */
export interface EquationPoint<A extends string = string> extends AxesPoint<A> {
  /** The derivative ∂V/∂t today per year, from the equation; where exercise is optimal, from the payoff. */
  readonly theta: number;
  /** The derivatives with respect to the parameters that the problem's `sensitivities` name. */
  readonly sensitivities: Readonly<Record<string, number>>;
}

/**
 * The solutions of all entries at the problem's point `at`, in the fields of `EquationPoint`. Each array has one number
 * for each entry; NaN where the entry has failed.
 * @experimental
 */
export interface AxesColumns<A extends string = string> extends AxesDerivatives<A, Float64Array> {
  /** The outcome of each entry: it was solved ("ok") or has failed. */
  readonly status: readonly EntryStatus[];
  /** The derivative ∂V/∂t of each entry today, per year. */
  readonly theta: Float64Array;
  /** The derivatives of each entry with respect to the parameters that the problem's `sensitivities` name. */
  readonly sensitivities: Readonly<Record<string, Float64Array>>;
  /** The error estimate of each value; undefined unless the problem asks for it or for an extrapolation. */
  readonly errorEstimate: Float64Array | undefined;
}

/** The solved or failed entry on two or three axes from which an `AxesEntrySolution` reads. */
interface AxesContents extends EntryContents<AxesEntrySolution> {
  readonly exercised: Uint8Array | undefined;
}

/**
 * The solution of one entry of a batch on two or three axes. If the entry failed it has an `error`, and reading its
 * values throws it.
 *
 * @example
 * import { solve } from "feynkac";
 *
 * // X and Y are independent Brownian motions: the expectation of X·Y² in one year is X·(Y² + 1).
 * const { entries } = await solve({
 *   axes: { X: { from: -6, to: 6, nodes: 41 }, Y: { from: -6, to: 6, nodes: 41 } },
 *   equation: { XX: 0.5, YY: 0.5 },
 *   terminal: "X*Y^2",
 *   expiry: 1,
 * });
 * const { value, first, second } = entries[0]!.at({ X: 1, Y: 0.5 });
 * console.log(value.toFixed(2), first.X.toFixed(2), second.XY.toFixed(2)); // 1.25 1.25 1.00
 * @experimental
 */
export class AxesEntrySolution<A extends string = string> {
  readonly #contents: () => AxesContents;
  #values: Float64Array | undefined;

  /** @internal */
  constructor(contents: () => AxesContents) {
    this.#contents = lazily(contents);
  }

  /** Returns the same solution with its bumped entries. @internal */
  beside(moved: readonly BumpedPair<AxesEntrySolution>[]): AxesEntrySolution<A> {
    return new AxesEntrySolution(() => {
      const contents = this.#contents();
      return { ...contents, moved, warnings: [...contents.warnings, ...bumpWarnings(moved)] };
    });
  }

  /** The parameters of this entry. */
  get parameters(): Readonly<Record<string, number>> {
    return this.#contents().parameters;
  }

  /** Messages about how the solution differs from the requested one. */
  get warnings(): readonly string[] {
    return this.#contents().warnings;
  }

  /** The reason why there is no solution, such as a coefficient that is not finite, with its path in the problem. */
  get error(): SpecError | undefined {
    return this.#contents().error;
  }

  /** The values of each axis, ascending. */
  get nodes(): Readonly<Record<A, Float64Array>> {
    const { names, fine } = this.#solved();
    return Object.fromEntries(names.map((name, k) => [name, fine.nodes[k]])) as Record<A, Float64Array>;
  }

  /** The values V(0, x) at all nodes, with the first axis contiguous, extrapolated if the problem asks for it. */
  get values(): Float64Array {
    return (this.#values ??= extrapolatedValues(this.#solved()));
  }

  /**
   * The exercise region today, for exercise at all times: 1 at nodes where exercise pays at least V, in the order of
   * `values`.
   */
  get exerciseRegion(): Uint8Array | undefined {
    return this.#solved().exercised;
  }

  /**
   * Returns the value and derivatives at a point. They are interpolated by products of Fornberg's weights on the
   * `order` nearest nodes of each axis (one and two more for its derivatives). The interpolation error is O(h^order)
   * wherever V is smooth.
   *
   * @throws SpecError if the point is outside an axis, or an axis is missing; this entry's `error`.
   */
  at(point: Readonly<Record<A, number>>, { order = 4 }: { readonly order?: 2 | 4 } = {}): EquationPoint<A> {
    const contents = this.#solved();
    const { names, fine } = contents;
    checkObject("at", point, `the values of ${names.join(", ")}`);
    checkKeys("at", point, names);
    const x = names.map((name, k) => {
      const value: unknown = (point as Record<string, unknown>)[name];
      if (typeof value !== "number") throw new SpecError(`at.${name}: got ${typeInWords(value)}, expected a number`);
      checkInside(contents, fine.nodes[k], name, value);
      return value;
    });
    const read = readPoint<A>(contents, x, order);
    const { moved = [] } = contents;
    const sensitivities = parameterDerivatives(moved, read.value, (entry) => entry.at(point, { order }).value);
    return { ...read, sensitivities };
  }

  /**
   * Returns the values at several points, as `at` of each would, without derivatives. `points` are the coordinates of
   * each axis. @throws SpecError as `at` @internal
   */
  valuesAt(points: Readonly<Record<A, ArrayLike<number>>>): PointValues {
    const contents = this.#solved();
    const { names, fine } = contents;
    const coordinates = names.map((name, k) => {
      const own = points[name as A];
      for (let p = 0; p < own.length; p++) checkInside(contents, fine.nodes[k], name, own[p]);
      return own;
    });
    return readValues(contents, coordinates, 4);
  }

  #solved(): AxesContents {
    const contents = this.#contents();
    if (contents.error !== undefined) throw contents.error;
    return contents;
  }
}

/** @throws SpecError a coordinate that lies outside the nodes of an axis */
function checkInside(contents: AxesContents, nodes: Float64Array, name: string, value: number): void {
  if (!(value >= nodes[0] && value <= nodes[nodes.length - 1]))
    throw new SpecError(`at.${name}: ${value} is ${outsideOf(nodes, contents)}`);
}

/** The result of `solve` for a problem on two or three axes. @experimental */
export interface AxesSolution<A extends string = string> {
  /** The solutions of the entries of the batch, in order. */
  readonly entries: readonly AxesEntrySolution<A>[];
  /**
   * Reads all entries at the problem's point `at` into arrays, with the same bits as `at` of each entry, but without an
   * object for each. An entry that has failed is NaN, and its `status` says so.
   *
   * @throws SpecError if the problem has no `at`.
   */
  readonly columns: (options?: { readonly order?: 2 | 4 }) => AxesColumns<A>;
  readonly backend: BackendName;
  readonly precision: Precision;
}
