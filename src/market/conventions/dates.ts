/** Days of the Gregorian calendar as whole numbers, and tenors. */
import { SpecError } from "../../base/errors.ts";

/** A day: the number of days since 1 January 1970. @experimental */
export type Day = number;

/** The year, the month from 1 and the day of the month from 1 of a day. @experimental */
export interface CivilDate {
  readonly year: number;
  readonly month: number;
  readonly day: number;
}

const DAYS_PER_ERA = 146_097; // 400 years

/** Returns a day from its year, its month and its day of the month; a month beyond 12 or below 1 is in another year. */
export function dayFrom(year: number, month: number, day: number): Day {
  // Years begin in March, so that a leap day is the last of its year.
  const months = year * 12 + month - 3;
  const shifted = Math.floor(months / 12);
  const inYear = Math.floor((153 * (months - 12 * shifted) + 2) / 5) + day - 1;
  const leaps = Math.floor(shifted / 4) - Math.floor(shifted / 100) + Math.floor(shifted / 400);
  return 365 * shifted + leaps + inYear - 719_468;
}

/** Returns the year, the month and the day of the month of a day. */
export function civilDate(day: Day): CivilDate {
  const era = Math.floor((day + 719_468) / DAYS_PER_ERA);
  const inEra = day + 719_468 - era * DAYS_PER_ERA;
  const leaps = Math.floor(inEra / 1460) - Math.floor(inEra / 36_524) + Math.floor(inEra / 146_096);
  const shifted = Math.floor((inEra - leaps) / 365);
  const inYear = inEra - (365 * shifted + Math.floor(shifted / 4) - Math.floor(shifted / 100));
  const fromMarch = Math.floor((5 * inYear + 2) / 153);
  const month = fromMarch < 10 ? fromMarch + 3 : fromMarch - 9;
  return {
    year: shifted + era * 400 + (month <= 2 ? 1 : 0),
    month,
    day: inYear - Math.floor((153 * fromMarch + 2) / 5) + 1,
  };
}

/** Returns the day of an ISO 8601 date. @throws SpecError for any other text */
export function dayOf(iso: string): Day {
  const parts = /^(\d{4})-(\d\d)-(\d\d)$/.exec(iso);
  const [year, month, date] = (parts ?? []).slice(1).map(Number);
  const day = parts ? dayFrom(year, month, date) : NaN;
  if (isoOf(day) !== iso) throw new SpecError(`"${iso}": not a date; expected YYYY-MM-DD, such as 2027-03-31`);
  return day;
}

/** Returns a day as an ISO 8601 date. */
export function isoOf(day: Day): string {
  const { year, month, day: date } = civilDate(day);
  const two = (n: number): string => String(n).padStart(2, "0");
  return `${String(year).padStart(4, "0")}-${two(month)}-${two(date)}`;
}

/** Returns the day of the week, from 0 (Monday) to 6 (Sunday). */
export const weekdayOf = (day: Day): number => (((day + 3) % 7) + 7) % 7;

export const isWeekend = (day: Day): boolean => weekdayOf(day) >= 5;

/** Returns the last day of a day's month. */
export function monthEnd(day: Day): Day {
  const { year, month } = civilDate(day);
  return dayFrom(year, month + 1, 1) - 1;
}

export const isLeapYear = (year: number): boolean => year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);

/** Returns the day some months later, on a day of the month that is cut to the month's length. */
export function addMonths(day: Day, months: number, dayOfMonth = civilDate(day).day): Day {
  const { year, month } = civilDate(day);
  const first = dayFrom(year, month + months, 1);
  return Math.min(first + dayOfMonth - 1, monthEnd(first));
}

/** Returns the n-th weekday (0: Monday) of a month; n = −1 is the last one. */
export function nthWeekday(year: number, month: number, weekday: number, n: number): Day {
  const first = dayFrom(year, month, 1);
  if (n > 0) return first + ((weekday - weekdayOf(first) + 7) % 7) + 7 * (n - 1);
  const last = monthEnd(first);
  return last - ((weekdayOf(last) - weekday + 7) % 7);
}

/** Returns Easter Sunday of a year, by the algorithm of Butcher (1876). */
export function easterSunday(year: number): Day {
  const a = year % 19;
  const b = Math.floor(year / 100);
  const c = year % 100;
  const d = (19 * a + b - Math.floor(b / 4) - Math.floor((b - Math.floor((b + 8) / 25) + 1) / 3) + 15) % 30;
  const e = (32 + 2 * (b % 4) + 2 * Math.floor(c / 4) - d - (c % 4)) % 7;
  const f = d + e - 7 * Math.floor((a + 11 * d + 22 * e) / 451) + 114;
  return dayFrom(year, Math.floor(f / 31), (f % 31) + 1);
}

/** A tenor: a number of months, or a number of days (business days where a calendar advances by it), or of weeks. */
export interface Tenor {
  readonly count: number;
  readonly unit: "D" | "W" | "M";
}

/** Returns a tenor from its text: "2D", "1W", "6M", "18M", "-1M" or "2Y". @throws SpecError for any other text */
export function tenorOf(text: string): Tenor {
  const parts = /^([+-]?\d{1,5})([DWMY])$/i.exec(text);
  if (!parts) throw new SpecError(`expected a tenor of one unit (10D, 2W, 6M, 5Y), got "${text}"`);
  const unit = parts[2].toUpperCase() as "D" | "W" | "M" | "Y";
  return unit === "Y" ? { count: 12 * Number(parts[1]), unit: "M" } : { count: Number(parts[1]), unit };
}

/** Returns the n-th next third Wednesday of March, June, September or December. n = 1 is the next one. */
export function immDate(after: Day, n = 1): Day {
  const { year, month } = civilDate(after);
  const quarter = 3 * Math.ceil(month / 3);
  const first = nthWeekday(year, quarter, 2, 3) > after ? 0 : 1;
  const months = quarter + 3 * (first + n - 1);
  return nthWeekday(year + Math.floor((months - 1) / 12), ((months - 1) % 12) + 1, 2, 3);
}
