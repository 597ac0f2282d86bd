/** Instances whose value needs no paths. */
import { type SensitivityFormula, sensitivityOf, sensitivityErrorOf } from "../../../base/differences.ts";
import { integrate } from "../../../market/index.ts";
import { logNormalOption } from "../../../market/models/index.ts";
import { type ResultMethod, WARNING } from "../../columns/result-columns.ts";
import { averageLogarithm, basketLogarithm, weightedLogarithm } from "../../equations/lognormal.ts";
import { knownAt } from "../../equations/parts.ts";
import { type Differences, withBias } from "../../plan/differences.ts";
import type { Estimate, Measured } from "../../plan/request.ts";
import type { Terms } from "../../terms.ts";
import { knownOfScript } from "./script-product.ts";
import { datesOf, pastOf, strikeOf, weightToCome } from "./acceptance.ts";
import { usesLocalDiffusions } from "./steps.ts";

/** The relative size of rounding errors. */
const ROUNDING = 1e-13;

/**
 * Returns the estimate of a trade that needs no paths: the payoff at expiry; averages whose fixings are all known;
 * geometric averages and baskets under deterministic volatilities, which are lognormal (Kemna & Vorst 1990). It is
 * undefined for all other trades.
 */
export function exactEstimate(terms: Terms, spots: readonly number[]): PathEstimate | undefined {
  const { payoff, assets, barriers, expiry, rates } = terms;
  if (payoff.kind === "lookback") return pastLookback(terms, spots[0]);
  if (payoff.kind === "script") {
    const amount = knownOfScript(terms, spots);
    return amount === undefined ? undefined : known(amount, "payoff");
  }
  if (payoff.kind !== "average") {
    const now = knownAt(terms, spots);
    return now === undefined ? geometricBasket(terms, spots) : known(now.value, now.method);
  }
  const { right, strike, mean: kind, times } = payoff;
  const [spot] = spots;
  const [{ volatility, underlying }] = assets;
  const discount = Math.exp(-integrate(rates, expiry));
  const dates = datesOf(terms);
  const path = { terms, spots, dates };
  const { count, mean: past } = pastOf(path);
  const left = weightToCome(path);
  if (left === 0) {
    // A moment does not weigh beside years.
    const average = count === 0 ? spot : past;
    return known(discount * Math.max((right === "call" ? 1 : -1) * (average - strike), 0), "payoff");
  }
  const share = left / (left + count);
  if (kind === "arithmetic") {
    if (count === 0 || strikeOf(path) > 0) return undefined;
    // Whatever comes, a call pays, and a put does not.
    if (right === "put") return known(0, "payoff");
    if (underlying.dividends.discrete.some(({ time }) => time <= expiry)) return undefined;
    const { yield: dividendYield } = underlying.dividends;
    const forward = (t: number): number => spot * Math.exp(integrate(rates, t) - dividendYield * t);
    const mean =
      times === "continuous" ? meanOverTime(forward, expiry) : dates.reduce((sum, t) => sum + forward(t), 0) / left;
    return known(discount * share * (mean - strikeOf(path)), "payoff");
  }
  if (volatility.kind !== "deterministic" || usesLocalDiffusions(terms) || barriers.length > 0) return undefined;
  const market = { spot, rates, dividendYield: underlying.dividends.yield, sigma: volatility.sigma };
  const { mean, variance } =
    times === "continuous"
      ? averageLogarithm(market, expiry)
      : weightedLogarithm(market, { times: dates, weights: dates.map(() => 1 / left) });
  const both = share * mean + (count === 0 ? 0 : (1 - share) * Math.log(past));
  return known(discount * logNormalOption(right, strike, both, share * share * variance), "black-scholes");
}

/**
 * Tells whether a trade is a European option on a product Π Sᵢ^wᵢ under deterministic volatilities, which is lognormal.
 */
export const isGeometricBasket = (terms: Terms): boolean =>
  terms.payoff.kind === "basket" &&
  terms.payoff.of === "product" &&
  terms.barriers.length === 0 &&
  terms.exercise.kind === "european" &&
  !usesLocalDiffusions(terms) &&
  terms.assets.every(({ volatility }) => volatility.kind === "deterministic");

/** A European option on Π Sᵢ^wᵢ by Black's formula. */
function geometricBasket(terms: Terms, spots: readonly number[]): PathEstimate | undefined {
  const { payoff, rates, expiry } = terms;
  if (payoff.kind !== "basket" || !isGeometricBasket(terms)) return undefined;
  const { mean, variance } = basketLogarithm(terms, spots, payoff.weights);
  const value = Math.exp(-integrate(rates, expiry)) * logNormalOption(payoff.right, payoff.strike, mean, variance);
  return known(value, "black-scholes");
}

/** A lookback whose extreme is known: at expiry, or when all dates have passed. */
function pastLookback(terms: Terms, spot: number): PathEstimate | undefined {
  const { payoff, expiry, rates } = terms;
  if (payoff.kind !== "lookback" || (expiry > 0 && datesOf(terms).length > 0)) return undefined;
  const { right, strike, isFloating, extremum, times } = payoff;
  const counts = times === "continuous" || times.length > 0 || extremum === undefined;
  const isMaximum = (right === "call") !== isFloating;
  const both = isMaximum ? Math.max(extremum ?? spot, spot) : Math.min(extremum ?? spot, spot);
  const extreme = counts ? both : extremum;
  const sign = right === "call" ? 1 : -1;
  const paid = isFloating ? sign * (spot - extreme) : Math.max(sign * (extreme - strike), 0);
  return known(Math.exp(-integrate(rates, expiry)) * paid, "payoff");
}

/**
 * The mean of a function over time by Simpson's rule, as the forward curve is smooth but for the dates of its rates.
 */
function meanOverTime(f: (t: number) => number, expiry: number): number {
  const steps = 256;
  const sum = Array.from({ length: steps }, (_, k) => {
    const [from, to] = [k / steps, (k + 1) / steps];
    return f(from * expiry) + 4 * f(0.5 * (from + to) * expiry) + f(to * expiry);
  }).reduce((total, one) => total + one, 0);
  return sum / (6 * steps);
}

const known = (value: number, method: ResultMethod): PathEstimate => ({
  values: [value],
  errors: [ROUNDING * Math.abs(value)],
  method,
});

/** Returns sensitivities as differences of exact values; none where a bumped copy has no exact value. */
export function exactMeasures(
  { values }: PathEstimate,
  { copies, formulas: measures, bias }: Differences,
): ReadonlyMap<string, Measured> {
  const all = [...values, ...copies.map(({ terms, spots }) => exactEstimate(terms, spots)?.values[0] ?? Number.NaN)];
  return withBias(sensitivitiesOf(all, measures), bias);
}

/** Returns sensitivities as differences of values that are exact, but for rounding. */
export function sensitivitiesOf(
  values: readonly number[],
  measures: readonly SensitivityFormula[],
): Map<string, Measured> {
  const sizes = values.map(Math.abs);
  return new Map(
    measures.map((measure) => [
      measure.name,
      { value: sensitivityOf(measure, values), error: ROUNDING * sensitivityErrorOf(measure, sizes) },
    ]),
  );
}

/** The answer of the Monte Carlo method to a request: values, error estimates and sensitivities. */
export interface PathEstimate extends Estimate {
  /** The level of refinement, which determines the number of paths; undefined for a value that needed no paths. */
  readonly level?: number;
  /**
   * If the value depends on the length of steps: the number of times that steps were halved (`fineness`), the estimated
   * bias of the scheme, and the warning that says why steps were not halved again if the bias is large (`limit`).
   */
  readonly steps?: { readonly fineness: number; readonly bias: number; readonly limit: number };
  /** The part of the error that comes from bounds of the value, which more paths do not reduce. */
  readonly halfWidth?: number;
  /** The sensitivities by name, if they were requested. */
  readonly measures?: ReadonlyMap<string, Measured>;
}

/** Returns the estimate with the warning that the time limit kept its steps from being refined. */
export function outOfTime(estimate: PathEstimate): PathEstimate {
  const { steps, warnings = 0 } = estimate;
  const isLimited = (warnings & WARNING.stepsLimited) !== 0;
  return {
    ...estimate,
    ...(steps && { steps: { ...steps, limit: WARNING.outOfTime } }),
    warnings: isLimited ? (warnings & ~WARNING.stepsLimited) | WARNING.outOfTime : warnings,
  };
}
