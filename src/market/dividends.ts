import { INSTANT } from "./piecewise.ts";

/**
 * A dividend on one date, `time` years from asOf (> 0): S falls by S·proportional + cash, and never below zero,
 *
 *   S⁺ = max(S⁻·(1 − proportional) − cash, 0).
 */
export interface DiscreteDividend {
  readonly time: number;
  /** The cash amount in the underlying's currency, ≥ 0. */
  readonly cash: number;
  /** The amount relative to the spot just before, 0 … 1. */
  readonly proportional: number;
}

export interface Dividends {
  /** The continuous yield q, per year, continuously compounded; may be negative (a borrow cost has the other sign). */
  readonly yield: number;
  /** The discrete dividends by time, strictly increasing: dividends of one time are merged. */
  readonly discrete: readonly DiscreteDividend[];
}

export const noDividends: Dividends = Object.freeze({ yield: 0, discrete: Object.freeze([]) });

/**
 * Sorts by time, adds up dividends of the same time (both parts refer to the spot before either), and leaves out those
 * at or before time 0: the spot already is without them.
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

/** The dividends that are left after t years: one of that very day is paid. */
export function laterDividends({ yield: yieldRate, discrete }: Dividends, t: number): Dividends {
  const left = discrete
    .filter(({ time }) => time > t + INSTANT)
    .map((dividend) => ({ ...dividend, time: dividend.time - t }));
  return { yield: yieldRate, discrete: left };
}

/** The spot just after a dividend, from the spot just before. */
export function afterDividend(spot: number, { cash, proportional }: DiscreteDividend): number {
  return Math.max(spot - spot * proportional - cash, 0);
}
