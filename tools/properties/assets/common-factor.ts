/** Options on the best or worst of several assets that one factor correlates: given it they are independent. */
import { cdf, density } from "../normal.ts";
import { driftOf, type Motion } from "./densities.ts";

/** The loading of each asset's driver on the common factor; assets i and l then have the correlation aᵢ·aₗ. */
export interface CommonFactor {
  readonly motions: readonly Motion[];
  readonly loadings: readonly number[];
}

/** Deviations beyond which nothing is left. */
const REACH = 9;
/** The intervals of the integral over ln k are at least so many, and no longer than WIDEST. */
const LEVELS = 400;
const WIDEST = 0.05;
/** How far below the strike ln k still counts. */
const BELOW = 40;
/** The distance of the nodes of the integral over the factor. */
const SPACING = 0.14;

/**
 * The discounted mean of (best − K)⁺, (K − best)⁺ and the same of the worst. With F(k) the probability that the index
 * is below k, a put is ∫₀ᴷ F dk, a call ∫ from K on of 1 − F dk. The integral is one over ln k by Simpson's rule, and
 * F and 1 − F ones over the factor, each without a difference that cancels: under a large variance a call is worth what
 * the remotest k pay. A call moves the factor by up to its loading times the deviation.
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
  const moves = motions.map((_, i) => loadings[i] * deviations[i]);
  const [low, high] = [Math.min(0, ...moves) - REACH, Math.max(0, ...moves) + REACH];
  const nodes = Array.from({ length: Math.ceil((high - low) / SPACING) }, (_, n) => low + SPACING * n);
  const weights = nodes.map((z) => SPACING * density(z));
  /** The probability that the index is on the side of x that pays. */
  const probability = (x: number): number =>
    nodes.reduce((sum, z, n) => {
      const all = motions.map((_, i) => {
        const own = Math.sqrt(1 - loadings[i] ** 2) * deviations[i];
        return (x - means[i] - moves[i] * z) / own;
      });
      // All on one side, or not all on the other.
      const isProduct = (kind === "best") === (right === "put");
      const product = isProduct
        ? all.reduce((some, u) => some * cdf(right === "put" ? u : -u), 1)
        : -Math.expm1(all.reduce((some, u) => some + Math.log1p(-cdf(right === "put" ? u : -u)), 0));
      return sum + weights[n] * product;
    }, 0);
  const lowest = Math.max(Math.min(...means.map((mean, i) => mean - REACH * deviations[i])), Math.log(strike) - BELOW);
  const highest = Math.max(...means.map((mean, i) => mean + deviations[i] * (REACH + deviations[i])));
  const [from, to] = right === "call" ? [Math.log(strike), highest] : [lowest, Math.log(strike)];
  if (!(from < to)) return 0;
  return Math.exp(-rate * expiry) * simpson((x) => Math.exp(x) * probability(x), from, to);
}

/** Simpson's rule. */
function simpson(f: (x: number) => number, from: number, to: number): number {
  const count = Math.max(LEVELS, 2 * Math.ceil((to - from) / (2 * WIDEST)));
  const h = (to - from) / count;
  let sum = f(from) + f(to);
  for (let i = 1; i < count; i++) sum += (i % 2 === 1 ? 4 : 2) * f(from + i * h);
  return (sum * h) / 3;
}
