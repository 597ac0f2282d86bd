/** Greeks put together from measures, or the estimates of their errors. */
import type { SensitivityName } from "../../book/index.ts";
import type { SeveralSensitivities } from "../columns/result-columns.ts";
import type { Terms } from "../terms.ts";
import { CORRELATION, CROSS, DELTA, GAMMA, type Pair, pairsOf, RHO, THETA, VEGA } from "./differences.ts";

/** The sensitivities of a trade, in total and by underlying. */
export interface Greeks {
  /** The sensitivities to a common move of all underlyings. */
  readonly total: Readonly<Record<SensitivityName, number>>;
  /** The sensitivities to each underlying and to pairs of them. */
  readonly several: SeveralSensitivities;
}

/**
 * Returns the sensitivities of a trade, where `measure` returns the one with a name. A total that has no measure of its
 * own is the sum over the underlyings. This is exact for derivatives, and an upper bound for error estimates.
 */
export function greeksOf(
  { assets, correlations }: Terms,
  names: readonly string[],
  measure: (name: string) => number,
): Greeks {
  const each = assets.map((_, i) => ({ delta: measure(DELTA(i)), gamma: measure(GAMMA(i)), vega: measure(VEGA(i)) }));
  const total = (name: (asset: "all") => string, kind: "delta" | "gamma" | "vega"): number => {
    const together = each.length === 1 ? Number.NaN : measure(name("all"));
    return Number.isNaN(together) ? each.reduce((sum, one) => sum + one[kind], 0) : together;
  };
  const byPair = (count: number, name: (pair: Pair) => string) =>
    pairsOf(count).map((pair) => [names[pair[0]], names[pair[1]], measure(name(pair))] as const);
  return {
    total: {
      delta: total(DELTA, "delta"),
      gamma: total(GAMMA, "gamma"),
      theta: measure(THETA),
      vega: total(VEGA, "vega"),
      rho: measure(RHO),
    },
    several: {
      assets: each,
      crossGamma: byPair(assets.length, CROSS),
      correlation: byPair(correlations.length, CORRELATION),
    },
  };
}

/** The slope of a function at a point, and its error where the function has a kink or a jump there. */
export interface KnownSlope {
  readonly slope: number;
  /** True where the function has a kink or a jump at the point, so that it has no derivative there. */
  readonly isBent: boolean;
  /** Half of the difference of the slopes on both sides at a kink; NaN at a jump, where no slope exists. */
  readonly error: number;
}

/** Differences above this part of the values are no rounding. */
const ROUNDING = 1e-9;
/** Slopes that differ by more than this are those of a bend. */
const BEND = 1e-3;

/** Returns the mean of the slopes on both sides of a point, at a distance `by`; a jump at the point is left out. */
export function slopeAcross(f: (at: number) => number, point: number, by: number): KnownSlope {
  const [lowest, low, high, highest] = [-2, -1, 1, 2].map((k) => f(point + k * by));
  const [below, above] = [(low - lowest) / by, (highest - high) / by];
  const mean = 0.5 * (below + above);
  if (Math.abs(high - low - 2 * by * mean) > ROUNDING * (Math.abs(high) + Math.abs(low)) + BEND * by)
    return { slope: mean, isBent: true, error: Number.NaN };
  const isBent = Math.abs(above - below) > BEND;
  return { slope: (high - low) / (2 * by), isBent, error: isBent ? 0.5 * Math.abs(above - below) : 0 };
}

/** The market at one spot and time: rate and yield per year, volatility per √year. */
export interface SpotMarket {
  readonly spot: number;
  readonly rate: number;
  readonly dividendYield: number;
  readonly sigma: number;
}

/** Returns theta from the equation, V_t = rV − (r − q)S·V_S − ½σ²S²·V_SS, with today's r and σ. */
export function thetaOf(
  { spot, rate, dividendYield, sigma }: SpotMarket,
  value: number,
  delta: number,
  gamma: number,
): number {
  return rate * value - (rate - dividendYield) * spot * delta - 0.5 * sigma * sigma * spot * spot * gamma;
}
