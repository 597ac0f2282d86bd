/** The schema of a list of dates, which a schedule may give. */
import * as z from "zod";
import { calendarOf, type Day, scheduleOf } from "../../market/conventions/index.ts";
import type { TimeSpec } from "../time.ts";
import { tenor } from "./curves.ts";
import { dates } from "./linear.ts";
import { choose, list, object, time, type Input, type Output } from "./values.ts";

const MS_PER_DAY = 86_400_000;

const terms = object({ from: time, to: time, ...dates, every: tenor });

/** Returns the adjusted days of a schedule, its first and its last included. */
function daysOf({ from, to, every, calendar, roll, first, penultimate, ...rest }: Output<typeof terms>): Day[] {
  const day = (of: TimeSpec): Day => {
    if (of.kind === "day") return of.midnight / MS_PER_DAY;
    throw new Error('schedule: expected dates, such as "2027-03-31", from which to which it goes');
  };
  const spec = {
    from: day(from),
    to: day(to),
    every,
    ...(calendar === undefined ? {} : { calendar: calendarOf(calendar) }),
    ...(roll === undefined ? {} : { counted: roll }),
    first: first && day(first),
    penultimate: penultimate && day(penultimate),
  };
  const { adjust, stub, endOfMonth = false, rollDay } = rest;
  const more = { ...(adjust === undefined ? {} : { adjust }), ...(stub === undefined ? {} : { stub }) };
  return [...scheduleOf({ ...spec, ...more, endOfMonth, rollDay }).dates];
}

const schedule = object({ schedule: terms }).transform((of, context): TimeSpec[] => {
  try {
    return daysOf(of.schedule).map((day) => ({ kind: "day", midnight: day * MS_PER_DAY }));
  } catch (error) {
    context.addIssue({ code: "custom", message: (error as Error).message });
    return z.NEVER;
  }
});

/** The schemas of dates: one by one, or by `{ "schedule" }`. */
export const dateForms = {
  list: list(time, "a list of dates, at least one", 1),
  marked: { schedule },
} as const;

/** The schema of dates. */
export const dateList = choose('a list of dates or { "schedule" }', dateForms);

/** The type of such dates in a book. */
export type DatesInput = Input<typeof dateList>;
