/** Day counts: the fraction of a year from one day (included) to another (not included). */
import { addMonths, civilDate, type Day, dayFrom, isLeapYear, monthEnd } from "./dates.ts";

/** A coupon period, for the day counts that look at it. @experimental */
export interface Period {
  readonly start: Day;
  readonly end: Day;
  /** The coupons of a year. */
  readonly frequency: number;
  /** How an odd period is split into regular ones: back from its end, or on from its start. */
  readonly stub?: "front" | "back" | undefined;
  /** Whether the coupons are at ends of months. */
  readonly monthEnd?: boolean | undefined;
}

/**
 * The further inputs of a day count besides its two days: the coupon period and the last day of the trade.
 * @experimental
 */
export interface DayCountContext {
  readonly period?: Period | undefined;
  /** The day on which the trade ends, for 30E/360 (ISDA). */
  readonly termination?: Day | undefined;
}

type Count = (start: Day, end: Day, context: DayCountContext) => number;

/** The day counts by name; sections of the ISDA definitions of 2006. */
export const DAY_COUNTS = {
  "Act/360": (start, end) => (end - start) / 360, // 4.16(e)
  "Act/365F": (start, end) => (end - start) / 365, // 4.16(d)
  "Act/Act ISDA": actActIsda, // 4.16(b)
  "Act/Act ICMA": actActIcma, // 4.16(c), ICMA 251
  "Act/Act AFB": actActAfb,
  "30/360": (start, end) => thirty(start, end, (d1, d2) => [Math.min(d1, 30), d2 === 31 && d1 >= 30 ? 30 : d2]), // (f)
  "30/360 US": (start, end) =>
    thirty(start, end, (d1, d2) => {
      const last = isLastOfFebruary(start);
      const first = last ? 30 : d1;
      const second = last && isLastOfFebruary(end) ? 30 : d2;
      return [Math.min(first, 30), second === 31 && first >= 30 ? 30 : second];
    }),
  "30E/360": (start, end) => thirty(start, end, (d1, d2) => [Math.min(d1, 30), Math.min(d2, 30)]), // (g)
  "30E/360 ISDA": (start, end, { termination }) =>
    thirty(start, end, (d1, d2) => {
      const keeps = end === termination && civilDate(end).month === 2;
      return [start === monthEnd(start) ? 30 : d1, end === monthEnd(end) && !keeps ? 30 : d2];
    }), // (h)
  "Act/365L": act365L, // ICMA 251.1(i)
} as const satisfies Readonly<Record<string, Count>>;

/** The name of a day count. @experimental */
export type DayCount = keyof typeof DAY_COUNTS;

/**
 * Returns the fraction of a year from a day (included) to another (not included).
 * @param context the coupon period, for Act/Act ICMA and Act/365L; the trade's last day, for 30E/360 ISDA
 */
export function yearFraction(count: DayCount, start: Day, end: Day, context: DayCountContext = {}): number {
  return DAY_COUNTS[count](start, end, context);
}

function thirty(start: Day, end: Day, days: (d1: number, d2: number) => readonly [number, number]): number {
  const [a, b] = [civilDate(start), civilDate(end)];
  const [d1, d2] = days(a.day, b.day);
  return (360 * (b.year - a.year) + 30 * (b.month - a.month) + d2 - d1) / 360;
}

const isLastOfFebruary = (day: Day): boolean => day === monthEnd(day) && civilDate(day).month === 2;

function actActIsda(start: Day, end: Day): number {
  const [first, last] = [civilDate(start).year, civilDate(end).year];
  let [leap, other] = [0, 0];
  for (let year = first; year <= last; year++) {
    const days = Math.min(end, dayFrom(year + 1, 1, 1)) - Math.max(start, dayFrom(year, 1, 1));
    if (isLeapYear(year)) leap += days;
    else other += days;
  }
  return leap / 366 + other / 365;
}

/** The part of a period from one day to another, by the regular periods that it consists of. */
function actActIcma(start: Day, end: Day, { period }: DayCountContext): number {
  const { frequency, stub = "front", ...whole } = period ?? { start, end, frequency: 1 };
  let sum = 0;
  for (const [from, to] of regularPeriods({ ...whole, frequency, stub })) {
    const days = Math.min(end, to) - Math.max(start, from);
    if (days > 0) sum += days / (frequency * (to - from));
  }
  return sum;
}

/** Returns the regular periods, some of them notional, that cover a coupon period. */
export function regularPeriods({ start, end, frequency, stub = "front", monthEnd: atEnd }: Period): [Day, Day][] {
  const months = 12 / frequency;
  const seed = stub === "front" ? end : start;
  const at = (k: number): Day => {
    const day = addMonths(seed, k * months);
    return atEnd ? monthEnd(day) : day;
  };
  const periods: [Day, Day][] = [];
  if (stub === "front") for (let k = 0; k === 0 || at(k) > start; k--) periods.unshift([at(k - 1), at(k)]);
  else for (let k = 0; k === 0 || at(k) < end; k++) periods.push([at(k), at(k + 1)]);
  return periods;
}

function actActAfb(start: Day, end: Day): number {
  let years = 0;
  while (backBy(end, years + 1) >= start) years++;
  const rest = backBy(end, years);
  const { year } = civilDate(start);
  const isLeap = [year, year + 1].some((y) => isLeapYear(y) && inside(dayFrom(y, 2, 29), start, rest));
  return years + (rest - start) / (isLeap ? 366 : 365);
}

/** The same date some years before; the last day of February stays the last one. */
function backBy(day: Day, years: number): Day {
  const moved = addMonths(day, -12 * years);
  return isLastOfFebruary(day) ? monthEnd(moved) : moved;
}

const inside = (day: Day, from: Day, before: Day): boolean => day >= from && day < before;

function act365L(start: Day, end: Day, { period }: DayCountContext): number {
  const last = period?.end ?? end;
  if ((period?.frequency ?? 1) !== 1) return (end - start) / (isLeapYear(civilDate(last).year) ? 366 : 365);
  const { year } = civilDate(last);
  const isLeap = [year - 1, year].some(
    (y) => isLeapYear(y) && inside(dayFrom(y, 2, 29), (period?.start ?? start) + 1, last + 1),
  );
  return (end - start) / (isLeap ? 366 : 365);
}
