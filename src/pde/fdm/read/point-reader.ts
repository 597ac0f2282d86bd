/** The reading of a value and its derivatives at a point of one or more axes. */
import { memoizeBy } from "../../../base/memoize.ts";
import { richardsonCorrection } from "../time/schemes/richardson.ts";
import { fillWeights, stencilLength, stencilStart } from "./fornberg.ts";

/** The values V on a grid of ascending nodes: node (i₀, i₁, i₂) is at index start + (i₂·n₁ + i₁)·n₀ + i₀. */
export interface GridValues {
  readonly nodes: readonly Float64Array[];
  readonly values: Float64Array;
  readonly start: number;
}

/**
 * The order at which a coarser solution converges, and whether it corrects the fine one or only estimates its error.
 */
export interface Convergence {
  readonly order: number;
  readonly corrects: boolean;
}

/** The rounding error of V, which is part of the error estimate: a fraction of V, and an absolute amount. */
export interface Rounding {
  readonly relative: number;
  readonly absolute: number;
}

/** A derivative: the order of differentiation along each axis, and the axes by which it is named, in either order. */
interface Derivative {
  readonly orders: readonly number[];
  readonly labels: readonly string[];
}

/**
 * The list of the value and its first and second derivatives, in the order in which they are read, with their names.
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
const MAX_STENCIL = stencilLength(4, 2);

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

  /** Makes the weights at `x`, unless they are there: thousands of entries on one mesh are read at one point. */
  make(nodes: Float64Array, x: number, order: 2 | 4): void {
    if (x === this.#x && this.#nodes !== undefined && areEqual(nodes, this.#nodes)) return;
    this.#nodes = nodes;
    this.#x = x;
    for (const k of ORDERS) {
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

/** The weights of an axis that a grid does not have: one node of weight 1. */
const NO_AXIS = new AxisWeights();

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

  /** Reads an entry at the point `x`, and returns the error estimate of its value; NaN without coarser solutions. */
  read(x: readonly number[], fine: GridValues, companions: readonly GridValues[], rounding: Rounding): number {
    const read = this.#read;
    this.#readGrid(this.#axes[0], x, fine, read);
    this.found.set(read);
    if (companions.length === 0) return Number.NaN;
    let estimate = rounding.relative * Math.abs(read[0]) + rounding.absolute;
    for (let c = 0; c < companions.length; c++) {
      const { order, corrects } = this.#companions[c];
      const moves = this.corrections[c];
      this.#readGrid(this.#axes[1 + c], x, companions[c], moves);
      for (let k = 0; k < moves.length; k++) {
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
  ): void {
    for (let k = 0; k < axes.length; k++) axes[k].make(nodes[k], x[k], this.#order);
    const [first, second = NO_AXIS, third = NO_AXIS] = axes;
    const line = nodes[0].length;
    const plane = nodes.length > 1 ? line * nodes[1].length : line;
    for (let k = 0; k < into.length; k++) {
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
