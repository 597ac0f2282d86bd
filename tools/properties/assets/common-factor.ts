/** Options on the best or worst of several assets that one factor correlates: given it they are independent. */
import { cdf } from "../normal.ts";
import { driftOf, type Motion, ruleOf } from "./densities.ts";

/** The loading of each asset's driver on the common factor; assets i and l then have the correlation aᵢ·aₗ. */
export interface CommonFactor {
  readonly motions: readonly Motion[];
  readonly loadings: readonly number[];
}

/** Deviations beyond which nothing is left. */
const REACH = 9;
/** Intervals of the integral over ln k. */
const LEVELS = 400;
const NORMAL = ruleOf({ from: -Infinity, to: Infinity, deviation: 1, parts: [{ weight: 1, mean: 0 }] }, 120);

/**
 * The discounted mean of (best − K)⁺, (K − best)⁺ and the same of the worst. With F(k) the probability that the index
 * is below k, a put is ∫₀ᴷ F dk, a call ∫ from K on of 1 − F dk. The integral is one over ln k by Simpson's rule, and
 * F one over the factor.
 */
export function rainbowValue(
  { motions, loadings }: CommonFactor,
  kind: "best" | "worst",
  right: "call" | "put",
  strike: number,
): number {
  const [{ rate, expiry }] = motions;
  const deviations = motions.map(({ volatility }) => volatility * Math.sqrt(expiry));
  const means = motions.map((motion) => Math.log(motion.spot) + driftOf(motion) * expiry);
  const below = (x: number): number =>
    NORMAL.nodes.reduce((sum, z, n) => {
      const product = motions.reduce((all, _, i) => {
        const own = Math.sqrt(1 - loadings[i] ** 2) * deviations[i];
        const u = (x - means[i] - loadings[i] * deviations[i] * z) / own;
        return all * (kind === "best" ? cdf(u) : cdf(-u));
      }, 1);
      return sum + NORMAL.weights[n] * (kind === "best" ? product : 1 - product);
    }, 0);
  const lowest = Math.min(...means.map((mean, i) => mean - REACH * deviations[i]));
  const highest = Math.max(...means.map((mean, i) => mean + deviations[i] * (REACH + deviations[i])));
  const [from, to] = right === "call" ? [Math.log(strike), highest] : [lowest, Math.log(strike)];
  if (!(from < to)) return 0;
  return (
    Math.exp(-rate * expiry) * simpson((x) => Math.exp(x) * (right === "call" ? 1 - below(x) : below(x)), from, to)
  );
}

/** Simpson's rule. */
function simpson(f: (x: number) => number, from: number, to: number): number {
  const h = (to - from) / LEVELS;
  let sum = f(from) + f(to);
  for (let i = 1; i < LEVELS; i++) sum += (i % 2 === 1 ? 4 : 2) * f(from + i * h);
  return (sum * h) / 3;
}
