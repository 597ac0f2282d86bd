import { ONE_SECOND } from "./rates.ts";

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

/** Returns the dividends as seen t years later. A dividend exactly at t counts as paid. */
export function rollDividends({ yield: yieldRate, discrete }: Dividends, t: number): Dividends {
  const left = discrete
    .filter(({ time }) => time > t + ONE_SECOND)
    .map((dividend) => ({ ...dividend, time: dividend.time - t }));
  return { yield: yieldRate, discrete: left };
}

/** Returns the spot just after a dividend, given the spot just before. */
export function afterDividend(spot: number, { cash, proportional }: DiscreteDividend): number {
  return Math.max(spot - spot * proportional - cash, 0);
}
