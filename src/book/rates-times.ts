/** Times of trades on rates: periods counted back, and times of exercise. */
import { BookError } from "../base/errors.ts";
import type { PathOf } from "./paths.ts";
import type { RatesExercise } from "./rates-types.ts";
import type { ExerciseSpec } from "./schema/index.ts";
import { type Clock, MAX_YEARS, monthsBefore, type TimeSpec, yearsText } from "./time.ts";

/** The maximum number of payments of one trade. */
const MAX_PAYMENTS = 10_000;
/**
 * Returns the ends of payment periods, `frequency` of them a year, counted back from `end`, in increasing order and in
 * years. The first is the latest one at or before `start`. Dates step by calendar months if a period is a whole number
 * of months. Times in years step by 1/`frequency`. @throws BookError more payments than a trade may have
 */
export function timesBack(end: TimeSpec, frequency: number, start: number, clock: Clock, pathOf: PathOf): number[] {
  const last = clock.years(end);
  const expected = (last - start) * frequency;
  if (expected > MAX_PAYMENTS)
    throw new BookError(pathOf("frequency"), `expected at most ${MAX_PAYMENTS} payments, got ${Math.ceil(expected)}`);
  const times = [last];
  for (let k = 1; times[0] > start; k++) times.unshift(clock.years(back(end, last, k, frequency, clock)));
  return times;
}

function back(end: TimeSpec, last: number, periods: number, frequency: number, { asOf }: Clock): TimeSpec {
  const months = (12 * periods) / frequency;
  if (end.kind === "years" || 12 % frequency !== 0) return { kind: "years", years: last - periods / frequency };
  return monthsBefore(asOf, end, months);
}

const pastText = (years: number): string => (years === 0 ? "asOf itself" : `one ${yearsText(-years)} before it`);

/** Converts a time to years. @throws BookError if it is not after `asOf` or too far in the future */
export function laterThanNow(time: TimeSpec, clock: Clock, path: () => string): number {
  const years = clock.years(time);
  if (years <= 0) throw new BookError(path(), `expected a time after asOf, got ${pastText(years)}`);
  if (years > MAX_YEARS) throw new BookError(path(), `expected at most ${MAX_YEARS} years, got ${years.toFixed(0)}`);
  return years;
}

/** How times become years from `asOf`. */
type Times = Pick<Clock, "asOf" | "years">;

function notPast(time: TimeSpec, clock: Times, path: () => string): number {
  const years = clock.years(time);
  if (years < 0) throw new BookError(path(), `expected a date from asOf on, got ${pastText(years)}`);
  if (years > MAX_YEARS) throw new BookError(path(), `expected at most ${MAX_YEARS} years, got ${years.toFixed(0)}`);
  return years;
}

/** Converts the times of a right to years. @throws BookError for times that are past, or out of order */
export function resolveExercise(
  { expiry, exercise }: { readonly expiry?: TimeSpec | undefined; readonly exercise?: ExerciseSpec | undefined },
  clock: Times,
  pathOf: PathOf,
): RatesExercise {
  const atExpiry = expiry === undefined ? undefined : notPast(expiry, clock, () => pathOf("expiry"));
  if (exercise?.kind === "bermudan") {
    const times = exercise.times.map((time, i) => {
      const years = notPast(time, clock, () => pathOf("exercise", i));
      if (atExpiry === undefined || years <= atExpiry) return years;
      throw new BookError(pathOf("exercise", i), `expected a date up to expiry, ${yearsText(atExpiry)} from asOf`);
    });
    if (atExpiry !== undefined) times.push(atExpiry);
    return { kind: "dates", times: [...new Set(times)].sort((a, b) => a - b) };
  }
  if (atExpiry === undefined)
    throw new BookError(pathOf("expiry"), 'expected a date, or a list of dates as "exercise"; got nothing');
  if (exercise?.kind === "american") return { kind: "american", from: 0, to: atExpiry };
  return { kind: "dates", times: [atExpiry] };
}

/** Returns the last time at which a right may be exercised. */
export const lastExercise = (exercise: RatesExercise): number =>
  exercise.kind === "american" ? exercise.to : exercise.times[exercise.times.length - 1];

/** @throws BookError for a right that ends too late */
export function checkBefore(exercise: RatesExercise, end: number, what: string, pathOf: PathOf): void {
  if (lastExercise(exercise) < end) return;
  const field = exercise.kind === "dates" && exercise.times.length > 1 ? "exercise" : "expiry";
  throw new BookError(pathOf(field), `expected a time before ${what}, ${yearsText(end)} from asOf`);
}
