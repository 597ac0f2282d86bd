import { combined, integrate, ONE_SECOND, type PiecewiseConstant, rollCurve } from "./rates.ts";

/**
 * A dividend at one time, `time` years from `asOf` (> 0). The spot falls by S·proportional + cash, but not below zero:
 *
 *   S⁺ = max(S⁻·(1 − proportional) − cash, 0).
 */
export interface DiscreteDividend {
  readonly time: number;
  /** The cash amount in the underlying's currency, ≥ 0. */
  readonly cash: number;
  /** The fraction of the spot just before, 0 … 1. */
  readonly proportional: number;
}

/** The dividends of an underlying. */
export interface Dividends {
  /** The continuous yield q per year; it may be negative (a borrow cost has the other sign). */
  readonly yield: number;
  /** What the yield of each time is above `yield`; undefined where it is the same at every time. */
  readonly excess?: PiecewiseConstant | undefined;
  /** The discrete dividends by strictly increasing time; dividends of one time are merged. */
  readonly discrete: readonly DiscreteDividend[];
}

/** The dividends of an underlying that pays no dividends. */
export const noDividends: Dividends = Object.freeze({ yield: 0, discrete: Object.freeze([]) });

/**
 * Returns the dividends of an underlying, with discrete dividends sorted by time. Dividends at the same time are added;
 * both refer to the spot before either. Dividends at or before time 0 are dropped, because the spot already excludes
 * them.
 */
export function dividendSchedule(yieldRate: number, discrete: readonly DiscreteDividend[]): Dividends {
  const merged = new Map<number, DiscreteDividend>();
  for (const dividend of discrete) {
    if (!(dividend.time > 0)) continue;
    const same = merged.get(dividend.time);
    merged.set(dividend.time, same === undefined ? dividend : added(same, dividend));
  }
  return { yield: yieldRate, discrete: [...merged.values()].sort((a, b) => a.time - b.time) };
}

function added(a: DiscreteDividend, b: DiscreteDividend): DiscreteDividend {
  return { time: a.time, cash: a.cash + b.cash, proportional: Math.min(a.proportional + b.proportional, 1) };
}

/** Returns the values that the yield has, the first of them from today on. */
export const yieldsOf = ({ yield: rate, excess }: Dividends): readonly number[] =>
  excess === undefined ? [rate] : excess.values.map((more) => rate + more);

/** Returns the integral of the yield up to a time. */
export const yieldTo = ({ yield: rate, excess }: Dividends, time: number): number =>
  rate * time + (excess === undefined ? 0 : integrate(excess, time));

/** Returns the rates that less the constant part of the yield are the drift. */
export const ratesLessYields = <Rates extends PiecewiseConstant>(
  rates: Rates,
  { excess }: Dividends,
): Rates | PiecewiseConstant => (excess === undefined ? rates : combined(rates, excess, (r, q) => r - q));

/** Returns the dividends as seen t years later. A dividend exactly at t counts as paid. */
export function rollDividends({ yield: yieldRate, excess, discrete }: Dividends, t: number): Dividends {
  const left = discrete
    .filter(({ time }) => time > t + ONE_SECOND)
    .map((dividend) => ({ ...dividend, time: dividend.time - t }));
  if (excess === undefined) return { yield: yieldRate, discrete: left };
  return { yield: yieldRate, excess: rollCurve(excess, t), discrete: left };
}

/** Returns the yield as seen t years earlier; the first value holds until its own date. */
export const yieldsBefore = ({ yield: rate, excess }: Dividends, t: number): Omit<Dividends, "discrete"> =>
  excess === undefined
    ? { yield: rate }
    : { yield: rate, excess: { ...excess, times: excess.times.map((time) => time + t) } };

/** Returns the spot just after a dividend, given the spot just before. */
export function afterDividend(spot: number, { cash, proportional }: DiscreteDividend): number {
  return Math.max(spot - spot * proportional - cash, 0);
}
