/** Reading of solutions on grids at points. */
import { memoizeBy } from "../../../base/memoize.ts";
import type { SpecError } from "../../../base/errors.ts";
import { fillWeights, stencilLength, stencilOf, stencilStart } from "./stencils.ts";

/**
 * Returns the correction of Richardson's extrapolation (1911; Roache 1998, ch. 5), which is to be added to the fine
 * solution. Where the error is C·hᵖ plus higher orders, with p = `order`, it is
 *
 *   u − u_h ≈ (u_h − u_2h)/(2ᵖ − 1).
 */
function richardsonCorrection(fine: number, coarse: number, order: number): number {
  return (fine - coarse) / (2 ** order - 1);
}

/** The values V on a grid of ascending nodes: node (i₀, i₁, i₂) is at index start + (i₂·n₁ + i₁)·n₀ + i₀. */
export interface GridValues {
  readonly nodes: readonly Float64Array[];
  readonly values: Float64Array;
  readonly start: number;
}

/**
 * The order at which a coarser solution converges, and whether it corrects the fine one or only estimates its error.
 */
interface Convergence {
  readonly order: number;
  readonly corrects: boolean;
}

/** The rounding error of V, which is a part of the error estimate: a fraction of V, and an absolute amount. */
export interface RoundingError {
  readonly relative: number;
  readonly absolute: number;
}

/** A derivative: the order of differentiation along each axis, and the axes by which it is named, in either order. */
interface Derivative {
  readonly orders: readonly number[];
  readonly labels: readonly string[];
}

/**
 * Returns the list of the value and its first and second derivatives, in the order in which they are read, with their
 * names.
 */
export const derivativesOf = memoizeBy((names: readonly string[]): readonly Derivative[] => {
  const along = (axes: readonly number[]): Derivative => {
    const own = axes.map((k) => names[k]);
    return {
      orders: names.map((_, k) => axes.filter((axis) => axis === k).length),
      labels: own.length === 2 ? [own.join(""), own.toReversed().join("")] : own,
    };
  };
  const axes = [...names.keys()];
  return [along([]), ...axes.map((i) => along([i])), ...axes.flatMap((i) => axes.slice(i).map((j) => along([i, j])))];
});

/** The most nodes of a stencil: those of a second derivative of fourth order. */
const MAX_STENCIL = 4 + 2;

/** The orders of differentiation along an axis. */
const ORDERS = [0, 1, 2] as const;

/** The weights of an axis for the value, the first and the second derivative at the point that was read last. */
class AxisWeights {
  /** By derivative, how many nodes have weights other than 0, which ones, and their weights. */
  readonly counts = new Int32Array([1, 1, 1]);
  readonly places: readonly Int32Array[] = ORDERS.map(() => new Int32Array(MAX_STENCIL));
  readonly weights: readonly Float64Array[] = ORDERS.map(() => new Float64Array(MAX_STENCIL).fill(1));
  /** The rows of Fornberg's algorithm. */
  readonly #rows = ORDERS.map(() => new Float64Array(MAX_STENCIL));
  #nodes: Float64Array | undefined;
  #x = Number.NaN;
  #highest = -1;

  /**
   * Makes the weights at `x` of derivatives up to `highest`, unless they are there: thousands of entries on one mesh
   * are read at one point.
   */
  make(nodes: Float64Array, x: number, order: 2 | 4, highest: 0 | 2): void {
    const isHere = x === this.#x && this.#highest >= highest;
    if (isHere && this.#nodes !== undefined && areEqual(nodes, this.#nodes)) return;
    this.#nodes = nodes;
    this.#x = x;
    this.#highest = highest;
    for (let k = 0; k <= highest; k++) {
      const length = Math.min(stencilLength(order, k), nodes.length);
      const start = stencilStart(nodes, x, length);
      fillWeights(this.#rows, k, x, nodes, start, length);
      const [all, places, weights] = [this.#rows[k], this.places[k], this.weights[k]];
      let count = 0;
      for (let j = 0; j < length; j++) {
        if (all[j] === 0) continue;
        places[count] = start + j;
        weights[count++] = all[j];
      }
      this.counts[k] = count;
    }
  }
}

function areEqual(a: Float64Array, b: Float64Array): boolean {
  if (a === b) return true;
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

/**
 * The factor by which an estimated error that is not corrected is raised: by a quarter, as in Roache's (1994) grid
 * convergence index where the order is known.
 */
const SAFETY = 1.25;

/**
 * A reader of entries with the same axes, one after another, by products of Fornberg's weights. Its results are
 * overwritten when it reads the next entry. Entries on equal meshes that are read at the same point share their
 * weights.
 */
export class PointReader {
  /**
   * The value and the derivatives in the order of `derivativesOf`, corrected by extrapolation; then 1, the factor of
   * the equation's source.
   */
  readonly found: Float64Array;
  /** The amounts that each coarser solution has added, or would add, in the same order. */
  readonly corrections: readonly Float64Array[];
  readonly #companions: readonly Convergence[];
  readonly #order: 2 | 4;
  /** The orders of differentiation along three axes, of each derivative. */
  readonly #orders: readonly (readonly number[])[];
  readonly #read: Float64Array;
  /** The weights of each axis of the fine grid, then of each companion's. */
  readonly #axes: readonly (readonly AxisWeights[])[];
  /** The weights of an axis that a grid does not have: one node of weight 1. */
  readonly #noAxis = new AxisWeights();

  constructor(names: readonly string[], companions: readonly Convergence[], order: 2 | 4) {
    const derivatives = derivativesOf(names);
    const { length } = derivatives;
    this.#companions = companions;
    this.#order = order;
    this.#orders = derivatives.map(({ orders }) => ORDERS.map((k) => orders[k] ?? 0));
    this.#axes = [undefined, ...companions].map(() => names.map(() => new AxisWeights()));
    this.#read = new Float64Array(length);
    this.found = new Float64Array(length + 1);
    this.found[length] = 1;
    this.corrections = companions.map(() => new Float64Array(length));
  }

  /**
   * Reads an entry at the point `x`, and returns the error estimate of its value; NaN without coarser solutions. With
   * `valueOnly` the derivatives are left as they are.
   */
  read(
    x: readonly number[],
    fine: GridValues,
    companions: readonly GridValues[],
    rounding: RoundingError,
    valueOnly = false,
  ): number {
    const read = this.#read;
    const count = valueOnly ? 1 : read.length;
    this.#readGrid(this.#axes[0], x, fine, read, count);
    for (let k = 0; k < count; k++) this.found[k] = read[k];
    if (companions.length === 0) return Number.NaN;
    let estimate = rounding.relative * Math.abs(read[0]) + rounding.absolute;
    for (let c = 0; c < companions.length; c++) {
      const { order, corrects } = this.#companions[c];
      const moves = this.corrections[c];
      this.#readGrid(this.#axes[1 + c], x, companions[c], moves, count);
      for (let k = 0; k < count; k++) {
        moves[k] = richardsonCorrection(read[k], moves[k], order);
        if (corrects) this.found[k] += moves[k];
      }
      estimate += (corrects ? 1 : SAFETY) * Math.abs(moves[0]);
    }
    return estimate;
  }

  #readGrid(
    axes: readonly AxisWeights[],
    x: readonly number[],
    { nodes, values, start }: GridValues,
    into: Float64Array,
    count: number,
  ): void {
    for (let k = 0; k < axes.length; k++) axes[k].make(nodes[k], x[k], this.#order, count === 1 ? 0 : 2);
    const [first, second = this.#noAxis, third = this.#noAxis] = axes;
    const line = nodes[0].length;
    const plane = nodes.length > 1 ? line * nodes[1].length : line;
    for (let k = 0; k < count; k++) {
      const [k0, k1, k2] = this.#orders[k];
      const [p0, p1, p2] = [first.places[k0], second.places[k1], third.places[k2]];
      const [w0, w1, w2] = [first.weights[k0], second.weights[k1], third.weights[k2]];
      const [c0, c1, c2] = [first.counts[k0], second.counts[k1], third.counts[k2]];
      let sum = 0;
      for (let i2 = 0; i2 < c2; i2++) {
        let ofPlane = 0;
        for (let i1 = 0; i1 < c1; i1++) {
          const at = start + p2[i2] * plane + p1[i1] * line;
          let ofLine = 0;
          for (let i0 = 0; i0 < c0; i0++) ofLine += w0[i0] * values[at + p0[i0]];
          ofPlane += w1[i1] * ofLine;
        }
        sum += w2[i2] * ofPlane;
      }
      into[k] = sum;
    }
  }
}

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

/** The two solutions of an entry with one parameter bumped up and down by `step`. */
export interface BumpedPair<Entry> {
  readonly name: string;
  readonly step: number;
  readonly up: Entry;
  readonly down: Entry;
}

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
  readonly moved?: readonly BumpedPair<E>[];
  readonly rounding: () => RoundingError;
  /** Returns the point reader for an order of interpolation, which all entries share. */
  readonly readerOf: (order: 2 | 4) => PointReader;
}

/** Returns the error message for a point that lies outside the nodes of an axis. */
export const outsideOf = (nodes: Float64Array, { isPart }: Pick<EntryContents, "isPart">): string =>
  `outside the ${isPart ? "nodes about the problem's at" : "axis"}, ${nodes[0]} to ${nodes[nodes.length - 1]}` +
  (isPart ? "; leave at out of the problem to read the solution elsewhere" : "");

/** The value, derivatives, corrections and error estimate at a point. */
interface PointReading<A extends string> extends AxesDerivatives<A> {
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

/** The values of an entry at several points, without derivatives. Each array has one number for each point. */
export interface PointValues {
  readonly values: Float64Array;
  /** The amounts that each coarser solution has added by extrapolation, or would add. */
  readonly corrections: readonly Float64Array[];
  /** NaN without coarser solutions. */
  readonly errorEstimates: Float64Array;
}

/**
 * Reads the values of an entry at points, given by their coordinates [axis][point]: with the bits of `readPoint`, but
 * no object for each.
 *
 * Cost: 16 multiplications for each point and grid on two axes, and the weights of each axis whose coordinate differs
 * from the point before.
 */
export function readValues(
  { fine, companions, rounding, readerOf }: Omit<EntryContents, "moved">,
  points: readonly ArrayLike<number>[],
  order: 2 | 4,
): PointValues {
  const reader = readerOf(order);
  const error = rounding();
  const [{ length }] = points;
  const values = new Float64Array(length);
  const errorEstimates = new Float64Array(length);
  const corrections = companions.map(() => new Float64Array(length));
  const x = points.map(() => 0);
  for (let p = 0; p < length; p++) {
    for (let k = 0; k < x.length; k++) x[k] = points[k][p];
    errorEstimates[p] = reader.read(x, fine, companions, error, true);
    values[p] = reader.found[0];
    for (let c = 0; c < corrections.length; c++) corrections[c][p] = reader.corrections[c][0];
  }
  return { values, corrections, errorEstimates };
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

/**
 * Returns the values at all nodes of the fine mesh, including the corrections by extrapolation that `readPoint` also
 * adds.
 */
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
