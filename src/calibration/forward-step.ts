/** One implicit step of Dupire's equation on a grid of κ = K/F, with its derivatives by the local volatilities. */

import type { ExpiryQuotes } from "./fit.ts";
import { blackDeviation } from "./implied/volatility.ts";

/** Nodes k = ln κ and κ. */
export interface Grid {
  readonly k: Float64Array;
  readonly kappa: Float64Array;
}

export interface StepSpec {
  /** Years. */
  readonly elapsed: number;
  /** σ on the nodes. */
  readonly sigma: Float64Array;
  /** Prices before the step. */
  readonly before: Prices;
}

/**
 * Prices in units of the forward on the nodes. Both are kept, since neither follows from the other where one is small.
 */
export interface Prices {
  readonly calls: Float64Array;
  readonly puts: Float64Array;
}

export interface Step {
  readonly prices: Prices;
  /** The derivative of the prices by σ of the nodes of one region. */
  readonly derivative: (region: Int32Array, part: number) => Float64Array;
  /** κ²·∂²c/∂κ² at a node. */
  readonly density: (node: number) => number;
  /** 2·(∂c/∂t)/(κ²·∂²c/∂κ²) at a node, with ∂c/∂t of the step's own interpolation in time. */
  readonly localSquare: (node: number) => number;
}

/**
 * Solves (1 − ½Δt·σ²·D)·c = before, D = κ²·∂²/∂κ² by three points; at both ends the price does not change. Cost: 4
 * words and 12 flops a node, and 6 flops for each derivative.
 */
export function forwardStep({ k, kappa }: Grid, { elapsed, sigma, before }: StepSpec): Step {
  const n = kappa.length;
  const [lower, upper] = [new Float64Array(n), new Float64Array(n)];
  for (let j = 1; j < n - 1; j++) {
    const [left, right] = [kappa[j] - kappa[j - 1], kappa[j + 1] - kappa[j]];
    const scale = (2 * kappa[j] * kappa[j]) / (left + right);
    lower[j] = scale / left;
    upper[j] = scale / right;
  }
  // Thomas: the pivots and the factors serve every right side.
  const [inverse, factor, above] = [new Float64Array(n), new Float64Array(n), new Float64Array(n)];
  inverse[0] = 1;
  for (let j = 1; j < n; j++) {
    const half = j < n - 1 ? 0.5 * elapsed * sigma[j] * sigma[j] : 0;
    const below = -half * lower[j];
    above[j] = -half * upper[j];
    factor[j] = below * inverse[j - 1];
    inverse[j] = 1 / (1 + half * (lower[j] + upper[j]) - factor[j] * above[j - 1]);
  }
  const solve = (right: Float64Array): Float64Array => {
    for (let j = 1; j < n; j++) right[j] -= factor[j] * right[j - 1];
    right[n - 1] *= inverse[n - 1];
    for (let j = n - 2; j >= 0; j--) right[j] = (right[j] - above[j] * right[j + 1]) * inverse[j];
    return right;
  };
  const prices = { calls: solve(before.calls.slice()), puts: solve(before.puts.slice()) };
  const density = (j: number): number => {
    const values = k[j] >= 0 ? prices.calls : prices.puts;
    return j > 0 && j < n - 1 ? lower[j] * (values[j - 1] - values[j]) + upper[j] * (values[j + 1] - values[j]) : 0;
  };
  let byTime: Float64Array | undefined;
  return {
    prices,
    density,
    derivative: (region, part) => {
      const right = new Float64Array(n);
      for (let j = 0; j < n; j++) if (region[j] === part) right[j] = elapsed * sigma[j] * density(j);
      return solve(right);
    },
    localSquare: (node) => {
      byTime ??= solve(sigma.map((one, j) => 0.5 * one * one * density(j)));
      return (2 * byTime[node]) / density(node);
    },
  };
}

/** A grid beyond the range of all quotes, denser about the forward, by a hyperbolic sine. */
export function gridFor(expiries: readonly ExpiryQuotes[], nodes: number): Grid {
  const widest = Math.max(
    ...expiries.map(({ time, implied, logMoneyness }) => {
      const deviation = Math.max(...implied) * Math.sqrt(time);
      return Math.max(6 * deviation, ...logMoneyness.map((k) => Math.abs(k) + 2 * deviation));
    }),
  );
  const narrowest = Math.min(...expiries.map(({ time, implied }) => Math.min(...implied) * Math.sqrt(time)));
  const bend = Math.asinh(widest / (4 * narrowest));
  const k = Float64Array.from(
    { length: nodes },
    (_, j) => (widest * Math.sinh(bend * ((2 * j) / (nodes - 1) - 1))) / Math.sinh(bend),
  );
  return { k, kappa: k.map(Math.exp) };
}

/** The cell of the grid that k lies in, so that there is a node on each side of it. */
export function cellOf({ k: x }: Pick<Grid, "k">, k: number): number {
  let [low, high] = [1, x.length - 3];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (x[middle] <= k) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Prices below this are none. */
const TINY = 1e-200;

/** An option out of the money that is read from a grid. */
export interface ImpliedOption {
  /** σ√t. */
  readonly deviation: number;
  readonly price: number;
  /** The derivatives of ln price by the values at the four nodes from `first` on. */
  readonly weights: readonly number[];
  readonly first: number;
}

/**
 * The option out of the money at k from its values on the nodes, in units of the forward: by the cubic through the
 * logarithms at the four nodes about k, which keeps the relative accuracy of small ones.
 */
export function impliedAt(grid: Pick<Grid, "k">, k: number, valueAt: (node: number) => number): ImpliedOption {
  const first = cellOf(grid, k) - 1;
  const x = grid.k;
  let log = 0;
  const weights = [0, 0, 0, 0];
  for (let a = first; a <= first + 3; a++) {
    let product = 1;
    for (let b = first; b <= first + 3; b++) if (b !== a) product *= (k - x[b]) / (x[a] - x[b]);
    const value = Math.max(valueAt(a), TINY);
    log += product * Math.log(value);
    weights[a - first] = product / value;
  }
  const strike = Math.exp(k);
  // What is interpolated between values at their bounds may leave them.
  const price = Math.min(Math.exp(log), Math.min(strike, 1) * (1 - 1e-15));
  const { deviation } = blackDeviation({ quoted: { forward: 1, strike, price, sign: k >= 0 ? 1 : -1 } });
  return { deviation, price, weights, first };
}

/** The derivative of the implied volatility by ln price. */
export function byLogPrice({ deviation, price }: ImpliedOption, k: number, t: number): number {
  const d1 = -k / deviation + 0.5 * deviation;
  return price / (Math.max(Math.exp(-0.5 * d1 * d1) / Math.sqrt(2 * Math.PI), 1e-300) * Math.sqrt(t));
}
