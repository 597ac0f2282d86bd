/**
 * Reading a solution between its nodes: the polynomial of degree 5 through the six nodes around the spot, its value and
 * first two derivatives, as weights on the six values. Truncation O(h⁶), O(h⁵), O(h⁴) where the solution is smooth.
 */
export const WINDOW = 6;

export interface Stencil {
  /** Index of the first of the six nodes. */
  readonly first: number;
  /** Six weights each. */
  readonly value: readonly number[];
  readonly delta: readonly number[];
  readonly gamma: readonly number[];
}

export function stencil(nodes: Float64Array, spot: number): Stencil {
  const first = windowStart(nodes, spot);
  // Plain arrays: of this length they are much cheaper to make than typed ones.
  const value = [0, 0, 0, 0, 0, 0];
  const delta = [0, 0, 0, 0, 0, 0];
  const gamma = [0, 0, 0, 0, 0, 0];
  for (let k = 0; k < WINDOW; k++) {
    // p = Π (S − xⱼ)/(xₖ − xⱼ) over j ≠ k, with p′ and p″ by the product rule, one factor at a time.
    let p = 1;
    let p1 = 0;
    let p2 = 0;
    for (let j = 0; j < WINDOW; j++) {
      if (j === k) continue;
      const scale = 1 / (nodes[first + k] - nodes[first + j]);
      const factor = (spot - nodes[first + j]) * scale;
      p2 = p2 * factor + 2 * p1 * scale;
      p1 = p1 * factor + p * scale;
      p *= factor;
    }
    value[k] = p;
    delta[k] = p1;
    gamma[k] = p2;
  }
  return { first, value, delta, gamma };
}

/** First of the six nodes with the spot in the middle gap, as far as the ends allow. */
function windowStart(nodes: Float64Array, spot: number): number {
  const ascending = nodes[1] > nodes[0];
  let low = 0;
  let high = nodes.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (nodes[middle] <= spot === ascending) low = middle;
    else high = middle;
  }
  return Math.min(Math.max(low - 2, 0), nodes.length - WINDOW);
}
