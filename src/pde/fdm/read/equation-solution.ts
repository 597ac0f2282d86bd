import { SpecError } from "../../../base/errors.ts";
import type { BackendName } from "../../../device/index.ts";
import type { Precision } from "../../../kernel/index.ts";
import { shownType } from "../../../base/argument-checks.ts";
import { lazily } from "../problem/lowered.ts";
import { derivativesBy, type EntryStatus, warningsOf } from "./columns.ts";
import { type Moved, type EntryContents, extrapolatedValues, outsideOf, readPoint } from "./point-reader.ts";

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
  /** The derivatives by the parameters that the problem's `sensitivities` name. */
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
export interface AxisContents extends EntryContents<EntrySolution> {
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
  beside(moved: readonly Moved<EntrySolution>[]): EntrySolution {
    return new EntrySolution(() => {
      const contents = this.#contents();
      return { ...contents, moved, warnings: [...contents.warnings, ...warningsOf(moved)] };
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
    if (typeof S !== "number") throw new SpecError(`at: got ${shownType(S)}, expected a number on the axis`);
    if (!(S >= nodes[0] && S <= nodes[nodes.length - 1]))
      throw new SpecError(`at(${S}): ${outsideOf(nodes, contents)}`);
    const { names, moved = [] } = contents;
    const { value, first, second, theta, errorEstimate } = readPoint(contents, [S], order);
    const sensitivities = derivativesBy(moved, value, (entry) => entry.at(S, { order }).value);
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
