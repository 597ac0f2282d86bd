import { ONE_SECOND } from "../market/index.ts";

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
    const second = Math.round(years / ONE_SECOND);
    for (let near = second - 1; near <= second + 1; near++) {
      const known = this.#seen.get(near);
      if (known !== undefined && isSame(known, years)) return known;
    }
    const paid = this.#dividends.find(({ time }) => isSame(time, years));
    return this.#remember(paid === undefined ? years : paid.time);
  }

  #remember(years: number): number {
    this.#seen.set(Math.round(years / ONE_SECOND), years);
    return years;
  }
}

const isSame = (a: number, b: number): boolean => Math.abs(a - b) < ONE_SECOND;

/** Converts the dates of a book from ISO 8601 text to years from `asOf` (Act/365F). */

const MS_PER_DAY = 86_400_000;
/** The number of milliseconds in a year of 365 days. */
export const MS_PER_YEAR = 365 * MS_PER_DAY;
/** The largest time in years that a book may contain. Larger ones are mistakes, and would overflow in calculations. */
export const MAX_YEARS = 1000;

/** The valuation date or instant of a book. */
export interface AsOf {
  /** The milliseconds since 1970, UTC. */
  readonly instant: number;
  /** The milliseconds added to a plain date's midnight (UTC) to reach the time of day of `asOf` at its offset. */
  readonly timeOfDay: number;
}

/**
 * A time of a book after validation by its schema: a number of years, or a date or tenor that is still to be related to
 * `asOf`.
 */
export type TimeSpec =
  | { readonly kind: "years"; readonly years: number }
  | { readonly kind: "instant"; readonly instant: number }
  /** A date: midnight UTC of the day in milliseconds since 1970. Its time of day is that of `asOf`. */
  | { readonly kind: "day"; readonly midnight: number }
  /** A tenor: a number of calendar months after `asOf`'s day, and then a number of days. */
  | { readonly kind: "tenor"; readonly months: number; readonly days: number };

/** The pattern of an ISO date or instant. */
export const ISO = /^(\d{4})-(\d\d)-(\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?(Z|z|[+-]\d\d:?\d\d)?)?$/;

/**
 * The pattern of a tenor: `1Y`, `6M`, `2W`, `10D`, or a combination from the longest to the shortest unit, as in
 * `1Y6M`.
 */
export const TENOR = /^(?=\d)(?:(\d{1,4})[Yy])?(?:(\d{1,5})[Mm])?(?:(\d{1,5})[Ww])?(?:(\d{1,6})[Dd])?$/;

interface IsoMoment {
  readonly midnight: number;
  /** The time in milliseconds after `midnight`, in UTC; undefined for a date without a time. */
  readonly time: number | undefined;
  /** The time in milliseconds after midnight of the written day, in its own time zone. */
  readonly localTime: number;
}

/**
 * Reads `YYYY-MM-DD`, alone or with `Thh:mm[:ss[.fff]]` and `Z` or `±hh:mm`; UTC without an offset. Calendar and clock
 * are checked, so 2026-02-30 is nothing. Returns undefined for anything else.
 */
function parseIso(text: string): IsoMoment | undefined {
  const match = ISO.exec(text);
  if (match === null) return undefined;
  const [, year, month, day, hour, minute, second, fraction, offset] = match;
  const midnight = utcMidnight(Number(year), Number(month), Number(day));
  if (midnight === undefined) return undefined;
  if (hour === undefined) return { midnight, time: undefined, localTime: 0 };
  const localTime = clock(Number(hour), Number(minute), Number(second ?? 0), Number(`0.${fraction ?? "0"}`));
  const shift = offsetMs(offset);
  if (localTime === undefined || shift === undefined) return undefined;
  return { midnight, time: localTime - shift, localTime };
}

function utcMidnight(year: number, month: number, day: number): number | undefined {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  const same = date.getUTCFullYear() === year && date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  return same ? date.getTime() : undefined;
}

function clock(hour: number, minute: number, second: number, fraction: number): number | undefined {
  if (hour > 23 || minute > 59 || second > 59) return undefined;
  return ((hour * 60 + minute) * 60 + second) * 1000 + Math.floor(fraction * 1000);
}

function offsetMs(offset: string | undefined): number | undefined {
  if (offset === undefined || offset === "Z" || offset === "z") return 0;
  const hours = Number(offset.slice(1, 3));
  const minutes = Number(offset.slice(-2));
  if (hours > 23 || minutes > 59) return undefined;
  return (offset.startsWith("-") ? -1 : 1) * (hours * 60 + minutes) * 60_000;
}

/**
 * Parses the valuation date or instant. Returns undefined if the text is not an ISO date or instant. A plain date means
 * midnight UTC.
 */
export function parseAsOf(text: string): AsOf | undefined {
  const iso = parseIso(text);
  if (iso === undefined) return undefined;
  return { instant: iso.midnight + (iso.time ?? 0), timeOfDay: iso.time ?? 0 };
}

/** Parses a time. Returns undefined if the text is neither an ISO date or instant nor a tenor. */
export function parseTime(text: string): TimeSpec | undefined {
  const iso = parseIso(text);
  if (iso === undefined) return parseTenor(text);
  return iso.time === undefined
    ? { kind: "day", midnight: iso.midnight }
    : { kind: "instant", instant: iso.midnight + iso.time };
}

function parseTenor(text: string): TimeSpec | undefined {
  const match = TENOR.exec(text);
  if (match === null) return undefined;
  const [years, months, weeks, days] = match.slice(1).map((count: string | undefined) => Number(count ?? 0));
  return { kind: "tenor", months: 12 * years + months, days: 7 * weeks + days };
}

/**
 * Midnight UTC of the day of a tenor. The day of the month remains the same, or becomes the last one of a shorter
 * month: one month after 31 January is 28 or 29 February, and one month after 28 February is 28 March.
 */
function tenorMidnight(asOf: AsOf, months: number, days: number): number {
  return monthsAfter(asOf.instant - asOf.timeOfDay, months) + days * MS_PER_DAY;
}

function monthsAfter(midnight: number, months: number): number {
  const start = new Date(midnight);
  const end = new Date(0);
  // Day 0 of a month is the last one of the month before it.
  end.setUTCFullYear(start.getUTCFullYear(), start.getUTCMonth() + months + 1, 0);
  end.setUTCDate(Math.min(start.getUTCDate(), end.getUTCDate()));
  return end.getTime();
}

/**
 * Returns a time in years from `asOf`, (t − asOf) / 365 days. A plain date means that day at `asOf`'s own time of day,
 * so that it is a whole number of days away.
 */
export function yearsFrom(asOf: AsOf, time: TimeSpec): number {
  switch (time.kind) {
    case "years":
      return time.years;
    case "instant":
      return (time.instant - asOf.instant) / MS_PER_YEAR;
    case "day":
      return (time.midnight + asOf.timeOfDay - asOf.instant) / MS_PER_YEAR;
    case "tenor":
      return yearsFrom(asOf, dayOf(asOf, time));
    default:
      return time satisfies never;
  }
}

/**
 * Returns the time that is a number of calendar months before a date, an instant or a tenor. A day that the month does
 * not have becomes its last day.
 */
export function monthsBefore(asOf: AsOf, time: Exclude<TimeSpec, { kind: "years" }>, months: number): TimeSpec {
  if (time.kind === "tenor") return monthsBefore(asOf, dayOf(asOf, time), months);
  const moment = time.kind === "day" ? time.midnight : time.instant;
  const midnight = Math.floor(moment / MS_PER_DAY) * MS_PER_DAY;
  const earlier = monthsAfter(midnight, -months);
  return time.kind === "day"
    ? { kind: "day", midnight: earlier }
    : { kind: "instant", instant: earlier + moment - midnight };
}

function dayOf(asOf: AsOf, { months, days }: Extract<TimeSpec, { kind: "tenor" }>): Extract<TimeSpec, { kind: "day" }> {
  return { kind: "day", midnight: tenorMidnight(asOf, months, days) };
}

/** Returns the day of `asOf`, in its own time zone, as the number of days since 1970. */
export const dayOfAsOf = ({ instant, timeOfDay }: AsOf): number => (instant - timeOfDay) / MS_PER_DAY;

/** Returns the day of a time as the number of days since 1970, in the time zone of `asOf`. */
export const dayNumber = (asOf: AsOf, time: TimeSpec): number =>
  dayOfAsOf(asOf) + Math.floor(yearsFrom(asOf, time) * 365 + 1e-6);

/** Formats a time in years for a message. */
export function yearsText(years: number): string {
  const shown = Number(years.toPrecision(6));
  return `${shown} ${shown === 1 ? "year" : "years"}`;
}

/** Returns the valuation instant in ISO format, in UTC. */
export function isoInstant(asOf: AsOf): string {
  return new Date(asOf.instant).toISOString();
}

/** Returns a time as an ISO date. If the book gives an instant, its time of day is kept. */
export function isoDay(asOf: AsOf, time: TimeSpec): string {
  const instant = asOf.instant + yearsFrom(asOf, time) * MS_PER_YEAR;
  if (time.kind === "instant") return new Date(instant).toISOString();
  return new Date(Math.round(instant) - asOf.timeOfDay).toISOString().slice(0, 10);
}

/** Returns a time for results: a number of years if the book writes it so, otherwise an ISO date. */
export function timeText(asOf: AsOf, time: TimeSpec): number | string {
  return time.kind === "years" ? time.years : isoDay(asOf, time);
}
