/** Schedules of coupons and periods, counted back from their end. */
import { BookError } from "../base/errors.ts";
import type { Clock } from "./clock.ts";
import type { Place } from "./place.ts";
import type { Period } from "./rates-types.ts";
import { monthsBefore, type TimeSpec, yearsText } from "./time.ts";

/** The maximum number of payments of one trade. */
const MAX_PAYMENTS = 10_000;
/**
 * A first period that is shorter than `years` and also shorter than `part` of a regular period is merged with the next
 * one.
 */
const SHORTEST = { years: 7 / 365, part: 0.25 };

/**
 * Returns the ends of payment periods, `frequency` of them a year, counted back from `end`, in increasing order and in
 * years. The first is the latest one at or before `start`. Dates step by calendar months if a period is a whole number
 * of months. Times in years step by 1/`frequency`. @throws BookError more payments than a trade may have
 */
export function timesBack(end: TimeSpec, frequency: number, start: number, clock: Clock, place: Place): number[] {
  const last = clock.years(end);
  const expected = (last - start) * frequency;
  if (expected > MAX_PAYMENTS)
    throw new BookError(place("frequency"), `expected at most ${MAX_PAYMENTS} payments, got ${Math.ceil(expected)}`);
  const times = [last];
  for (let k = 1; times[0] > start; k++) times.unshift(clock.years(back(end, last, k, frequency, clock)));
  return times;
}

function back(end: TimeSpec, last: number, periods: number, frequency: number, { asOf }: Clock): TimeSpec {
  const months = (12 * periods) / frequency;
  if (end.kind === "years" || 12 % frequency !== 0) return { kind: "years", years: last - periods / frequency };
  return monthsBefore(asOf, end, months);
}

/**
 * Returns the payment periods of a swap leg. The first one is shorter if `start` is not a whole number of periods
 * before `end`.
 */
export function periodsOf(
  { start: from, end, frequency }: { readonly start: TimeSpec; readonly end: TimeSpec; readonly frequency: number },
  clock: Clock,
  place: Place,
): Period[] {
  const start = clock.years(from);
  const last = clock.years(end);
  if (!(last > start))
    throw new BookError(place("end"), `expected a time after start, which is ${yearsText(start)} from asOf`);
  const times = timesBack(end, frequency, start, clock, place);
  const shortest = Math.min(SHORTEST.years, SHORTEST.part / frequency);
  const ends = times.filter((time) => time > start + shortest);
  return ends.map((time, i) => ({ start: i === 0 ? start : ends[i - 1], end: time }));
}
