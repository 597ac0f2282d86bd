/** The spots of a book's past: fixings by underlying and date, on which averages, barriers and scripts depend. */
import { BookError } from "../base/errors.ts";
import { quote } from "./names.ts";
import type { MarketSpec } from "./schema/index.ts";
import { type Clock, isoDay, type TimeSpec } from "./time.ts";
import type { ExchangeRate } from "./types.ts";

/** Dates of one underlying, divided into those that are fixed and those to come. */
export interface DividedDates {
  /** The fixed spots by their index among all dates. */
  readonly past: readonly number[];
  /** The dates to come. */
  readonly left: readonly TimeSpec[];
}

/**
 * The fixings of an underlying as a trade sees them: in the currency of a composite, at the exchange rate of the day.
 */
export class History {
  readonly #fixings: MarketSpec["fixings"];
  readonly #factors: readonly { readonly name: string; readonly power: number }[];
  readonly #clock: Clock;

  constructor(name: string, fixings: MarketSpec["fixings"], clock: Clock, rate?: Pick<ExchangeRate, "pair" | "power">) {
    this.#factors = [{ name, power: 1 }, ...(rate === undefined ? [] : [{ name: rate.pair, power: rate.power }])];
    this.#fixings = fixings;
    this.#clock = clock;
  }

  /**
   * Returns the fixing of a date; undefined where there is none. @throws BookError for one that is not above 0, and for
   * an exchange rate or a spot that the day has without the other
   */
  on(time: TimeSpec, path: string): number | undefined {
    const day = isoDay(this.#clock.asOf, time).slice(0, 10);
    const found = this.#factors.map(({ name }) => this.#fixings?.get(name)?.get(day));
    const bad = found.findIndex((value) => value !== undefined && !(value > 0));
    if (bad >= 0)
      throw new BookError(
        path,
        `expected a fixing above 0 as market.fixings.${this.#factors[bad].name}["${day}"], got ${found[bad]}`,
      );
    const missing = found.indexOf(undefined);
    if (missing < 0) return found.reduce((product: number, value, i) => product * value! ** this.#factors[i].power, 1);
    if (found.every((value) => value === undefined)) return undefined;
    throw new BookError(
      path,
      `the fixing of ${quote(this.#factors[missing].name)} on ${day} is missing beside that of ` +
        `${quote(this.#factors[1 - missing].name)}; add it to market.fixings`,
    );
  }

  /**
   * Divides dates. Those before `asOf` are fixed, and so is `asOf` if its fixing is there. @throws BookError for a date
   * before `asOf` without a fixing; `path` returns the position of a date
   */
  divide(dates: readonly TimeSpec[], path: (index: number) => string): DividedDates {
    const past: number[] = [];
    const left: TimeSpec[] = [];
    for (const [i, date] of dates.entries()) {
      const years = this.#clock.years(date);
      const fixed = years > 0 ? undefined : this.on(date, path(i));
      if (years < 0 && fixed === undefined)
        throw new BookError(
          path(i),
          `lies before asOf, and market.fixings has no ${quote(this.#factors[0].name)} of that day; add it`,
        );
      if (fixed === undefined) left.push(date);
      else past.push(fixed);
    }
    return { past, left };
  }
}
