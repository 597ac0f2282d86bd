/** Weighted sums of logarithms of spots under deterministic volatilities, which are normal numbers. */
import { integrate, integratedProduct, integratedVariance, type PiecewiseConstant } from "../../market/index.ts";
import type { Terms } from "../terms.ts";
import { sigmaOf } from "./in-time.ts";

/** A spot with deterministic volatility and rates. */
export interface LogNormalSpot {
  readonly spot: number;
  readonly rates: PiecewiseConstant;
  readonly dividendYield: number;
  readonly sigma: PiecewiseConstant;
}

/** A weighted sum of log-spots: the fixing times in years, and the weight of each. */
export interface Fixings {
  readonly times: readonly number[];
  readonly weights: readonly number[];
}

/**
 * Returns the mean and variance of Σ wₖ·ln S(tₖ), which is normally distributed:
 *
 *   mean = Σ wₖ·(ln S₀ + ∫₀^tₖ (r − q − σ²/2) ds),   variance = Σₖ Σⱼ wₖ·wⱼ·∫₀^min(tₖ,tⱼ) σ² ds
 */
export function weightedLogarithm(
  { spot, rates, dividendYield, sigma }: LogNormalSpot,
  { times, weights }: Fixings,
): { readonly mean: number; readonly variance: number } {
  let mean = 0;
  let variance = 0;
  // Σ of the weights from fixing k on, by which its increment counts.
  let left = weights.reduce((sum, weight) => sum + weight, 0);
  let before = 0;
  times.forEach((t, k) => {
    const total = integratedVariance(sigma, t);
    mean += weights[k] * (Math.log(spot) + integrate(rates, t) - dividendYield * t - 0.5 * total);
    variance += left * left * (total - before);
    left -= weights[k];
    before = total;
  });
  return { mean, variance };
}

/**
 * Returns the fixings and weights of the trapezoidal rule for (1/T)∫₀ᵀ ln S dt, where T is the last of the given times.
 */
export function trapezoidal(ends: readonly number[]): Fixings {
  const times = [0, ...ends];
  const last = times[times.length - 1];
  const weights = times.map((t, k) => ((times[k + 1] ?? t) - (times[k - 1] ?? t)) / (2 * last));
  return { times, weights };
}

/**
 * Returns the mean and variance of (1/T)∫₀ᵀ ln S dt, which is normally distributed:
 *
 *   mean = ln S₀ + (1/T)∫₀ᵀ (∫₀ᵗ (r − q) ds − V(t)/2) dt,   variance = (2/T²)∫₀ᵀ V(t)·(T − t) dt,   V(t) = ∫₀ᵗ σ² ds
 *
 * Integrands are quadratic where r and σ are constant, so that Simpson's rule is exact between the dates at which they
 * change.
 */
export function averageLogarithm(
  { spot, rates, dividendYield, sigma }: LogNormalSpot,
  expiry: number,
): { readonly mean: number; readonly variance: number } {
  const knots = [...rates.times, ...sigma.times].filter((time) => time > 0 && time < expiry);
  const ends = [0, ...new Set(knots.toSorted((a, b) => a - b)), expiry];
  const integral = (f: (t: number) => number): number =>
    ends
      .slice(1)
      .reduce((sum, to, k) => sum + ((to - ends[k]) / 6) * (f(ends[k]) + 4 * f(0.5 * (ends[k] + to)) + f(to)), 0);
  const total = (t: number): number => integratedVariance(sigma, t);
  const drift = integral((t) => integrate(rates, t) - dividendYield * t - 0.5 * total(t));
  return {
    mean: Math.log(spot) + drift / expiry,
    variance: (2 / (expiry * expiry)) * integral((t) => total(t) * (expiry - t)),
  };
}

/**
 * Returns the mean and variance of Σ wᵢ·ln Sᵢ(T) at expiry, which is normally distributed:
 *
 *   mean = Σ wᵢ·(ln Sᵢ + ∫₀ᵀ (r − qᵢ − σᵢ²/2) ds),   variance = Σᵢ Σⱼ wᵢ·wⱼ·ρᵢⱼ·∫₀ᵀ σᵢσⱼ ds
 */
export function basketLogarithm(
  { assets, rates, correlations, expiry }: Terms,
  spots: readonly number[],
  weights: readonly number[],
): { readonly mean: number; readonly variance: number } {
  const sigmas = assets.map(({ volatility }) => sigmaOf(volatility));
  const growth = integrate(rates, expiry);
  let [mean, variance] = [0, 0];
  weights.forEach((w, i) => {
    const drift = growth - assets[i].underlying.dividends.yield * expiry;
    mean += w * (Math.log(spots[i]) + drift - 0.5 * integratedVariance(sigmas[i], expiry));
    weights.forEach((other, j) => {
      variance += w * other * correlations[i][j] * integratedProduct(sigmas[i], sigmas[j], expiry);
    });
  });
  return { mean, variance: Math.max(variance, 0) };
}
