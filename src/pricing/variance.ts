/** The variance of the logarithm of a spot under any model of its volatility. */
import { power } from "../base/elementary.ts";
import { SpecError } from "../base/errors.ts";
import { varianceProfile } from "../pde/fdm/index.ts";
import { formula } from "../kernel/index.ts";
import {
  alphaOf,
  type GaussianFactors,
  type Heston,
  integratedVariance,
  sigmasOf,
  surfaceVolatility,
  varianceOf,
  type Volatility,
} from "../market/index.ts";
import { diffusionOf } from "./trade-problem.ts";

/** The least distance in ln S at which a volatility is looked at beside today's spot. */
const NEAR = 0.01;

/** Returns an approximation of the variance of ln S at a time in years. */
export function totalVariance(volatility: Volatility, spot: number, expiry: number): number {
  switch (volatility.kind) {
    case "deterministic":
      return integratedVariance(volatility.sigma, expiry);
    case "heston": {
      const v0 = varianceOf(volatility);
      const { deviation } = varianceOfHeston(volatility, v0, expiry);
      const mean = volatility.theta * expiry + (v0 - volatility.theta) * decayIntegral(volatility.kappa, expiry);
      return mean + 0.5 * deviation * decayIntegral(volatility.kappa, expiry);
    }
    case "sabr": {
      const atSpot = alphaOf(volatility, spot) * power(spot, volatility.beta - 1);
      return atSpot * atSpot * expiry * Math.exp(Math.min(volatility.nu * volatility.nu * expiry, 2));
    }
    case "gaussianFactors":
    case "stochasticLocal":
      throw new SpecError(`volatility.${volatility.kind}: not among several axes`);
    case "cev":
    case "displaced":
    case "local":
    case "surface": {
      const sigma = sigmaOf(volatility);
      // Volatility counts where the spot comes to: a second look one of its deviations away.
      const near = sigma(spot, 0);
      const step = Math.exp(Math.max(near * Math.sqrt(expiry), NEAR));
      const seen = [near, sigma(spot / step, 0.5 * expiry), sigma(spot * step, 0.5 * expiry), sigma(spot, expiry)];
      const largest = Math.max(...seen.filter((value) => Number.isFinite(value)), 0);
      // An event between these dates counts as well.
      const profile = varianceProfile({ diffusion: diffusionOf(volatility, spot, expiry), spots: [spot], expiry });
      const inTime = profile?.variances.reduce((sum, variance) => sum + variance, 0) ?? 0;
      return Math.max(largest * largest * expiry, inTime);
    }
    default:
      return volatility satisfies never;
  }
}

/** σ(S, t) of a local volatility. */
function sigmaOf(
  volatility: Exclude<
    Volatility,
    { kind: "deterministic" | "heston" | "sabr" | "gaussianFactors" | "stochasticLocal" }
  >,
): (spot: number, t: number) => number {
  const { added = 0 } = volatility;
  switch (volatility.kind) {
    case "cev":
      return (spot) => volatility.sigma * power(spot, volatility.beta - 1) + added;
    case "displaced":
      return (spot) => (volatility.sigma * (spot + volatility.shift)) / spot + added;
    case "surface":
      return (spot, t) => surfaceVolatility(volatility.surface, spot, t) + added;
    case "local": {
      const evaluate = formula(volatility.expression, ["S", "t"]);
      return (spot, t) => evaluate(spot, t + (volatility.start ?? 0)) + added;
    }
    default:
      return volatility satisfies never;
  }
}

/** Returns the integral (1 − e^{−kt})/k of e^{−ks} over 0 … t, which is t in the limit k → 0. */
export const decayIntegral = (k: number, t: number): number =>
  k * t < 1e-8 ? t * (1 - 0.5 * k * t) : -Math.expm1(-k * t) / k;

/**
 * Returns the mean and the standard deviation of Heston's variance at time t, given its value v₀ today (Cox, Ingersoll
 * & Ross 1985).
 */
export function varianceOfHeston(
  { kappa, theta, sigma }: Heston,
  v0: number,
  t: number,
): { mean: number; deviation: number } {
  const b = decayIntegral(kappa, t);
  const decay = 1 - kappa * b;
  const mean = theta + (v0 - theta) * decay;
  return { mean, deviation: sigma * Math.sqrt(v0 * decay * b + 0.5 * theta * kappa * b * b) };
}

/** Returns the exact variance of ln S at a time in years where it is normal, else NaN. */
export function varianceAt(volatility: Volatility, t: number): number {
  if (volatility.kind === "deterministic") return integratedVariance(volatility.sigma, t);
  if (volatility.kind !== "gaussianFactors") return Number.NaN;
  const { alpha, sigma, rho } = reducedFactors(volatility);
  return sigma.reduce(
    (sum, a, i) =>
      sum + sigma.reduce((part, b, j) => part + (i === j ? 1 : rho) * a * b * decay(alpha[i] + alpha[j], t), 0),
    0,
  );
}

/** ∫₀ᵗ e^(−a·s) ds. */
const decay = (a: number, t: number): number => (a === 0 ? t : -Math.expm1(-a * t) / a);

/**
 * Returns a model of Gaussian factors without factors that are constant, and with factors of equal mean reversion
 * merged.
 */
export function reducedFactors(model: GaussianFactors): {
  readonly alpha: number[];
  readonly sigma: number[];
  readonly rho: number;
} {
  const sigma = sigmasOf(model);
  const alpha = model.alpha.filter((_, i) => sigma[i] > 0);
  const moving = sigma.filter((one) => one > 0);
  const { rho } = model;
  if (moving.length < 2) return { alpha, sigma: moving, rho: 0 };
  const [a, b] = moving;
  if (alpha[0] !== alpha[1]) return { alpha, sigma: moving, rho };
  const both = Math.sqrt(Math.max(a * a + 2 * rho * a * b + b * b, 0));
  return both === 0 ? { alpha: [], sigma: [], rho: 0 } : { alpha: [alpha[0]], sigma: [both], rho: 0 };
}
