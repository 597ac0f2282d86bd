/**
 * Averages and extremes of a lognormal asset on dates, by quadrature of one dimension from date to date, and their
 * closed forms. σ may vary in time: all that counts are the variances between dates.
 */
import { cdf, density } from "../../properties/normal.ts";
import { panels, type Rule } from "./rules.ts";

/** ln of the asset from one date to the next: what it does between `n` dates. */
export interface Increments {
  readonly means: readonly number[];
  readonly variances: readonly number[];
}

/** Increments of an asset with drift r − q up to each of the dates. */
export function incrementsOf(
  dates: readonly number[],
  carry: number,
  variance: (from: number, to: number) => number,
): Increments {
  const from = (k: number): number => (k === 0 ? 0 : dates[k - 1]);
  const variances = dates.map((date, k) => variance(from(k), date));
  return { variances, means: dates.map((date, k) => carry * (date - from(k)) - 0.5 * variances[k]) };
}

const REACH = 9;

/**
 * E f(Z) of Z = ln(Σ wₖ·S_k/S₀): backwards Z_k = x_k + ln(wₖ + e^{Z_{k+1}}), whose density is a convolution each
 * (Carverhill & Clewlow 1990).
 */
export function meanOfSum(
  { means, variances }: Increments,
  weights: readonly number[],
  f: (z: number) => number,
  kinks: readonly number[],
): number {
  const last = means.length - 1;
  // The points carry the density of what is added to x_k.
  let points: Rule = { nodes: [Math.log(weights[last])], weights: [1] };
  for (let k = last; k >= 0; k--) {
    const s = Math.sqrt(variances[k]);
    const nodes = points.nodes.map((y) => y + means[k]);
    const [low, high] = [Math.min(...nodes) - REACH * s, Math.max(...nodes) + REACH * s];
    const before = k > 0 ? Math.sqrt(variances[k - 1]) : s;
    const rule = panels(low, high, Math.min(s, 1.5 * before, 0.7), k === 0 ? kinks : []);
    const kept: { node: number; weight: number }[] = [];
    rule.nodes.forEach((z, i) => {
      let sum = 0;
      nodes.forEach((node, j) => {
        const x = (z - node) / s;
        if (Math.abs(x) < REACH) sum += points.weights[j] * density(x);
      });
      const weight = (rule.weights[i] * sum) / s;
      if (weight > 1e-18) kept.push({ node: k === 0 ? z : Math.log(weights[k - 1] + Math.exp(z)), weight });
    });
    points = { nodes: kept.map(({ node }) => node), weights: kept.map(({ weight }) => weight) };
  }
  return points.nodes.reduce((sum, z, i) => sum + points.weights[i] * f(z), 0);
}

/**
 * E max(a·S₀, S_1, …, S_n)/S₀ (sign 1), or of the smallest (sign −1), a ≥ 1 (≤ 1): in units of the asset y =
 * ±ln(extreme/S) is max(y − x, 0) on the next date, where x has its drift under the asset's own measure.
 */
export function meanOfExtreme({ means, variances }: Increments, a: number, sign: 1 | -1): number {
  const growth = means.reduce((sum, mean, k) => sum + mean + 0.5 * variances[k], 0);
  let value = (y: number): number => Math.exp(sign * y);
  for (let k = means.length - 1; k >= 0; k--) {
    const s = Math.sqrt(variances[k]);
    const drift = sign * (means[k] + variances[k]);
    const left = variances.slice(k + 1);
    const narrow = left.length === 0 ? Infinity : Math.sqrt(left[0]);
    const total = Math.sqrt(variances.reduce((sum, one) => sum + one, 0));
    const reach = Math.abs(Math.log(a)) + REACH * total + total ** 2 + Math.abs(growth) + 1;
    const rule = panels(0, reach, Math.min(s, 1.5 * narrow, 0.5));
    const values = rule.nodes.map(value);
    const atZero = value(0);
    value = (y) => {
      let sum = atZero * cdf((drift - y) / s);
      rule.nodes.forEach((z, i) => {
        const x = (y - z - drift) / s;
        if (Math.abs(x) < REACH) sum += (rule.weights[i] * values[i] * density(x)) / s;
      });
      return sum;
    };
  }
  return Math.exp(growth) * value(sign * Math.log(a));
}

export interface LookbackTerms {
  readonly spot: number;
  readonly rate: number;
  readonly yield: number;
  readonly volatility: number;
  readonly expiry: number;
}

/**
 * The discounted mean of the largest spot, continuously monitored and at least `floor` ≥ spot: ∫ of the probability
 * that a level is reached, by quadrature over the level.
 */
export function meanOfLargest(terms: LookbackTerms, floor: number): number {
  return Math.exp(-terms.rate * terms.expiry) * (floor + excess(terms, floor, 1));
}

/** The same of the smallest, at most `ceiling` ≤ spot. */
export function meanOfSmallest(terms: LookbackTerms, ceiling: number): number {
  return Math.exp(-terms.rate * terms.expiry) * (ceiling - excess(terms, ceiling, -1));
}

/** ∫ of the probability that a level beyond is reached, over the levels from `from` on up (1) or down to zero (−1). */
function excess({ spot, rate, yield: q, volatility, expiry }: LookbackTerms, from: number, sign: 1 | -1): number {
  const s = volatility * Math.sqrt(expiry);
  const nu = rate - q - 0.5 * volatility ** 2;
  const reached = (x: number): number => {
    // x = ±ln(level/spot) ≥ 0.
    const drift = sign * nu * expiry;
    const image = Math.exp(Math.min((2 * sign * nu * x) / volatility ** 2, 700));
    const tail = cdf((-x - drift) / s);
    return cdf((drift - x) / s) + (tail === 0 ? 0 : image * tail);
  };
  const x0 = sign * Math.log(from / spot);
  const reach = x0 + REACH * s + s * s + Math.abs(nu) * expiry + 0.1;
  const { nodes, weights } = panels(x0, reach, Math.min(0.3 * s, 0.5));
  return nodes.reduce((sum, x, i) => sum + weights[i] * spot * Math.exp(sign * x) * Math.min(reached(x), 1), 0);
}
