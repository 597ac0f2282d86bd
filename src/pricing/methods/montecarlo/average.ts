/** Geometric averages under a deterministic volatility, which are log-normal: control variates, and prices. */
import { hostNormalCdf as normalCdf } from "../../../models/index.ts";
import { integrate, integratedVariance, type PiecewiseConstant } from "../../../market/index.ts";

/** A spot under a deterministic volatility. */
export interface LogNormalSpot {
  readonly spot: number;
  readonly rates: PiecewiseConstant;
  readonly dividendYield: number;
  readonly sigma: PiecewiseConstant;
}

/** The times at which the spot is fixed, in years, and the weights of its logarithms. */
export interface Fixings {
  readonly times: readonly number[];
  readonly weights: readonly number[];
}

/**
 * The law of Σ wₖ·ln S(tₖ), a normal number:
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

/** The trapezoidal rule for (1/T)∫₀ᵀ ln S dt on the ends of steps; T is the last. */
export function trapezoidal(ends: readonly number[]): Fixings {
  const times = [0, ...ends];
  const last = times[times.length - 1];
  const weights = times.map((t, k) => ((times[k + 1] ?? t) - (times[k - 1] ?? t)) / (2 * last));
  return { times, weights };
}

/**
 * The law of (1/T)∫₀ᵀ ln S dt, a normal number:
 *
 *   mean = ln S₀ + (1/T)∫₀ᵀ (∫₀ᵗ (r − q) ds − V(t)/2) dt,   variance = (2/T²)∫₀ᵀ V(t)·(T − t) dt,   V(t) = ∫₀ᵗ σ² ds
 *
 * Integrands are quadratic where r and σ are constant, so that Simpson's rule is exact between their dates.
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

/** Returns E[max(φ·(exp(N(mean, variance)) − strike), 0)]. */
export function logNormalOption(right: "call" | "put", strike: number, mean: number, variance: number): number {
  const sign = right === "call" ? 1 : -1;
  const forward = Math.exp(mean + 0.5 * variance);
  const width = Math.sqrt(variance);
  if (!(width > 0)) return Math.max(sign * (forward - strike), 0);
  const d = (mean - Math.log(strike)) / width;
  return sign * (forward * normalCdf(sign * (d + width)) - strike * normalCdf(sign * d));
}
