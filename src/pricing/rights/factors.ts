/**
 * The inputs of trees and grids of exercise rights: whether terms can be priced on them, decision times, and limits of
 * units.
 */
import { integrate } from "../../market/index.ts";
import type { Terms } from "../terms.ts";

/**
 * Returns the reason why these terms cannot be priced on a tree, as text that completes the sentence "it has …";
 * undefined if they can.
 */
export function refusalOf({ assets, shortRate, payoff, exercise, barriers, expiry }: Terms): string | undefined {
  const [{ underlying, volatility }] = assets;
  const isSwing = payoff.kind === "swing";
  if (assets.length > 1) return "several underlyings";
  if (!isSwing && exercise.kind === "european") return "neither swing rights nor early exercise";
  if (!isSwing && payoff.kind !== "vanilla") return "early exercise, and a payoff that is neither a call nor a put";
  if (barriers.length > 0) return "barriers";
  if (shortRate !== undefined) return "a stochastic short rate";
  if (underlying.dividends.discrete.some(({ time }) => time <= expiry)) return "dividends on dates";
  if (volatility.kind === "deterministic") return isSwing ? undefined : "early exercise without mean-reverting factors";
  if (volatility.kind !== "gaussianFactors")
    return "a volatility that is neither of time alone nor of mean-reverting factors";
  const { alpha, rho, sigma } = volatility;
  const isOne = alpha.length === 1 || alpha[0] === alpha[1] || sigma.includes(0);
  return !isOne && Math.abs(rho) === 1 ? "two factors that are perfectly correlated" : undefined;
}

/** The minimum number of units that the holder of a swing option must still take, and the maximum number. */
export interface UnitLimits {
  readonly min: number;
  readonly max: number;
}

/** Returns the limits on the units of a swing option, reduced to what its remaining dates allow. */
export function unitsOf({ payoff }: Terms): UnitLimits {
  if (payoff.kind !== "swing") return { min: 0, max: 1 };
  const { times, min, max } = payoff;
  return { min: Math.min(min, times.length), max: Math.min(max, times.length) };
}

/** American exercise stands for that on so many dates, an even number, beside half of them. */
const EXERCISES_PER_YEAR = 50;
const MIN_EXERCISES = 24;
const MAX_EXERCISES = 200;
const SAME = 1e-9;

/** Returns the decision times in years. For American exercise, with `isHalf` they are every second one. */
export function datesOf({ payoff, exercise, expiry }: Terms, isHalf = false): readonly number[] {
  if (payoff.kind === "swing") return payoff.times;
  if (exercise.kind === "bermudan")
    return [...exercise.times.filter((time) => time > 0 && time < expiry - SAME), expiry];
  const wanted = 2 * Math.ceil(0.5 * EXERCISES_PER_YEAR * expiry);
  const count = Math.min(Math.max(wanted, MIN_EXERCISES), MAX_EXERCISES) / (isHalf ? 2 : 1);
  return Array.from({ length: count }, (_, k) => ((k + 1) / count) * expiry);
}

/** Tells whether a swing option may take a unit today. */
export const hasRightToday = ({ payoff }: Terms): boolean => payoff.kind === "swing" && payoff.times[0] === 0;

/** Returns the forward prices of a request's spot at given times. */
export const forwardsOf = (
  {
    terms: { rates, assets },
    spots: [[spot]],
  }: { readonly terms: Terms; readonly spots: readonly (readonly number[])[] },
  times: readonly number[],
): readonly number[] =>
  times.map((t) => spot * Math.exp(integrate(rates, t) - assets[0].underlying.dividends.yield * t));

/** Returns the discount factors to given times. */
export const discountFactorsOf = ({ rates }: Terms, times: readonly number[]): readonly number[] =>
  times.map((t) => Math.exp(-integrate(rates, t)));
