/** Values that need no tree. */
import { integrate } from "../../market/index.ts";
import { logNormalOption } from "../../market/models/index.ts";
import type { ResultMethod } from "../columns/result-columns.ts";
import type { Terms } from "../terms.ts";
import type { ExerciseRightsEstimate, RightsRequest } from "./estimator.ts";
import { varianceAt } from "../variance.ts";
import { datesOf, unitsOf } from "./factors.ts";

/** Rounding errors, relative to the value. */
const ROUNDING = 1e-13;

/** Returns the estimate of a request whose value a formula gives exactly; undefined if no formula does. */
export function exactEstimate({ terms, spots: [[spot]] }: RightsRequest): ExerciseRightsEstimate | undefined {
  const known = exactValue(terms, spot);
  if (known === undefined) return undefined;
  const rounding = ROUNDING * Math.abs(known.value);
  return { values: [known.value], errors: [rounding], method: known.method, size: 0, noise: { parts: [], rounding } };
}

/** A value with nothing to be estimated. */
interface ExactValue {
  readonly value: number;
  readonly method: ResultMethod;
}

/**
 * Returns values known without a tree: the payoff at expiry; swings whose dates are all to be taken, a strip of
 * forwards; those with a right for each date and no obligation, a strip of options (Black 1976, with the variance of
 * the factors). Without volatility the best dates are known today.
 */
function exactValue(terms: Terms, spot: number): ExactValue | undefined {
  const { payoff, rates, expiry, assets, exercise } = terms;
  if (payoff.kind !== "swing" && payoff.kind !== "vanilla") return undefined;
  const [{ underlying, volatility }] = assets;
  const sign = payoff.right === "call" ? 1 : -1;
  const dates = datesOf(terms);
  const discount = (t: number): number => Math.exp(-integrate(rates, t));
  const forward = (t: number): number => spot * Math.exp(integrate(rates, t) - underlying.dividends.yield * t);
  const purchase = (t: number): number => discount(t) * sign * (forward(t) - payoff.strike);
  const option = (t: number): number => {
    const variance = varianceAt(volatility, t);
    if (variance === 0) return Math.max(purchase(t), 0);
    return discount(t) * logNormalOption(payoff.right, payoff.strike, Math.log(forward(t)) - 0.5 * variance, variance);
  };
  const sum = (of: (t: number) => number): number => dates.reduce((total, t) => total + of(t), 0);
  const { min, max } = unitsOf(terms);
  if (payoff.kind === "swing") {
    if (max === 0) return { value: 0, method: "payoff" };
    if (min === dates.length) return { value: sum(purchase), method: "deterministic" };
    if (min === 0 && max === dates.length) return { value: sum(option), method: "black-scholes" };
  } else if (expiry === 0) return { value: Math.max(sign * (spot - payoff.strike), 0), method: "payoff" };
  if (varianceAt(volatility, dates[dates.length - 1]) > 0) return undefined;
  if (payoff.kind === "swing") {
    const best = dates.map(purchase).toSorted((a, b) => b - a);
    const value = best.slice(0, max).reduce((total, one, k) => total + (k < min ? one : Math.max(one, 0)), 0);
    return { value, method: "deterministic" };
  }
  const today = exercise.kind === "american" || (exercise.kind === "bermudan" && exercise.times[0] <= 0) ? [0] : [];
  return { value: Math.max(0, ...[...today, ...dates].map(purchase)), method: "deterministic" };
}
