import { INSTANT } from "./piecewise.ts";

/**
 * A dividend on one date, `time` years from asOf (> 0), where S falls by S·proportional + cash, and never below zero,
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
  /** The discrete dividends by strictly increasing time; dividends of one time are merged. */
  readonly discrete: readonly DiscreteDividend[];
}

/** The dividends of an underlying that pays none. */
export const noDividends: Dividends = Object.freeze({ yield: 0, discrete: Object.freeze([]) });

/**
 * Sorts dividends by time, adds up those of the same time (both refer to the spot before either), and drops those at or
 * before time 0, which the spot already excludes.
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

/** Returns the dividends remaining after t years; one of that very day has been paid. */
export function laterDividends({ yield: yieldRate, discrete }: Dividends, t: number): Dividends {
  const left = discrete
    .filter(({ time }) => time > t + INSTANT)
    .map((dividend) => ({ ...dividend, time: dividend.time - t }));
  return { yield: yieldRate, discrete: left };
}

/** Returns the spot just after a dividend from the spot just before. */
export function afterDividend(spot: number, { cash, proportional }: DiscreteDividend): number {
  return Math.max(spot - spot * proportional - cash, 0);
}
