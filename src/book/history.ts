/** The spots of a book's past: fixings by underlying and date, on which averages, extremes and barriers depend. */
import { BookError } from "../base/errors.ts";
import { quote } from "./names.ts";
import type { MarketSpec } from "./schema/index.ts";
import { type Clock, isoDay, type TimeSpec } from "./time.ts";

/** Dates of one underlying, divided into those that are fixed and those to come. */
export interface DividedDates {
  /** The fixed spots by their index among all dates. */
  readonly past: readonly number[];
  /** The dates to come. */
  readonly left: readonly TimeSpec[];
}

/** The fixings of an underlying as a trade sees them. */
export class History {
  readonly #fixings: ReadonlyMap<string, number> | undefined;
  readonly #name: string;
  readonly #clock: Clock;

  constructor(name: string, fixings: MarketSpec["fixings"], clock: Clock) {
    this.#name = name;
    this.#fixings = fixings?.get(name);
    this.#clock = clock;
  }

  /** Returns the fixing of a date; undefined where there is none. */
  on(time: TimeSpec): number | undefined {
    return this.#fixings?.get(isoDay(this.#clock.asOf, time).slice(0, 10));
  }

  /**
   * Divides dates that increase. Those before `asOf` are fixed, and so is `asOf` if its fixing is there. @throws
   * BookError for a date before `asOf` without a fixing; `path` returns the position of a date
   */
  divide(dates: readonly TimeSpec[], path: (index: number) => string): DividedDates {
    const past: number[] = [];
    for (const [i, date] of dates.entries()) {
      const years = this.#clock.years(date);
      const fixed = years > 0 ? undefined : this.on(date);
      if (years < 0 && fixed === undefined)
        throw new BookError(
          path(i),
          `lies before asOf, and market.fixings has no ${quote(this.#name)} of that day; add it`,
        );
      if (fixed === undefined) return { past, left: dates.slice(i) };
      past.push(fixed);
    }
    return { past, left: [] };
  }
}
