/** The trades that can be simulated, and the times at which their payoffs read the spot. */
import type { Barrier, Payoff } from "../../../book/index.ts";
import { mayEndEarly, type Terms } from "../../terms.ts";
import { usesLocalDiffusions, type Steps } from "./steps.ts";

/** An instance to be simulated: the terms of a trade, its spots, and the dates and steps of its paths. */
export interface SimulationInstance {
  readonly terms: Terms;
  readonly spots: readonly number[];
  /** The dates in years, increasing, > 0. */
  readonly dates: readonly number[];
  /**
   * The steps of the path if its scheme is not exact (`usesLocalDiffusions`); otherwise the steps between dates are
   * equal.
   */
  readonly steps?: Steps;
}

/**
 * Returns the reason why no path model exists for the terms of a trade, as text that completes the sentence "it has …".
 * It is undefined if there is a model.
 */
export function whyNoModel({ assets, shortRate, expiry }: Terms): string | undefined {
  if (shortRate !== undefined) return "a stochastic short rate";
  for (const { underlying, volatility } of assets) {
    const { kind } = volatility;
    if (kind === "sabr") return "SABR volatility";
    if (!HAS_FACTORS.includes(kind)) continue;
    if (assets.length > 1) return "several underlyings and a volatility with a factor of its own";
    if (underlying.dividends.discrete.some(({ time }) => time <= expiry))
      return "dividends on dates and a volatility with a factor of its own";
  }
  return undefined;
}

/** Volatilities that are no functions of spot and time. */
const HAS_FACTORS: readonly string[] = ["heston", "gaussianFactors", "stochasticLocal"];

/**
 * Returns the reason why the payoff of a trade cannot be simulated, as text that completes the sentence "it has …". It
 * is undefined if the payoff can be simulated.
 */
export function whyNoProduct({ payoff, barriers, exercise, expiry, assets }: Terms): string | undefined {
  if (payoff.kind === "swing") return "swing rights";
  if (payoff.kind === "script") return undefined;
  const isPath = payoff.kind === "average" || payoff.kind === "lookback";
  if (payoff.kind === "average" && payoff.mean === "geometric" && hasPast(payoff)) {
    if (assets[0].volatility.kind !== "deterministic" || usesLocalDiffusions({ assets, expiry }) || barriers.length > 0)
      return "past fixings of a geometric average";
  }
  if (payoff.kind === "lookback" && payoff.isFloating && payoff.times !== "continuous") {
    const { times } = payoff;
    if (times.length > 0 && Math.abs(times[times.length - 1] - expiry) > SAME)
      return "a floating strike whose last date is before expiry";
  }
  if (barriers.length === 0) return undefined;
  if (isPath) return "barriers beside an average or an extreme";
  if (exercise.kind !== "european") return "barriers and early exercise";
  const [{ type, rebate, rebateAt, monitoring }] = barriers;
  for (const barrier of barriers) {
    if (barrier.type.endsWith("-in") !== type.endsWith("-in")) return "knock-ins and knock-outs";
    if (barrier.rebate !== rebate || barrier.rebateAt !== rebateAt) return "barriers with several rebates";
    if (barrier.monitoring.kind !== monitoring.kind) return "barriers with several kinds of monitoring";
    if (barrier.monitoring.kind === "continuous" && (barrier.from > SAME || barrier.to < expiry - SAME))
      return "a barrier with a window";
    if (!sameDates(barrier, barriers[0], expiry))
      return "barriers on dates of which expiry is none, or on several lists of dates";
  }
  return undefined;
}

const SAME = 1e-9;

function sameDates({ monitoring: a }: Barrier, { monitoring: b }: Barrier, expiry: number): boolean {
  if (a.kind === "continuous" || b.kind === "continuous") return true;
  const isLast = Math.abs((a.times[a.times.length - 1] ?? -1) - expiry) < SAME;
  return isLast && a.times.length === b.times.length && a.times.every((t, i) => t === b.times[i]);
}

const hasPast = ({ past, times }: Extract<Payoff, { kind: "average" }>): boolean =>
  past.count > 0 || (times !== "continuous" && times[0] <= 0);

/** Returns the dates of paths, in years: those on which the payoff depends. */
export function datesOf({ payoff, barriers, exercise, expiry }: Terms): readonly number[] {
  if (payoff.kind === "script") return payoff.dates.map(({ time }) => time).filter((time) => time > 0);
  if (payoff.kind === "average" && payoff.times !== "continuous") return payoff.times.filter((time) => time > 0);
  if (payoff.kind === "lookback") {
    if (payoff.times !== "continuous") return payoff.times.filter((time) => time > 0);
    return payoff.from > 0 ? [payoff.from, expiry] : [expiry];
  }
  if (exercise.kind === "american") {
    const count = Math.min(Math.max(Math.ceil(EXERCISES_PER_YEAR * expiry), MIN_EXERCISES), MAX_EXERCISES);
    return Array.from({ length: count }, (_, k) => ((k + 1) / count) * expiry);
  }
  if (exercise.kind === "bermudan")
    return [...exercise.times.filter((time) => time > 0 && time < expiry - SAME), expiry];
  const [barrier] = barriers;
  if (barrier?.monitoring.kind === "discrete") return barrier.monitoring.times.filter((time) => time > 0);
  return [expiry];
}

/** Tells whether paths can end before their last date. Exercise on the date of expiry alone is European. */
export const isEarly = (terms: Terms): boolean => mayEndEarly(terms) && datesOf(terms).length > 1;

/** American exercise stands for that on so many dates. */
const EXERCISES_PER_YEAR = 50;
const MIN_EXERCISES = 25;
const MAX_EXERCISES = 200;

/**
 * Returns the total weight of the future fixings of an average, in the unit in which known fixings are weighted: their
 * number, or years.
 */
export function weightToCome({
  terms: { payoff, expiry },
  dates,
}: Pick<SimulationInstance, "terms" | "dates">): number {
  return payoff.kind === "average" && payoff.times === "continuous" ? expiry : dates.length;
}

/**
 * Returns the number and the mean of the known fixings of an average: those of the past, and today's spot if it is one.
 */
export function pastOf({ terms: { payoff }, spots: [spot] }: Pick<SimulationInstance, "terms" | "spots">): {
  readonly count: number;
  readonly mean: number;
} {
  if (payoff.kind !== "average") return { count: 0, mean: 1 };
  const { past, times, mean } = payoff;
  if (times === "continuous" || !(times[0] <= 0)) return past;
  const count = past.count + 1;
  const share = past.count / count;
  return {
    count,
    mean: mean === "arithmetic" ? share * past.mean + (1 - share) * spot : past.mean ** share * spot ** (1 - share),
  };
}

/**
 * Returns the strike K′ with which an Asian option becomes an option on the average of its future fixings alone. With n
 * the weight and A₀ the mean of the known fixings, m and A those of the future ones, and K the strike of the option:
 *
 *   (n·A₀ + m·A)/(n + m) − K = m/(n + m)·(A − K′),   K′ = ((n + m)·K − n·A₀)/m.
 */
export function strikeOf(path: SimulationInstance): number {
  const { payoff } = path.terms;
  if (payoff.kind === "expression" || payoff.kind === "script") return Number.NaN;
  const { count, mean } = pastOf(path);
  if (count === 0) return payoff.strike;
  const left = weightToCome(path);
  return ((count + left) * payoff.strike - count * mean) / left;
}
