/** Stencils of nodes of an axis, with the weights of their values in derivatives. */
import { cellAt } from "../../../base/search.ts";

/**
 * Returns the weights of finite differences on arbitrary nodes, where weights[k][j] is the weight of node j in the k-th
 * derivative at `x`:
 *
 *   f⁽ᵏ⁾(x) ≈ Σⱼ weights[k][j]·f(nodes[j]),      k = 0 … highest.
 *
 * They are exact for polynomials of degree nodes.length − 1, so of order nodes.length − k (one more where the nodes lie
 * symmetrically about x and nodes.length − k is odd). `x` need not be a node, nor lie between nodes. Cost:
 * nodes.length²·highest/2 multiplications. Source: Fornberg, *Calculation of weights in finite difference formulas*,
 * SIAM Review 40 (1998), the algorithm `weights`. Verified: test/pde/fdm/equation/fornberg, against the tables of
 * Fornberg (1988) and polynomials on random nodes.
 */
export function fornbergWeights(x: number, nodes: ArrayLike<number>, highest: number): readonly Float64Array[] {
  const weights = Array.from({ length: highest + 1 }, () => new Float64Array(nodes.length));
  fillWeights(weights, highest, x, nodes, 0, nodes.length);
  return weights;
}

/**
 * Writes Fornberg's weights of `count` nodes from index `first` on into `weights`, one array for each derivative up to
 * `highest`.
 */
export function fillWeights(
  weights: readonly Float64Array[],
  highest: number,
  x: number,
  nodes: ArrayLike<number>,
  first: number,
  count: number,
): void {
  for (let k = 0; k <= highest; k++) weights[k].fill(0, 0, count);
  weights[0][0] = 1;
  let c1 = 1;
  for (let i = 1; i < count; i++) {
    const node = nodes[first + i];
    const from = nodes[first + i - 1] - x;
    const here = node - x;
    let c2 = 1;
    for (let j = 0; j < i; j++) c2 *= node - nodes[first + j];
    for (let k = Math.min(i, highest); k >= 0; k--)
      weights[k][i] = (c1 / c2) * ((k > 0 ? k * weights[k - 1][i - 1] : 0) - from * weights[k][i - 1]);
    for (let j = 0; j < i; j++)
      for (let k = Math.min(i, highest); k >= 0; k--)
        weights[k][j] = (here * weights[k][j] - (k > 0 ? k * weights[k - 1][j] : 0)) / (node - nodes[first + j]);
    c1 = c2;
  }
}

/** The number of nodes with which derivative `k` has an error of O(h^order), wherever they lie. */
export const stencilLength = (order: number, k: number): number => order + k;

/**
 * Returns the index of the first of `length` neighbouring nodes that are centred about x, as far as the ends of the
 * ascending `nodes` allow.
 */
export function stencilStart(nodes: ArrayLike<number>, x: number, length: number): number {
  const low = cellAt(nodes, x);
  const high = Math.min(low + 1, nodes.length - 1);
  // An odd stencil is centred at the nearer node.
  const nearest = x - nodes[low] > nodes[high] - x ? high : low;
  const start = length % 2 === 0 ? low - (length / 2 - 1) : nearest - (length - 1) / 2;
  return Math.min(Math.max(start, 0), nodes.length - length);
}

/** The interpolation weights of neighbouring nodes of an axis, the first of which has the index `start`. */
interface Stencil {
  readonly start: number;
  readonly weights: Float64Array;
}

/** Returns the stencil for derivative `k` at `x` with an error of O(h^order). */
export function stencilOf(nodes: Float64Array, x: number, k: number, order: 2 | 4): Stencil {
  const length = Math.min(stencilLength(order, k), nodes.length);
  const start = stencilStart(nodes, x, length);
  return { start, weights: fornbergWeights(x, nodes.subarray(start, start + length), k)[k] };
}
