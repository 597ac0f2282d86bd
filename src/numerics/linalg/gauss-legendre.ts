/** Gauss–Legendre quadrature on the host. */
import { cosPi } from "../../base/elementary.ts";
import { memoize } from "../../base/memoize.ts";

/** A quadrature rule: nodes and weights on [−1, 1]. */
export interface QuadratureRule {
  readonly nodes: Float64Array;
  readonly weights: Float64Array;
}

/**
 * Returns the n-point Gauss–Legendre rule. Its nodes are the zeros of the Legendre polynomial Pₙ, by Newton's method
 * from cos(π(k + ¾)/(n + ½)); its weights are 2/((1 − x²)·Pₙ′(x)²). The rule is exact for polynomials of degree up to
 * 2n − 1. Source: Abramowitz and Stegun, 25.4.29.
 */
export const gaussLegendre = memoize(
  (n: number): QuadratureRule => {
    const nodes = new Float64Array(n);
    const weights = new Float64Array(n);
    for (let k = 0; k < n; k++) {
      let x = cosPi((k + 0.75) / (n + 0.5));
      let slope = 0;
      for (let iteration = 0; iteration < 100; iteration++) {
        const { value, derivative } = legendre(n, x);
        slope = derivative;
        const step = value / derivative;
        x -= step;
        if (Math.abs(step) < 1e-16) break;
      }
      nodes[k] = x;
      weights[k] = 2 / ((1 - x * x) * slope * slope);
    }
    return { nodes, weights };
  },
  64,
  String,
);

function legendre(n: number, x: number): { readonly value: number; readonly derivative: number } {
  let [before, value] = [0, 1];
  for (let k = 1; k <= n; k++) [before, value] = [value, ((2 * k - 1) * x * value - (k - 1) * before) / k];
  return { value, derivative: (n * (x * value - before)) / (x * x - 1) };
}
