import type { Barrier, Exercise, Payoff, Trade } from "../book/index.ts";
import { INSTANT, rollCurve, rollDividends, rollVolatility, type Underlying } from "../market/index.ts";

/**
 * Returns the trade `years` later if the market follows its forwards: rates, dividends and volatilities keep their
 * calendar dates, and the spot is unchanged. Dividends up to that day are paid, and nobody has exercised. At expiry the
 * trade is worth its payoff. @returns undefined after expiry, when the trade is settled and worth nothing
 */
export function rollForward(trade: Trade, years: number): Trade | undefined {
  if (years === 0) return trade;
  const { underlying, volatility, exercise, barriers, assets } = trade;
  const expiry = rollExpiry(trade.expiry, years);
  if (expiry === undefined) return undefined;
  return {
    ...trade,
    expiry,
    payoff: rollPayoff(trade.payoff, underlying.spot, years),
    exercise: rollExercise(exercise, years),
    barriers: rollBarriers(barriers, years),
    volatility: rollVolatility(volatility, years),
    underlying: rollUnderlying(underlying, years),
    ...(assets === undefined
      ? {}
      : {
          assets: assets.map((asset) => ({
            underlying: rollUnderlying(asset.underlying, years),
            volatility: rollVolatility(asset.volatility, years),
          })),
        }),
  };
}

/** Returns an underlying as seen some years later: rates, dividends and volatility keep their calendar dates. */
export function rollUnderlying(underlying: Underlying, years: number): Underlying {
  return {
    ...underlying,
    rates: rollCurve(underlying.rates, years),
    dividends: rollDividends(underlying.dividends, years),
    volatility: underlying.volatility && rollVolatility(underlying.volatility, years),
  };
}

/** Fixings up to that day, the day's own excluded, are those of the spot as it is. */
function rollPayoff(payoff: Payoff, spot: number, years: number): Payoff {
  switch (payoff.kind) {
    case "average": {
      const { times, past, mean } = payoff;
      const left = times === "continuous" ? times : rollTimes(times, years);
      const passed = left === "continuous" ? years : times.length - left.length;
      const count = past.count + passed;
      if (passed === 0) return { ...payoff, times: left };
      const [a, b] = [past.count / count, passed / count];
      const both = mean === "arithmetic" ? a * past.mean + b * spot : past.mean ** a * spot ** b;
      return { ...payoff, times: left, past: { count, mean: both } };
    }
    case "lookback": {
      const { times, from, extremum, right, isFloating } = payoff;
      const isMaximum = (right === "call") !== isFloating;
      const begun = from < years && (times === "continuous" || times.some((time) => time < years && time >= from));
      const both = extremum === undefined ? spot : isMaximum ? Math.max(extremum, spot) : Math.min(extremum, spot);
      return {
        ...payoff,
        from: Math.max(from - years, 0),
        extremum: begun ? both : extremum,
        times: times === "continuous" ? times : rollTimes(times, years),
      };
    }
    case "swing":
      return { ...payoff, times: rollTimes(payoff.times, years) };
    default:
      return payoff;
  }
}

/** Returns the remaining time to expiry after some years: 0 on the day of expiry, undefined after it. */
export function rollExpiry(expiry: number, years: number): number | undefined {
  if (years === 0) return expiry;
  const left = expiry - years;
  if (left < -INSTANT) return undefined;
  return left < INSTANT ? 0 : left;
}

/** Returns an exercise right as it is some years later. */
export function rollExercise(exercise: Exercise, years: number): Exercise {
  if (years === 0 || exercise.kind !== "bermudan") return exercise;
  return { kind: "bermudan", times: rollTimes(exercise.times, years) };
}

/** Returns the barriers that are still monitored some years later. */
export function rollBarriers(barriers: readonly Barrier[], years: number): readonly Barrier[] {
  return years === 0 ? barriers : barriers.flatMap((barrier) => rollBarrier(barrier, years));
}

/** A barrier that has not been hit: after its window a knock-out is gone, and a knock-in is never monitored again. */
function rollBarrier(barrier: Barrier, years: number): Barrier[] {
  const { from, to, monitoring } = barrier;
  if (to < years - INSTANT)
    return barrier.type.endsWith("-out")
      ? []
      : [{ ...barrier, from: 0, to: 0, monitoring: { kind: "discrete", times: [] } }];
  return [
    {
      ...barrier,
      from: Math.max(from - years, 0),
      to: Math.max(to - years, 0),
      monitoring:
        monitoring.kind === "discrete" ? { kind: "discrete", times: rollTimes(monitoring.times, years) } : monitoring,
    },
  ];
}

function rollTimes(times: readonly number[], years: number): number[] {
  return times.filter((time) => time > years - INSTANT).map((time) => Math.max(time - years, 0));
}
