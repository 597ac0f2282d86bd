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
import { volatilityOver } from "./variance.ts";

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
  /** The knock-outs. Of several that are monitored at the same price and time only one takes effect. */
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
 * Returns ∫ σ² dt over the life. If σ depends on S, it is the largest of the integrals at the kinks, at today's spot
 * and at the forward. It is 0 only where σ is 0 along the forwards of all spots, so that the spot is deterministic.
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
function forwardPrice(problem: OneFactorProblem, spot: number, time: number): number {
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

/** Returns the standard deviation of ln S up to expiry, at least `MIN_DEVIATION`. */
export const deviationOf = (problem: OneFactorProblem): number =>
  Math.max(Math.sqrt(totalVariance(problem)), MIN_DEVIATION);

/** Prices at which something happens to a trade once the spot has reached them. */

/**
 * A barrier: a price that is breached once the spot is on or beyond it. It is monitored at all times from `from` to
 * `to`, both included, or at `times` only. Times are in years from today.
 * @experimental
 */
export interface MonitoredLevel {
  /** The side on which the breach lies: "up" is at the level or above. */
  readonly side: "up" | "down";
  /** The level as a price of the underlying. */
  readonly level: number;
  readonly from: number;
  readonly to: number;
  /** The dates of monitoring, increasing, in 0 … expiry; undefined for continuous monitoring. */
  readonly times: readonly number[] | undefined;
}

/** A barrier that ends a trade when it is breached. @experimental */
export interface KnockOut extends MonitoredLevel {
  /** The amount paid after a breach. */
  readonly rebate: number;
  /** The time of the payment: at the breach ("hit") or at expiry. */
  readonly rebateAt: "hit" | "expiry";
  /** True where the mesh must continue beyond the barrier, because another problem is solved on the same mesh. */
  readonly open: boolean;
}

/**
 * The knock-ins of a trade. Until one of the `levels` is breached the trade cannot be exercised; if none is ever
 * breached, `rebate` is paid at expiry.
 */
export interface KnockIns {
  readonly levels: readonly MonitoredLevel[];
  readonly rebate: number;
}

/** The tolerance within which two dates are equal, as a fraction of the life. @experimental */
export const SAME_DATE = 1e-9;

/** Tells whether a barrier is monitored at a time. */
export function isMonitored({ from, to, times }: MonitoredLevel, time: number, expiry: number): boolean {
  const tolerance = SAME_DATE * expiry;
  if (times === undefined) return from <= time + tolerance && to >= time - tolerance;
  return times.some((date) => Math.abs(date - time) <= tolerance);
}

/** Tells whether a barrier is monitored at all times between two dates. */
export function isMonitoredBetween(
  { from, to, times }: MonitoredLevel,
  start: number,
  end: number,
  expiry: number,
): boolean {
  const tolerance = SAME_DATE * expiry;
  return times === undefined && from <= start + tolerance && to >= end - tolerance;
}

/** Tells whether a spot is on or past a barrier. */
export function isPast({ side, level }: MonitoredLevel, spot: number): boolean {
  return side === "up" ? spot >= level : spot <= level;
}

/**
 * Returns the value of a barrier's rebate at the time of the breach: the rebate itself, or its present value if it is
 * paid at expiry.
 */
export function rebateValue({ rebate, rebateAt }: KnockOut, time: number, { rates, expiry }: OneFactorProblem): number {
  if (rebateAt === "hit" || rebate === 0) return rebate;
  return rebate * Math.exp(integrate(rates, time) - integrate(rates, expiry));
}

/** Returns the outermost knock-out that a spot has reached today; undefined where the trade is alive. */
export function knockedOutBy({ barriers, expiry }: OneFactorProblem, spot: number): KnockOut | undefined {
  if (barriers === undefined) return undefined;
  return barriers.findLast((barrier) => isPast(barrier, spot) && isMonitored(barrier, 0, expiry));
}

/** Tells whether a spot today knocks the trade in, which is also true of a trade without knock-ins. */
export function isKnockedIn({ knockIns, expiry }: OneFactorProblem, spot: number): boolean {
  return (
    knockIns === undefined || knockIns.levels.some((level) => isPast(level, spot) && isMonitored(level, 0, expiry))
  );
}

/**
 * Returns all knock-out and knock-in barriers. With knock-ins they are sorted by `inwardFirst`. At equal prices
 * knock-outs come first, because they take effect first.
 */
export function allBarriers({ barriers = [], knockIns }: OneFactorProblem): readonly (KnockOut | MonitoredLevel)[] {
  return knockIns === undefined ? barriers : inwardFirst([...barriers, ...knockIns.levels]);
}

/**
 * Sorts barriers from the innermost to the outermost on either side, so that applying them in this order leaves each
 * node to the first barrier that a spot would breach on its way there.
 */
export function inwardFirst<Level extends MonitoredLevel>(barriers: readonly Level[]): readonly Level[] {
  const outward = (a: Level, b: Level): number => (a.side === "up" ? a.level - b.level : b.level - a.level);
  return barriers.toSorted((a, b) => (a.side === b.side ? outward(a, b) : a.side === "down" ? -1 : 1));
}

interface Ends<Level> {
  readonly down: Level | undefined;
  readonly up: Level | undefined;
}

/**
 * Returns the innermost knock-outs that are monitored continuously between two dates. They are the ends of the interval
 * of spots in which the trade stays alive.
 */
export function aliveBetween({ barriers = [], expiry }: OneFactorProblem, start: number, end: number): Ends<KnockOut> {
  return innermost(barriers, start, end, expiry);
}

/**
 * Returns the innermost knock-out and knock-in barriers that are monitored continuously between two dates. They are the
 * ends of the interval of spots in which a trade that has not been knocked in stays dormant.
 */
export function dormantBetween(problem: OneFactorProblem, start: number, end: number): Ends<KnockOut | MonitoredLevel> {
  return innermost(allBarriers(problem), start, end, problem.expiry);
}

function innermost<Level extends MonitoredLevel>(
  levels: readonly Level[],
  start: number,
  end: number,
  expiry: number,
): Ends<Level> {
  let down: Level | undefined;
  let up: Level | undefined;
  for (const level of levels) {
    if (!isMonitoredBetween(level, start, end, expiry)) continue;
    if (level.side === "down") down ??= level;
    else up ??= level;
  }
  return { down, up };
}

/**
 * Returns the price before a dividend from which the spot falls to a level; infinite where the dividend takes the whole
 * spot.
 */
export function crossingPrice({ level }: MonitoredLevel, { cash, proportional }: DiscreteDividend): number {
  return proportional < 1 ? (level + cash) / (1 - proportional) : Infinity;
}

/** Returns a price next to a barrier, on the side where the trade is alive. */
export function priceInside({ side, level }: MonitoredLevel): number {
  return level * (side === "up" ? 1 - 1e-9 : 1 + 1e-9);
}

/** Tells whether a problem has barriers or knock-ins. */
export const hasAnyBarrier = ({ barriers, knockIns }: OneFactorProblem): boolean =>
  barriers !== undefined || knockIns !== undefined;

/** Tells whether the holder may exercise today, at a spot. */
export function isExercisableNow(problem: OneFactorProblem, spot: number): boolean {
  const { american, exerciseTimes, expiry } = problem;
  return (
    (american || (exerciseTimes !== undefined && exerciseTimes[0] <= SAME_DATE * expiry)) && isKnockedIn(problem, spot)
  );
}

/**
 * Returns the price beyond which exercise is optimal at all times, a little past the exercise boundary of the perpetual
 * option
 *
 *   S* = K·β/(β − 1),   ½σ²β(β − 1) + (r − q)β − r = 0
 *
 * (β < 0 for puts, β > 1 for calls; McKean 1965), with the largest σ and the least favourable rates of the life;
 * undefined if there is none. A digital is exercised as soon as it is in the money. The solution beyond this price is
 * the payoff, so the mesh may end there, which saves half of its nodes.
 */
export function certainExercise(problem: OneFactorProblem): number | undefined {
  const { american, payoff, diffusion, dividends, expiry } = problem;
  if (
    !american ||
    payoff.exerciseSide === "unknown" ||
    dividends.some(({ cash, proportional }) => cash > 0 || proportional > 0) ||
    diffusion.kind !== "deterministic"
  )
    return undefined;
  const put = payoff.exerciseSide === "low";
  const rates = valuesInLife(problem.rates, expiry);
  const rate = Math.min(...rates);
  if (payoff.jumps) return rate >= 0 ? payoff.kinks[0] : undefined;
  // Paid a dividend at expiry it is another one.
  if (payoff.vanillaSign === undefined) return undefined;
  const yieldRate = problem.dividendYield;
  if ((put ? rate : yieldRate) < 1e-4 || rate < 0) return undefined;
  const sigma = Math.max(...valuesInLife(diffusion.sigma, expiry), 1e-8);
  // A call's boundary rises with r, a put's falls as r does: the cautious rate is the highest, and the lowest.
  const r = put ? rate : Math.max(...rates);
  const m = (r - yieldRate) / (sigma * sigma) - 0.5;
  const beta = -m + (put ? -1 : 1) * Math.sqrt(m * m + (2 * r) / (sigma * sigma));
  return payoff.kinks[0] * (beta / (beta - 1)) * Math.exp((put ? -0.1 : 0.1) * deviationOf(problem));
}

/** Returns the values that a piecewise constant function takes between today and expiry. */
export function valuesInLife(
  { times, values }: { times: readonly number[]; values: readonly number[] },
  expiry: number,
): readonly number[] {
  const end = times.findIndex((time) => time >= expiry);
  return end < 0 ? values : values.slice(0, end + 1);
}
