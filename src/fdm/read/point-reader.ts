/** The reading of a value and its derivatives at a point of one or more axes. */
import { rememberedBy } from "../../remembered.ts";
import { richardsonCorrection } from "../time/schemes/richardson.ts";
import { stencilOf } from "./fornberg.ts";

/** The values V on a grid of ascending nodes: node (i₀, i₁, i₂) is at index start + (i₂·n₁ + i₁)·n₀ + i₀. */
export interface GridValues {
  readonly nodes: readonly Float64Array[];
  readonly values: Float64Array;
  readonly start: number;
}

/** The order at which a coarser solution converges, and whether it adds a correction or only estimates the error. */
export interface Convergence {
  readonly order: number;
  readonly corrects: boolean;
}

/** The rounding error of V, which joins the error estimate: a part of V, and the same everywhere. */
export interface Rounding {
  readonly relative: number;
  readonly absolute: number;
}

/** A derivative: the order of differentiation along each axis, and the axes by which it is named, in either order. */
interface Derivative {
  readonly orders: readonly number[];
  readonly labels: readonly string[];
}

/** The value, the first and the second derivatives by the names of the axes. */
export const derivativesOf = rememberedBy((names: readonly string[]): readonly Derivative[] => {
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

/** The nodes of an axis with weights other than 0, and their weights. */
interface AxisWeights {
  readonly nodes: Int32Array;
  readonly weights: Float64Array;
}

/** The weights of an axis for the value, the first and the second derivative at a point. */
interface AxisReading {
  readonly x: number;
  readonly order: 2 | 4;
  readonly weights: readonly AxisWeights[];
}

/** The last weights of an axis: thousands of entries on one mesh are read at one point. */
const lastReadings = new WeakMap<Float64Array, AxisReading>();

function axisWeights(nodes: Float64Array, x: number, order: 2 | 4): readonly AxisWeights[] {
  const last = lastReadings.get(nodes);
  if (last?.x === x && last.order === order) return last.weights;
  const weights = [0, 1, 2].map((derivative): AxisWeights => {
    const { start, weights } = stencilOf(nodes, x, derivative, order);
    const used = [...weights.keys()].filter((j) => weights[j] !== 0);
    return { nodes: Int32Array.from(used, (j) => start + j), weights: Float64Array.from(used, (j) => weights[j]) };
  });
  lastReadings.set(nodes, { x, order, weights });
  return weights;
}

/** The weights of an axis that a grid does not have. */
const NO_AXIS: AxisWeights = { nodes: new Int32Array(1), weights: new Float64Array([1]) };

/** The weights of the axes of a grid for each derivative at a point. */
interface GridWeights {
  readonly nodes: readonly Float64Array[];
  readonly x: readonly number[];
  readonly derivatives: readonly (readonly [AxisWeights, AxisWeights, AxisWeights])[];
}

/**
 * The factor by which an estimated error that is not corrected is raised: by a quarter, as in Roache's (1994) grid
 * convergence index where the order is known.
 */
const SAFETY = 1.25;

/**
 * A reader of entries with the same axes, one after another, by products of Fornberg's weights. What it has found stays
 * until it reads the next one. Entries on the same grid that are read at the same point share their weights.
 */
export class PointReader {
  /** The value and the derivatives in the order of `derivativesOf`, corrected; then 1, the factor of a source. */
  readonly found: Float64Array;
  /** The amounts that each companion has added, or would add, in the same order. */
  readonly corrections: readonly Float64Array[];
  readonly #derivatives: readonly Derivative[];
  readonly #companions: readonly Convergence[];
  readonly #order: 2 | 4;
  readonly #read: Float64Array;
  /** The last weights of the fine grid, then of each companion. */
  readonly #weights: (GridWeights | undefined)[] = [];

  constructor(names: readonly string[], companions: readonly Convergence[], order: 2 | 4) {
    this.#derivatives = derivativesOf(names);
    this.#companions = companions;
    this.#order = order;
    const { length } = this.#derivatives;
    this.#read = new Float64Array(length);
    this.found = new Float64Array(length + 1);
    this.found[length] = 1;
    this.corrections = companions.map(() => new Float64Array(length));
  }

  /** Reads an entry at `x`, and returns the error estimate of its value; NaN without companions. */
  read(x: readonly number[], fine: GridValues, companions: readonly GridValues[], rounding: Rounding): number {
    const read = this.#read;
    this.#readGrid(0, x, fine, read);
    this.found.set(read);
    if (companions.length === 0) return Number.NaN;
    let estimate = rounding.relative * Math.abs(read[0]) + rounding.absolute;
    for (let c = 0; c < companions.length; c++) {
      const { order, corrects } = this.#companions[c];
      const moves = this.corrections[c];
      this.#readGrid(1 + c, x, companions[c], moves);
      for (let k = 0; k < moves.length; k++) {
        moves[k] = richardsonCorrection(read[k], moves[k], order);
        if (corrects) this.found[k] += moves[k];
      }
      estimate += (corrects ? 1 : SAFETY) * Math.abs(moves[0]);
    }
    return estimate;
  }

  #readGrid(level: number, x: readonly number[], { nodes, values, start }: GridValues, into: Float64Array): void {
    const { derivatives } = this.#weightsAt(level, x, nodes);
    const line = nodes[0].length;
    const plane = nodes.length > 1 ? line * nodes[1].length : line;
    for (let k = 0; k < derivatives.length; k++) {
      const [{ nodes: n0, weights: w0 }, { nodes: n1, weights: w1 }, { nodes: n2, weights: w2 }] = derivatives[k];
      let sum = 0;
      for (let i2 = 0; i2 < n2.length; i2++) {
        let ofPlane = 0;
        for (let i1 = 0; i1 < n1.length; i1++) {
          const at = start + n2[i2] * plane + n1[i1] * line;
          let ofLine = 0;
          for (let i0 = 0; i0 < n0.length; i0++) ofLine += w0[i0] * values[at + n0[i0]];
          ofPlane += w1[i1] * ofLine;
        }
        sum += w2[i2] * ofPlane;
      }
      into[k] = sum;
    }
  }

  #weightsAt(level: number, x: readonly number[], nodes: readonly Float64Array[]): GridWeights {
    const last = this.#weights[level];
    if (last?.nodes === nodes && last.x === x) return last;
    const axes = nodes.map((axis, k) => axisWeights(axis, x[k], this.#order));
    const derivatives = this.#derivatives.map(({ orders }) => {
      const [first, second = NO_AXIS, third = NO_AXIS] = axes.map((weights, k) => weights[orders[k]]);
      return [first, second, third] as const;
    });
    return (this.#weights[level] = { nodes, x, derivatives });
  }
}
