/** The contents of one entry of a batch, and their reading at a point of one or more axes. */
import type { SpecError } from "../../../base/errors.ts";
import {
  type Convergence,
  derivativesOf,
  type GridValues,
  type PointReader,
  richardsonCorrection,
  type Rounding,
  stencilOf,
} from "./point-reader.ts";
import type { Moved } from "./columns.ts";

/**
 * A value and its derivatives at a point of several axes. N is the type of each: a number, or an array with a number
 * for each entry of a batch.
 * @experimental
 */
export interface AxesDerivatives<A extends string = string, N = number> {
  readonly value: N;
  /** The first derivatives ∂V/∂x, by the name of the axis. */
  readonly first: Readonly<Record<A, N>>;
  /** The second derivatives, by the names of two axes: SS, vv, and the mixed ones in either order, Sv and vS. */
  readonly second: Readonly<Record<`${A}${A}`, N>>;
}

/** A coarser solution. */
type Companion = GridValues & Convergence;

/** One entry of a batch, solved or failed. E is the type of its copies with bumped parameters. */
export interface EntryContents<E = never> {
  /** The names of the axes. */
  readonly names: readonly string[];
  readonly parameters: Readonly<Record<string, number>>;
  readonly warnings: readonly string[];
  readonly error: SpecError | undefined;
  readonly fine: GridValues;
  readonly companions: readonly Companion[];
  /** True where only the nodes about the problem's point `at` were read from the device. */
  readonly isPart: boolean;
  /** Returns ∂V/∂t today at a point, from the value and derivatives that a `PointReader` has found there. */
  readonly theta: (x: readonly number[], found: Float64Array) => number;
  readonly moved?: readonly Moved<E>[];
  readonly rounding: () => Rounding;
  /** Returns the point reader for an order of interpolation, which all entries share. */
  readonly readerOf: (order: 2 | 4) => PointReader;
}

/** Returns the message for a point that lies outside the nodes of an axis. */
export const outsideOf = (nodes: Float64Array, { isPart }: Pick<EntryContents, "isPart">): string =>
  `outside the ${isPart ? "nodes about the problem's at" : "axis"}, ${nodes[0]} to ${nodes[nodes.length - 1]}` +
  (isPart ? "; leave at out of the problem to read the solution elsewhere" : "");

/** The value, derivatives, corrections and error estimate at a point. */
export interface PointReading<A extends string> extends AxesDerivatives<A> {
  readonly theta: number;
  /** The amounts that each coarser solution has added by extrapolation, or would add. */
  readonly corrections: readonly AxesDerivatives<A>[];
  readonly errorEstimate: number | undefined;
}

/** Reads the value, derivatives and error estimate of an entry at a point, by products of Fornberg's weights. */
export function readPoint<A extends string>(
  { names, fine, companions, theta, rounding, readerOf }: Omit<EntryContents, "moved">,
  x: readonly number[],
  order: 2 | 4,
): PointReading<A> {
  const reader = readerOf(order);
  const errorEstimate = reader.read(x, fine, companions, rounding());
  return {
    ...named<A, number>(names, reader.found),
    theta: theta(x, reader.found),
    corrections: reader.corrections.map((moves) => named<A, number>(names, moves)),
    errorEstimate: companions.length === 0 ? undefined : errorEstimate,
  };
}

/** Converts numbers or arrays in the order of `derivativesOf` to an object by the names of the axes. */
export function named<A extends string, N>(names: readonly string[], values: ArrayLike<N>): AxesDerivatives<A, N> {
  const first: Record<string, N> = {};
  const second: Record<string, N> = {};
  derivativesOf(names).forEach(({ labels }, k) => {
    const into = labels.length === 2 ? second : first;
    for (const label of labels) into[label] = values[k];
  });
  return {
    value: values[0],
    first: first as AxesDerivatives<A, N>["first"],
    second: second as AxesDerivatives<A, N>["second"],
  };
}

const nodeCount = (axes: readonly Float64Array[]): number => axes.reduce((product, { length }) => product * length, 1);

/** The values at all nodes of the fine mesh, including the corrections by extrapolation that `readPoint` also adds. */
export function extrapolatedValues({ fine, companions }: Pick<EntryContents, "fine" | "companions">): Float64Array {
  const { nodes, start } = fine;
  const own = fine.values.subarray(start, start + nodeCount(nodes));
  const correcting = companions.filter(({ corrects }) => corrects);
  if (correcting.length === 0) return own;
  const values = own.slice();
  for (const companion of correcting) {
    const coarse = nodes.reduce(interpolatedAlong, companion).values;
    own.forEach((value, i) => (values[i] += richardsonCorrection(value, coarse[i], companion.order)));
  }
  return values;
}

/** Interpolates along one axis to other nodes, by Fornberg's weights on the four nearest ones. */
function interpolatedAlong({ nodes, values, start: origin }: GridValues, to: Float64Array, axis: number): GridValues {
  const from = nodes[axis];
  const stride = nodeCount(nodes.slice(0, axis));
  const found = new Float64Array((nodeCount(nodes) / from.length) * to.length);
  const stencils = Array.from(to, (x) => stencilOf(from, x, 0, 4));
  for (let i = 0; i < found.length; i++) {
    const { start, weights } = stencils[Math.floor(i / stride) % to.length];
    const first = Math.floor(i / (stride * to.length)) * stride * from.length + start * stride + (i % stride);
    for (let j = 0; j < weights.length; j++) found[i] += weights[j] * values[origin + first + j * stride];
  }
  return { nodes: nodes.with(axis, to), values: found, start: 0 };
}
