/** Schedules: the dates of periods, from one day to another in steps of a tenor. */
import { SpecError } from "../../base/errors.ts";
import { type BusinessDayConvention, type Calendar, calendarOf } from "./calendar.ts";
import { addMonths, civilDate, type Day, dayFrom, isoOf, monthEnd, type Tenor } from "./dates.ts";

/** The specification of a schedule: its start, end, tenor, calendar and rules. @experimental */
export interface ScheduleSpec {
  readonly from: Day;
  readonly to: Day;
  readonly every: Tenor;
  readonly calendar?: Calendar;
  /** How dates are adjusted; modified following by default. */
  readonly adjust?: BusinessDayConvention;
  /** How the last date is adjusted; by default as the others. */
  readonly adjustLast?: BusinessDayConvention;
  /** Whether dates are counted back from the end (the default) or on from the start. */
  readonly counted?: "backward" | "forward";
  /** The position of the odd period, and whether it is merged with its neighbour. */
  readonly stub?: "short" | "long";
  /** The unadjusted end of the first period, or start of the last one, where it is not regular. */
  readonly first?: Day | undefined;
  readonly penultimate?: Day | undefined;
  /** Whether dates are at ends of months if the day from which they are counted is. */
  readonly endOfMonth?: boolean;
  /** The day of the month of dates, other than the first and the last. */
  readonly rollDay?: number | undefined;
}

/**
 * The dates of a schedule, before and after adjustment. Dates that coincide after adjustment appear once in `dates`,
 * which may then be shorter than `unadjusted`. @experimental
 */
export interface Schedule {
  readonly unadjusted: readonly Day[];
  readonly dates: readonly Day[];
}

/**
 * Returns the dates of a schedule. Dates are counted from one day in multiples of the tenor, so that a 31st comes back
 * after February.
 *
 * @throws SpecError if the end does not lie after the start, or the tenor is not positive
 */
export function scheduleOf(spec: ScheduleSpec): Schedule {
  const {
    from,
    to,
    every,
    calendar = calendarOf("weekends"),
    adjust = "modified-following",
    adjustLast = adjust,
  } = spec;
  if (!(to > from))
    throw new SpecError(`schedule: it ends on ${isoOf(to)}, which is not after its start, ${isoOf(from)}`);
  if (!(every.count > 0)) throw new SpecError("schedule: every: expected a tenor above zero, such as 3M");
  const { first = from, penultimate = to } = spec;
  if (first < from || penultimate > to || first > penultimate)
    throw new SpecError(
      `schedule: first and penultimate: expected dates in this order from ${isoOf(from)} to ${isoOf(to)}, got ` +
        `${isoOf(first)} and ${isoOf(penultimate)}`,
    );
  const unadjusted = rollDates(spec);
  const last = unadjusted.length - 1;
  const dates = unadjusted.map((day, k) => calendar.adjust(day, k === last ? adjustLast : adjust));
  return { unadjusted, dates: dates.filter((day, k) => k === 0 || day > dates[k - 1]) };
}

function rollDates(spec: ScheduleSpec): Day[] {
  const { from, to, counted = "backward", stub = "short", first, penultimate } = spec;
  const backward = counted === "backward";
  const [begin, end] = [first ?? from, penultimate ?? to];
  const seed = backward ? end : begin;
  const between: Day[] = [];
  for (let k = 1; ; k++) {
    const day = rolled(spec, seed, backward ? -k : k);
    if (backward ? day <= begin : day >= end) break;
    between.push(day);
  }
  if (backward) between.reverse();
  const odd = backward
    ? rolled(spec, seed, -between.length - 1) !== begin
    : rolled(spec, seed, between.length + 1) !== end;
  if (stub === "long" && odd && between.length > 0) {
    if (backward && first === undefined) between.shift();
    if (!backward && penultimate === undefined) between.pop();
  }
  const dates = [
    from,
    ...(first === undefined ? [] : [first]),
    ...between,
    ...(penultimate === undefined ? [] : [penultimate]),
    to,
  ];
  return dates.filter((day, k) => k === 0 || day > dates[k - 1]);
}

function rolled({ every, endOfMonth, rollDay }: ScheduleSpec, seed: Day, k: number): Day {
  const { count, unit } = every;
  if (unit !== "M") return seed + k * count * (unit === "W" ? 7 : 1);
  const day = addMonths(seed, k * count, rollDay);
  return endOfMonth && seed === monthEnd(seed) ? monthEnd(day) : day;
}

/** Returns the payment date of a period: the business day that is `lag` business days after the end of the period. */
export const paymentDate = (end: Day, lag: number, calendar: Calendar): Day => calendar.addBusinessDays(end, lag);

/** The months of credit dates, on the 20th. */
const CREDIT_MONTHS = [3, 6, 9, 12];

/**
 * Returns the maturity of a standard credit default swap of some months. Since December 2015 the maturities of new
 * swaps change in March and September.
 */
export function creditMaturity(trade: Day, months: number): Day {
  const { year, month, day } = civilDate(trade);
  const after = (m: number): boolean => month > m || (month === m && day >= 20);
  const [y, m] = after(9) ? [year, 12] : after(3) ? [year, 6] : [year - 1, 12];
  return dayFrom(y, m + months, 20);
}

/**
 * Returns the dates of a standard credit default swap: the adjusted start of the first period and the adjusted coupon
 * dates, except the last, which is the unadjusted maturity.
 */
export function creditDates(trade: Day, maturity: Day, calendar: Calendar): Day[] {
  const { year } = civilDate(trade);
  const unadjusted: Day[] = [];
  for (let at = year - 1; dayFrom(at, 1, 1) < maturity; at++)
    for (const creditMonth of CREDIT_MONTHS) unadjusted.push(dayFrom(at, creditMonth, 20));
  const adjusted = unadjusted.filter((date) => date < maturity).map((date) => calendar.adjust(date, "following"));
  const first = adjusted.findLastIndex((date) => date <= trade + 1);
  return [...adjusted.slice(first), maturity];
}
