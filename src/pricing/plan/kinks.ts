/** The spots and times at which the value of a trade has a kink, and which differences must not cross. */
import type { Volatility } from "../../market/index.ts";
import { totalVariance, varianceAt } from "../variance.ts";
import type { Terms } from "../terms.ts";

/** A spot at which the value has a kink: a barrier, or the extremum so far of a lookback. */
export interface Kink {
  readonly level: number;
  /** The time in years from which the level has an effect; before that time diffusion smooths the kink. */
  readonly from: number;
  /** The side of the level (+1 above, −1 below) to which a spot on the level itself belongs. */
  readonly side: 1 | -1;
}

/** Returns the spots of an asset at which the value of a trade has a kink. */
export function kinksOf({ payoff, barriers }: Terms, asset: number): readonly Kink[] {
  const bends = barriers.flatMap(({ asset: own = asset, type, level, monitoring, from }): Kink[] => {
    const first = monitoring.kind === "continuous" ? from : monitoring.times[0];
    if (own !== asset || first === undefined) return [];
    return [{ level, from: Math.max(first, 0), side: type.startsWith("up") ? 1 : -1 }];
  });
  if (payoff.kind !== "lookback") return bends;
  const { right, isFloating, extremum, strike, times, from } = payoff;
  const isMaximum = (right === "call") !== isFloating;
  const levels = [extremum ?? Number.NaN, isFloating ? Number.NaN : strike].filter((level) => level > 0);
  const first = times === "continuous" ? from : times.find((time) => time > 0);
  if (levels.length === 0 || first === undefined) return bends;
  // Of a strike and an extremum only the further one counts.
  const level = isMaximum ? Math.max(...levels) : Math.min(...levels);
  return [...bends, { level, from: first, side: isMaximum ? -1 : 1 }];
}

/** A volatility to scale moves with where none is known. */
const ASSUMED = 0.2;

/** Returns an approximation of the standard deviation of the log-spot at a time. */
export function deviationAt(volatility: Volatility, spot: number, time: number): number {
  if (time <= 0) return 0;
  if (volatility.kind === "gaussianFactors") return Math.sqrt(varianceAt(volatility, time));
  if (volatility.kind === "stochasticLocal") return ASSUMED * Math.sqrt(time);
  return Math.sqrt(totalVariance(volatility, spot, time));
}

/**
 * The width of the peak that a spot's density has where Heston's variance mostly stays near zero, relative to its
 * deviation: the fourth root of the ratio 2κθ/σ² of Feller's condition, below which the variance reaches zero.
 */
function peakOf(volatility: Volatility): number {
  if (volatility.kind !== "heston") return 1;
  const { kappa, theta, sigma } = volatility;
  return Math.min(1, Math.max(((2 * kappa * theta) / (sigma * sigma)) ** 0.25, LEAST_PEAK));
}

const LEAST_PEAK = 0.1;

/**
 * The share of the mean of the deviations to the first and the last date, over which the value of a script changes that
 * jumps on dates: with moves of the deviation to the last one, a delta was off by 1.8 times its estimate.
 */
const JUMP_WIDTH = 0.7;

/** Returns the last time at which the payoff observes the spot, in years. */
export function lastObservationTime({ payoff, expiry }: Terms): number {
  if (payoff.kind === "script") return payoff.dates.at(-1)?.time ?? 0;
  if (payoff.kind !== "average" && payoff.kind !== "lookback") return expiry;
  const { times } = payoff;
  return times === "continuous" ? expiry : Math.max(times.at(-1) ?? 0, 0);
}

/**
 * Returns the approximate standard deviation of the quantity that the payoff depends on, relative to an asset's spot:
 * that of the logarithm of an average, of a basket, or of the quotient of two spots of which the larger or the smaller
 * one counts; otherwise that of the logarithm of the spot at the last observation time, which none exceeds.
 */
export function widthOf(terms: Terms, asset: number, spots: readonly number[]): number {
  const { payoff, assets } = terms;
  const [{ volatility }, spot] = [assets[asset], spots[asset]];
  const at = (time: number): number => peakOf(volatility) * deviationAt(volatility, spot, time);
  const last = lastObservationTime(terms);
  if (payoff.kind === "basket") return basketWidth(terms, payoff, asset, spots);
  if (payoff.kind === "script" && payoff.program.jumps.length > 0)
    return JUMP_WIDTH * Math.sqrt(at(payoff.dates.find(({ time }) => time > 0)?.time ?? 0) * at(last));
  if (payoff.kind !== "average") return at(last);
  if (payoff.times === "continuous") return at(last) / Math.sqrt(3);
  const times = payoff.times.filter((time) => time > 0);
  const variances = times.map((time) => at(time) ** 2);
  const parts = variances.map((v, k) => (v - (variances[k - 1] ?? 0)) * ((times.length - k) / times.length) ** 2);
  return Math.sqrt(
    Math.max(
      parts.reduce((sum, part) => sum + part, 0),
      0,
    ),
  );
}

/** Returns the same of a common move of all spots, by the deviation of what they are worth together. */
export function commonWidth(terms: Terms, asset: number, spots: readonly number[]): number {
  const { payoff, assets } = terms;
  const isSum = payoff.kind === "basket" && payoff.of === "sum";
  if (isSum || payoff.kind !== "basket") return widthOf(terms, asset, spots);
  return deviationAt(assets[asset].volatility, spots[asset], terms.expiry);
}

function basketWidth(
  terms: Terms,
  { of, weights }: Extract<Terms["payoff"], { kind: "basket" }>,
  asset: number,
  spots: readonly number[],
): number {
  const { assets, correlations, expiry } = terms;
  const deviations = assets.map(({ volatility }, i) => deviationAt(volatility, spots[i], expiry));
  const own = deviations[asset];
  /** The deviation of a sum of multiples of the logarithms. */
  const deviationOf = (factors: readonly number[]): number =>
    Math.sqrt(
      factors.reduce(
        (sum, a, i) =>
          sum + factors.reduce((row, b, j) => row + a * b * deviations[i] * deviations[j] * correlations[i][j], 0),
        0,
      ) || 0,
    ) || 0;
  if (of === "sum") {
    const amount = Math.abs(weights[asset] * spots[asset]);
    const all = deviationOf(weights.map((w, i) => w * spots[i]));
    return amount > 0 && all > 0 ? Math.min(own, all / amount) : own;
  }
  if (of === "product") return own;
  const quotients = assets.flatMap((_, other) => {
    if (other === asset) return [];
    const width = deviationOf(assets.map((_one, i) => (i === asset ? 1 : i === other ? -1 : 0)));
    return width > 0 ? [width] : [];
  });
  return Math.min(own, ...quotients);
}

/** Returns the years until the next date with an event, such as a fixing or a dividend. No time step crosses it. */
export function nextEvent({ assets, rates, payoff, exercise, barriers, expiry }: Terms): number {
  const times = [expiry, ...rates.times];
  for (const { underlying, volatility } of assets) {
    times.push(...underlying.dividends.discrete.map(({ time }) => time));
    if (volatility.kind === "deterministic") times.push(...volatility.sigma.times);
  }
  if (payoff.kind === "average" || payoff.kind === "lookback" || payoff.kind === "swing")
    if (payoff.times !== "continuous") times.push(...payoff.times);
  if (payoff.kind === "lookback") times.push(payoff.from);
  if (payoff.kind === "script") times.push(...[...payoff.dates, ...payoff.owed].map(({ time }) => time));
  if (exercise.kind === "bermudan") times.push(...exercise.times);
  for (const { from, to, monitoring } of barriers)
    times.push(from, to, ...(monitoring.kind === "discrete" ? monitoring.times : []));
  return times.reduce((next, time) => (time > 0 && time < next ? time : next), Number.POSITIVE_INFINITY);
}
