/**
 * Extended SSVI: a slice of each expiry with its own θ, ρ and ψ = θφ, without static arbitrage.
 *
 *   w(k) = ½·(θ + ρψk + √((ψk + θρ)² + θ²(1 − ρ²)))
 *
 * Let u = ψ(1 + ρ) and d = ψ(1 − ρ), twice the slopes of the wings. A slice has no butterfly arbitrage if max(u, d) ≤ 4
 * and ψ·max(u, d) ≤ 4θ (Gatheral & Jacquier 2014, Theorem 4.2), and no calendar arbitrage with the slice before it,
 * marked by ′, if θ ≥ θ′, u ≥ u′, d ≥ d′ and ψ/θ ≤ ψ′/θ′ (Hendriks & Martini 2019, Proposition 3.5). The expiries are
 * fitted in order, as Corbetta et al. do; these conditions are the bounds of each fit.
 *
 * Source: Corbetta, Cohort, Laachir & Martini, *Robust calibration and arbitrage-free interpolation of SSVI slices*,
 * Decisions in Economics and Finance 42 (2019). Verified: test/calibration/essvi, on surfaces of the model and by
 * Gatheral's g and total variances far beyond the quotes.
 */
import {
  checkedQuotes,
  countWithWords,
  quoteCountOf,
  type ExpiryQuotes,
  type SurfaceFit,
  type UnderlyingQuotes,
} from "./fit.ts";
import { withDifferences } from "./differences.ts";
import { leastSquares, type LeastSquaresFit } from "./least-squares.ts";
import { ssviVariance } from "../market/index.ts";
import { describeSlices, expiryRangeOf, limitedNodesMessage, sliceOf } from "./variance-surface.ts";

/** θ, u and d of a slice. */
interface WingSlopes {
  readonly theta: number;
  readonly up: number;
  readonly down: number;
}

/**
 * The step from one slice to the next: the increase of θ, the step of u + d as a fraction of its largest, and the share
 * of u in it.
 */
const STARTS = [
  [0.3, 0.3],
  [0.3, 0.6],
  [0.8, 0.2],
] as const;

/** Total variances at the money below this are none. */
const TINY = 1e-10;

/** The least share of the largest step of the first slice, and the largest share: no rounding beyond the bounds. */
const SHARES = [1e-4, 1 - 1e-12] as const;

/** The least part of a step that each wing has, which keeps ρ between −0.999 and 0.999. */
const LEAST_PART = 5e-4;

/**
 * Fits the arbitrage-free eSSVI surface that is closest to the quotes in implied volatility. @throws SpecError for
 * quotes that cannot be fitted
 */
export function fitEssvi(quotes: UnderlyingQuotes): SurfaceFit {
  const { expiries } = checkedQuotes(quotes);
  const found: WingSlopes[] = [];
  const fits = expiries.map((expiry): LeastSquaresFit => {
    const { fit, slopes } = fitSlice(expiry, found.at(-1));
    found.push(slopes);
    return fit;
  });
  const slices = expiries.map((expiry, i) => sliceOf(expiryRangeOf(expiry), { kind: "ssvi", ...ssviOf(found[i]) }));
  const { limited, ...described } = describeSlices(slices, quotes);
  const few = expiries.filter((expiry) => quoteCountOf([expiry]) < 3).length;
  const messages = [
    ...(few > 0
      ? [`${countWithWords(few, "expiry has", "expiries have")} fewer than 3 quotes: ρ and ψ are not determined`]
      : []),
    ...limitedNodesMessage(limited),
  ];
  const parameters = found.map(ssviOf);
  return {
    status: few === 0 && fits.every(({ status }) => status === "converged") ? "converged" : "not converged",
    ...(messages.length > 0 ? { message: messages.join("; ") } : {}),
    model: "essvi",
    parameters: {
      theta: parameters.map(({ theta }) => theta),
      rho: parameters.map(({ rho }) => rho),
      psi: parameters.map(({ theta, phi }) => theta * phi),
    },
    ...described,
  };
}

function ssviOf({ theta, up, down }: WingSlopes): { theta: number; phi: number; rho: number } {
  const total = up + down;
  return { theta, phi: (0.5 * total) / theta, rho: total > 0 ? (up - down) / total : 0 };
}

function fitSlice(
  { time, logMoneyness, implied, weights }: ExpiryQuotes,
  before: WingSlopes | undefined,
): { readonly fit: LeastSquaresFit; readonly slopes: WingSlopes } {
  const nearest = logMoneyness.reduce((best, k, i) => (Math.abs(k) < Math.abs(logMoneyness[best]) ? i : best), 0);
  const theta = implied[nearest] ** 2 * time;
  const least = before?.theta ?? 0;
  const spec = {
    lower: before === undefined ? [TINY, SHARES[0], LEAST_PART] : [0, 0, LEAST_PART],
    upper: [Number.POSITIVE_INFINITY, SHARES[1], 1 - LEAST_PART],
    tolerance: 1e-13,
    maxEvaluations: 200,
  };
  const residuals = (point: Float64Array): Float64Array => {
    const slice = ssviOf(slopesAt(point, before));
    return Float64Array.from(logMoneyness, (k, i) => {
      const { variance } = ssviVariance({ ...slice, k });
      return Math.sqrt(weights[i]) * (Math.sqrt(Math.max(variance, 1e-14) / time) - implied[i]);
    });
  };
  const increase = Math.max(theta - least, 1e-3 * theta);
  const fits = STARTS.map((start) => leastSquares([increase, ...start], spec, withDifferences(residuals, spec)));
  const fit = fits.reduce((a, b) => (b.sum < a.sum ? b : a));
  return { fit, slopes: slopesAt(fit.point, before) };
}

/** The slice that lies a share of the largest step without arbitrage from the one before. */
function slopesAt([increase, share, part]: Float64Array, before: WingSlopes | undefined): WingSlopes {
  const from = before ?? { theta: 0, up: 0, down: 0 };
  const theta = from.theta + increase;
  const psi = 0.5 * (from.up + from.down);
  const steepness = before === undefined ? Number.POSITIVE_INFINITY : 2 * psi * (theta / from.theta - 1);
  const step = share * Math.max(Math.min(steepness, room(from.up, part), room(from.down, 1 - part)), 0);
  return { theta, up: from.up + step * part, down: from.down + step * (1 - part) };

  /** The largest m with s + m·λ ≤ 4 and (ψ + m/2)(s + m·λ) ≤ 4θ. */
  function room(slope: number, lambda: number): number {
    const linear = (4 - slope) / lambda;
    // (λ/2)·m² + b·m − c ≤ 0, in the form that does not cancel.
    const b = 0.5 * slope + psi * lambda;
    const c = 4 * theta - psi * slope;
    const root = b + Math.sqrt(b * b + 2 * lambda * Math.max(c, 0));
    return Math.min(linear, (2 * Math.max(c, 0)) / root);
  }
}
