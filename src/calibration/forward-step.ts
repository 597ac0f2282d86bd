/**
 * One implicit step of Dupire's equation on a grid of κ = K/F, with its derivatives with respect to the local
 * volatilities.
 */

import type { ExpiryQuotes } from "./fit.ts";
import { blackDeviation } from "./implied/volatility.ts";
import { firstIndex } from "../base/search.ts";

/**
 * A grid in the moneyness κ = K/F: the nodes k = ln κ and κ, and the weights of the lower and the upper neighbour in
 * the three-point formula of D = κ²·∂²/∂κ², which are 0 at both ends.
 */
export interface MoneynessGrid {
  readonly k: Float64Array;
  readonly kappa: Float64Array;
  readonly lower: Float64Array;
  readonly upper: Float64Array;
}

/** The input of `forwardStep`. */
interface StepSpec {
  /** The length of the step in years. */
  readonly elapsed: number;
  /** The volatility σ at the nodes. */
  readonly sigma: Float64Array;
  /** The prices before the step. */
  readonly before: NodePrices;
}

/**
 * The undiscounted prices of calls and puts at the nodes, in units of the forward. Both are kept, because a small price
 * computed from the other one would lose its relative accuracy.
 */
export interface NodePrices {
  readonly calls: Float64Array;
  readonly puts: Float64Array;
}

/** A density or a price below this is none. */
const TINY = 1e-200;

/** The result of a forward step: the prices at the later time, and their derivatives. */
export interface ForwardStep {
  readonly prices: NodePrices;
  /** Returns κ²·∂²c/∂κ² at a node, which is proportional to the risk-neutral density. */
  readonly density: (node: number) => number;
  /**
   * Computes the derivatives of the prices with respect to x, where σ changes by x times `shape` on one of several
   * intervals of nodes, ends[p − 1] ≤ node < ends[p]. `take` receives the interval p and the derivatives at the nodes
   * `on[0]` to `on[1]`. Cost: 9 flops for each node of the interval, and 1 for each other node.
   */
  readonly derivatives: (
    moves: { readonly ends: Int32Array; readonly shape: Float64Array },
    on: readonly [number, number],
    take: (part: number, values: Float64Array) => void,
  ) => void;
}

/** Returns the grid with the given nodes k = ln κ. */
export function gridFromNodes(k: Float64Array): MoneynessGrid {
  const n = k.length;
  const kappa = k.map(Math.exp);
  const [lower, upper] = [new Float64Array(n), new Float64Array(n)];
  for (let j = 1; j < n - 1; j++) {
    const [left, right] = [kappa[j] - kappa[j - 1], kappa[j + 1] - kappa[j]];
    const scale = (2 * kappa[j] * kappa[j]) / (left + right);
    lower[j] = scale / left;
    upper[j] = scale / right;
  }
  return { k, kappa, lower, upper };
}

/**
 * Solves one implicit step of Dupire's equation, (1 − ½Δt·σ²·D)·c = before; at both ends the price does not change.
 * `before` are the prices at the earlier time. Cost: 4 reals and 12 flops per node.
 */
export function forwardStep({ k, lower, upper }: MoneynessGrid, { elapsed, sigma, before }: StepSpec): ForwardStep {
  const n = k.length;
  // Thomas: the pivots and the factors serve every right side.
  const [inverse, factor, above] = [new Float64Array(n), new Float64Array(n), new Float64Array(n)];
  inverse[0] = 1;
  for (let j = 1; j < n; j++) {
    const half = 0.5 * elapsed * sigma[j] * sigma[j];
    above[j] = -half * upper[j];
    factor[j] = -half * lower[j] * inverse[j - 1];
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
  /** x[j] = down[j]·x[j − 1] where the right side is 0 from j on, by elimination from the end. */
  const factorsAbove = (): Float64Array => {
    const down = new Float64Array(n);
    for (let j = n - 2; j > 0; j--) {
      const half = 0.5 * elapsed * sigma[j] * sigma[j];
      down[j] = (half * lower[j]) / (1 + half * (lower[j] + upper[j]) - half * upper[j] * down[j + 1]);
    }
    return down;
  };
  return {
    prices,
    density,
    derivatives: ({ ends, shape }, [from, to], take) => {
      const down = factorsAbove();
      const values = new Float64Array(n);
      for (let part = 0; part < ends.length; part++) {
        const [first, end] = [part > 0 ? ends[part - 1] : 0, ends[part]];
        for (let j = first; j < end; j++) {
          values[j] = elapsed * sigma[j] * shape[j] * density(j) - (j > first ? factor[j] * values[j - 1] : 0);
        }
        // What lies beyond the part follows from its last node.
        const beyond = end < n ? above[end - 1] * down[end] : 0;
        values[end - 1] /= 1 / inverse[end - 1] + beyond;
        for (let j = end - 2; j >= first; j--) values[j] = (values[j] - above[j] * values[j + 1]) * inverse[j];
        for (let j = end; j <= to; j++) values[j] = down[j] * values[j - 1];
        for (let j = first - 1; j >= from; j--) values[j] = -above[j] * inverse[j] * values[j + 1];
        take(part, values);
      }
    },
  };
}

/**
 * Returns a grid that extends beyond the range of all quotes and is denser near the forward. Its nodes are spaced by a
 * hyperbolic sine.
 */
export function gridForQuotes(expiries: readonly ExpiryQuotes[], nodes: number): MoneynessGrid {
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
  return gridFromNodes(k);
}

/** Returns the index of the grid's interval that contains k, but never of the first or the last interval. */
export const intervalOf = ({ k: x }: Pick<MoneynessGrid, "k">, k: number): number =>
  firstIndex(2, x.length - 2, (i) => x[i] > k) - 1;

/** An out-of-the-money option whose price is interpolated from a grid. */
export interface ImpliedOption {
  /** The total standard deviation σ√t, with σ its implied volatility. */
  readonly deviation: number;
  /** The undiscounted price in units of the forward. */
  readonly price: number;
  /** The derivatives of ln price with respect to the prices at the four nodes from index `first` on. */
  readonly weights: readonly number[];
  /** The index of the first of the four nodes. */
  readonly first: number;
}

/**
 * Returns the price and the implied standard deviation σ·√t of the out-of-the-money option at k = ln(K/F). `valueAt`
 * returns the price of such an option at a node, in units of the forward. The logarithms of the prices at four nodes
 * are interpolated by a cubic, which keeps the relative accuracy of small prices.
 */
export function impliedAt(grid: Pick<MoneynessGrid, "k">, k: number, valueAt: (node: number) => number): ImpliedOption {
  const first = intervalOf(grid, k) - 1;
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

/** Returns ∂σ/∂ln p, the derivative of an option's implied volatility with respect to the logarithm of its price. */
export function volatilityByLogPrice({ deviation, price }: ImpliedOption, k: number, t: number): number {
  const d1 = -k / deviation + 0.5 * deviation;
  return price / (Math.max(Math.exp(-0.5 * d1 * d1) / Math.sqrt(2 * Math.PI), 1e-300) * Math.sqrt(t));
}
