import {
  afterDividend,
  type DiscreteDividend,
  integrate,
  integratedVariance,
  type PiecewiseConstant,
  shifted,
} from "../../../market/index.ts";
import type { PayoffProfile } from "../../../market/products/index.ts";
import { type Diffusion, shiftedDiffusion, volatilityAt } from "./diffusion.ts";
import { type KnockIns, type KnockOut } from "./levels.ts";
import { volatilityOver } from "./mean-volatility.ts";

/**
 * One product on one underlying with its market, as the one-factor solver takes it. Times are in years from today,
 * rates per year.
 */
export interface OneFactorProblem {
  /** The prices at which the solution is read; the first is today's spot. */
  readonly spots: readonly number[];
  /** The time to expiry in years, > 0. */
  readonly expiry: number;
  readonly payoff: PayoffProfile;
  /** True where the product may be exercised at all times. */
  readonly american: boolean;
  /** The times in [0, expiry), increasing, at which an otherwise European problem may be exercised. */
  readonly exerciseTimes?: readonly number[] | undefined;
  /** The short rate as a function of time. */
  readonly rates: PiecewiseConstant;
  readonly dividendYield: number;
  /** The dividends inside (0, expiry), by time. */
  readonly dividends: readonly DiscreteDividend[];
  readonly diffusion: Diffusion;
  /**
   * The times in (0, expiry), increasing, at which rates or volatility change so much that the time grid restarts with
   * short, damped steps, as after events.
   */
  readonly restarts?: readonly number[] | undefined;
  /** The knock-outs. Of several that are monitored at the same price and time only one takes effect (`barriers.ts`). */
  readonly barriers?: readonly KnockOut[] | undefined;
  /** The knock-ins, before which the product cannot be exercised. `barriers` can end it earlier. */
  readonly knockIns?: KnockIns | undefined;
}

/** A parallel shift of the volatility (per √year) and of the rates (per year), both as decimals. */
export interface Shift {
  readonly volatility: number;
  readonly rate: number;
}

/** Returns a problem with its volatility and rates shifted. */
export function shiftedProblem(problem: OneFactorProblem, shift: Shift): OneFactorProblem {
  const { volatility, rate } = shift;
  if (volatility === 0 && rate === 0) return problem;
  return {
    ...problem,
    rates: rate === 0 ? problem.rates : shifted(problem.rates, rate),
    diffusion: volatility === 0 ? problem.diffusion : shiftedDiffusion(problem.diffusion, volatility),
  };
}

/**
 * Returns ∫ σ² dt over the life. For σ that depends on S it is the largest of those at the kinks, at today's spot and
 * at the forward. It is 0 only where σ is 0 along the forwards of all spots, so that the spot is deterministic.
 */
export function totalVariance(problem: OneFactorProblem): number {
  const { diffusion, expiry, spots, payoff } = problem;
  if (diffusion.kind === "deterministic") return integratedVariance(diffusion.sigma, expiry);
  const sigma = volatilityOver(problem, 0, expiry);
  let largest = 0;
  // At zero, where dividends may take it, the spot stays.
  const take = (price: number, of: (price: number) => number): void => {
    if (price > 0) largest = Math.max(largest, of(price));
  };
  for (const price of [spots[0], ...payoff.kinks]) take(price, sigma);
  const at = (time: number) => (price: number) => volatilityAt(diffusion, price, time);
  const constant = diffusion.kind === "local";
  if (diffusion.kind !== "surface")
    for (const time of [0, 0.5 * expiry, expiry])
      take(forwardPrice(problem, spots[0], time), constant ? at(time) : sigma);
  if (largest === 0) {
    for (let i = 0; i <= PATH_POINTS; i++) {
      const time = (i / PATH_POINTS) * expiry;
      for (const spot of spots) take(forwardPrice(problem, spot, time), at(time));
    }
  }
  return largest * largest * expiry;
}

/** The number of times along each forward at which σ is looked at where it was 0 wherever it was looked at first. */
const PATH_POINTS = 256;

/** The forward price at a time, F(t) = S·exp(∫(r − q)) less the forward values of dividends. */
export function forwardPrice(problem: OneFactorProblem, spot: number, time: number): number {
  let price = spot;
  let from = 0;
  for (const dividend of problem.dividends) {
    if (dividend.time > time) break;
    price = afterDividend(price * Math.exp(driftOver(problem, from, dividend.time)), dividend);
    from = dividend.time;
  }
  return price * Math.exp(driftOver(problem, from, time));
}

/**
 * Returns the standard deviation of ln S between two times, as a function of the price at which the volatility is
 * taken.
 */
export function deviationOver(problem: OneFactorProblem, from: number, to: number): (price: number) => number {
  const { diffusion } = problem;
  if (!(to > from)) return () => 0;
  if (diffusion.kind !== "deterministic") {
    const sigma = volatilityOver(problem, from, to);
    return (price) => sigma(price) * Math.sqrt(to - from);
  }
  const variance = integratedVariance(diffusion.sigma, to) - integratedVariance(diffusion.sigma, from);
  return () => Math.sqrt(Math.max(variance, 0));
}

/** Returns ∫ (r − q) dt from one time to another. */
export function driftOver({ rates, dividendYield }: OneFactorProblem, from: number, to: number): number {
  return integrate(rates, to) - integrate(rates, from) - dividendYield * (to - from);
}

/** Returns ∫ (r − q) dt over the life. */
export function totalDrift(problem: OneFactorProblem): number {
  return driftOver(problem, 0, problem.expiry);
}

/**
 * Tells whether rates, yield and volatility are constant in time, so that a factorisation lasts as long as the time
 * step does not change.
 */
export function isTimeHomogeneous({ rates, diffusion, expiry }: OneFactorProblem): boolean {
  const constantRates = isConstantUntil(rates, expiry);
  if (diffusion.kind === "formula") return false;
  if (diffusion.kind === "surface") return constantRates && diffusion.surface.times.length === 1;
  return constantRates && (diffusion.kind === "local" || isConstantUntil(diffusion.sigma, expiry));
}

const isConstantUntil = ({ times }: PiecewiseConstant, expiry: number): boolean =>
  times.length === 0 || times[0] >= expiry;

/** The least standard deviation up to expiry that meshes are made for. */
const MIN_DEVIATION = 1e-4;

/** The standard deviation of ln S up to expiry, at least `MIN_DEVIATION`. */
export const deviationOf = (problem: OneFactorProblem): number =>
  Math.max(Math.sqrt(totalVariance(problem)), MIN_DEVIATION);
