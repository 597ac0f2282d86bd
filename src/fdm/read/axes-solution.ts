import type { BackendName } from "../../device/index.ts";
import { SpecError } from "../../errors.ts";
import type { Precision } from "../../kernel/index.ts";
import { isObject, knownKeys, shownType } from "../problem/checks.ts";
import { richardsonCorrection } from "../time/schemes/richardson.ts";
import { SAFETY } from "./equation-solution.ts";
import { stencilOf } from "./fornberg.ts";
import { derivativesBy, type Moved, warningsOf } from "./sensitivities.ts";
import type { Theta } from "./theta.ts";

/** A value and its derivatives at a point of several axes. */
export interface AxesDerivatives<A extends string = string> {
  readonly value: number;
  /** ∂V/∂x by the name of the axis. */
  readonly first: Readonly<Record<A, number>>;
  /** Second derivatives by two names of axes, the mixed ones in either order: SS, Sv, vS, vv. */
  readonly second: Readonly<Record<`${A}${A}`, number>>;
}

/** The solution at a point of several axes. */
export interface AxesPoint<A extends string = string> extends AxesDerivatives<A> {
  /** What extrapolations in space and in time have added, or would add; none where there are no coarser solutions. */
  readonly corrections: readonly AxesDerivatives<A>[];
  /** Of the value; undefined unless the problem asked for it or for an extrapolation. */
  readonly errorEstimate: number | undefined;
}

/** The solution of an equation that you write. */
export interface EquationPoint<A extends string = string> extends AxesPoint<A> {
  /** ∂V/∂t today, from the equation; from the payoff where exercise is optimal. */
  readonly theta: number;
  /** Derivatives by the parameters in the problem's `sensitivities`. */
  readonly sensitivities: Readonly<Record<string, number>>;
}

/** V on a grid: node (i₀, i₁, i₂) stands at (i₂·n₁ + i₁)·n₀ + i₀. */
export interface GridValues {
  readonly nodes: readonly Float64Array[];
  readonly values: Float64Array;
}

/** A coarser solution; see `Companion`. */
export interface GridCompanion extends GridValues {
  readonly order: number;
  readonly corrects: boolean;
}

export interface AxesContents {
  readonly axes: readonly string[];
  readonly parameters: Readonly<Record<string, number>>;
  readonly warnings: readonly string[];
  readonly error: SpecError | undefined;
  readonly fine: GridValues;
  readonly companions: readonly GridCompanion[];
  readonly exercised: Uint8Array | undefined;
  readonly theta: Theta;
  readonly moved?: readonly Moved<AxesEntrySolution>[];
  /** Of `fine`; made where an estimate is read. */
  readonly rounding: () => { readonly relative: number; readonly absolute: number };
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
 */
export class AxesEntrySolution<A extends string = string> {
  /** The parameters of this entry. */
  readonly parameters: Readonly<Record<string, number>>;
  /** What did not go as it should. */
  readonly warnings: readonly string[];
  /** Why there is no solution, such as a coefficient that is not finite, with its place. */
  readonly error: SpecError | undefined;
  readonly #contents: AxesContents;
  #roundingOf: { readonly relative: number; readonly absolute: number } | undefined;

  /** @internal */
  constructor(contents: AxesContents) {
    this.parameters = contents.parameters;
    this.warnings = contents.warnings;
    this.error = contents.error;
    this.#contents = contents;
  }

  /** @internal */
  beside(moved: readonly Moved<AxesEntrySolution>[]): AxesEntrySolution<A> {
    return new AxesEntrySolution({ ...this.#contents, moved, warnings: [...this.warnings, ...warningsOf(moved)] });
  }

  /** Values of each axis, ascending. */
  get nodes(): Readonly<Record<A, Float64Array>> {
    const { axes, fine } = this.#solved();
    return Object.fromEntries(axes.map((name, k) => [name, fine.nodes[k]])) as Record<A, Float64Array>;
  }

  /** V(0, x) at each node, the first axis fastest, before any extrapolation. */
  get values(): Float64Array {
    return this.#solved().fine.values;
  }

  /** With exercise at all times: 1 at the nodes, in the order of `values`, at which it pays as much as V today. */
  get exerciseRegion(): Uint8Array | undefined {
    return this.#solved().exercised;
  }

  /**
   * Value and derivatives at a point, by products of Fornberg's weights on the `order` nearest nodes of each axis (one
   * and two more for its derivatives). The reading error is O(h^order) wherever V is smooth.
   *
   * @throws SpecError if the point is outside an axis, or an axis is missing; this entry's `error`.
   */
  at(point: Readonly<Record<A, number>>, { order = 4 }: { readonly order?: 2 | 4 } = {}): EquationPoint<A> {
    const { axes, fine, companions, theta, moved = [] } = this.#solved();
    isObject("at", point, `the values of ${axes.join(", ")}`);
    knownKeys("at", point, axes);
    const x = axes.map((name, k) => {
      const value: unknown = (point as Record<string, unknown>)[name];
      const nodes = fine.nodes[k];
      if (typeof value !== "number") throw new SpecError(`at.${name}: got ${shownType(value)}, expected a number`);
      if (!(value >= nodes[0] && value <= nodes[nodes.length - 1]))
        throw new SpecError(`at.${name}: ${value} is outside the axis, ${nodes[0]} to ${nodes[nodes.length - 1]}`);
      return value;
    });
    const wanted = derivativesOf(axes.length);
    const derivative = derivativesAt(fine, x, order);
    const read = wanted.map(derivative);
    const [value] = read;
    const found = [...read];
    let estimate = companions.length === 0 ? 0 : this.#rounding(value);
    const corrections = companions.map((companion) => {
      const coarse = derivativesAt(companion, x, order);
      const moves = wanted.map((orders, k) => richardsonCorrection(read[k], coarse(orders), companion.order));
      estimate += (companion.corrects ? 1 : SAFETY) * Math.abs(moves[0]);
      if (companion.corrects) moves.forEach((move, k) => (found[k] += move));
      return named<A>(axes, wanted, moves);
    });
    const derivatives = named<A>(axes, wanted, found);
    return {
      ...derivatives,
      theta: theta(x, { V: derivatives.value, ...derivatives.first, ...derivatives.second, source: 1 }),
      sensitivities: derivativesBy(moved, derivatives.value, (entry) => entry.at(point, { order }).value),
      corrections,
      errorEstimate: companions.length === 0 ? undefined : estimate,
    };
  }

  #rounding(value: number): number {
    this.#roundingOf ??= this.#contents.rounding();
    return this.#roundingOf.relative * Math.abs(value) + this.#roundingOf.absolute;
  }

  #solved(): AxesContents {
    if (this.error !== undefined) throw this.error;
    return this.#contents;
  }
}

/** The value, the first and the second derivatives: how often each axis is differentiated by. */
function derivativesOf(axes: number): readonly (readonly number[])[] {
  const all: number[][] = [Array<number>(axes).fill(0)];
  for (let i = 0; i < axes; i++) all.push(Array.from({ length: axes }, (_, k) => Number(k === i)));
  for (let i = 0; i < axes; i++)
    for (let j = i; j < axes; j++) all.push(Array.from({ length: axes }, (_, k) => Number(k === i) + Number(k === j)));
  return all;
}

/** Derivatives by the names of the axes. */
function named<A extends string>(
  axes: readonly string[],
  wanted: readonly (readonly number[])[],
  values: readonly number[],
): AxesDerivatives<A> {
  const first: Record<string, number> = {};
  const second: Record<string, number> = {};
  wanted.forEach((orders, k) => {
    const names = orders.flatMap((count, axis) => Array.from({ length: count }, () => axes[axis]));
    if (names.length === 1) first[names[0]] = values[k];
    if (names.length === 2) second[names.join("")] = second[names.toReversed().join("")] = values[k];
  });
  return {
    value: values[0],
    first: first as AxesDerivatives<A>["first"],
    second: second as AxesDerivatives<A>["second"],
  };
}

/** Derivatives at a point, by how often each axis is differentiated by. */
function derivativesAt(
  { nodes, values }: GridValues,
  x: readonly number[],
  order: 2 | 4,
): (orders: readonly number[]) => number {
  const steps = nodes.map((_, axis) => nodes.slice(0, axis).reduce((product, { length }) => product * length, 1));
  // Of each axis, for the value, the first and the second derivative.
  const stencils = nodes.map((axis, k) => [0, 1, 2].map((of) => stencilOf(axis, x[k], of, order)));
  return (orders) => {
    const along = (axis: number, offset: number): number => {
      if (axis < 0) return values[offset];
      const { start, weights } = stencils[axis][orders[axis]];
      return weights.reduce(
        (sum, weight, j) => (weight === 0 ? sum : sum + weight * along(axis - 1, offset + (start + j) * steps[axis])),
        0,
      );
    };
    return along(nodes.length - 1, 0);
  };
}

/** What `solve` returns of a problem on two or three axes. */
export interface AxesSolution<A extends string = string> {
  /** One for each entry of the batch, in order. */
  readonly entries: readonly AxesEntrySolution<A>[];
  readonly backend: BackendName;
  readonly precision: Precision;
}
