import { INSTANT } from "../market/index.ts";
import { type AsOf, type TimeSpec, yearsFrom } from "./time.ts";

/**
 * Converts dates to years for related times, such as those of one trade. Two times less than a second apart become
 * equal, because 30/365·k/30 and 30/365 may differ by rounding.
 */
export class Clock {
  readonly asOf: AsOf;
  readonly #dividends: readonly { readonly time: number }[];
  /** The times converted so far, in years. The key is the nearest second. */
  readonly #seen = new Map<number, number>();

  /**
   * Starts with the times of the dividends of the trade's underlyings, so that equal dates of the trade become equal to
   * them.
   */
  constructor(asOf: AsOf, dividends: readonly { readonly time: number }[] = []) {
    this.asOf = asOf;
    this.#dividends = dividends;
    this.#remember(0);
  }

  /** Returns a time in years from `asOf`. */
  years(spec: TimeSpec): number {
    const years = yearsFrom(this.asOf, spec);
    const second = Math.round(years / INSTANT);
    for (let near = second - 1; near <= second + 1; near++) {
      const known = this.#seen.get(near);
      if (known !== undefined && isSame(known, years)) return known;
    }
    const paid = this.#dividends.find(({ time }) => isSame(time, years));
    return this.#remember(paid === undefined ? years : paid.time);
  }

  #remember(years: number): number {
    this.#seen.set(Math.round(years / INSTANT), years);
    return years;
  }
}

const isSame = (a: number, b: number): boolean => Math.abs(a - b) < INSTANT;
