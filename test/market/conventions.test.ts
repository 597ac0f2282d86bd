/**
 * Conventions of markets: reference cases of calendars, day counts and schedules, dates beside those of JavaScript, and
 * what must hold for random schedules and calendars.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  addMonths,
  calendarOf,
  CALENDARS,
  type CalendarName,
  civilDate,
  DAY_COUNTS,
  type DayCount,
  dayFrom,
  dayOf,
  isoOf,
  scheduleOf,
  tenorOf,
  yearFraction,
} from "../../src/market/conventions/index.ts";
import type { Case } from "../../tools/reference/case.ts";
import { checked } from "../../tools/reference/main.ts";
import { readFixture } from "../support/fixtures.ts";

describe.each(["calendars", "day_counts", "schedules"])("reference cases of %s", (family) => {
  const { cases } = readFixture(`reference/${family}.json`) as { cases: Case[] };
  test.each(cases.map((one) => [one.id, one] as const))("%s", (_, one) => {
    expect(checked(one)).toEqual([]);
  });
});

const names = Object.keys(CALENDARS) as CalendarName[];
const day = fc.integer({ min: dayFrom(1990, 1, 1), max: dayFrom(2060, 12, 31) });

describe("dates", () => {
  test("are those of JavaScript, over 800 years", () => {
    fc.assert(
      fc.property(fc.integer({ min: -135_000, max: 157_000 }), (n) => {
        const iso = new Date(n * 86_400_000).toISOString().slice(0, 10);
        expect(isoOf(n)).toBe(iso);
        expect(dayOf(iso)).toBe(n);
      }),
    );
  });

  test("months later, on the same day or the last one of its month", () => {
    fc.assert(
      fc.property(day, fc.integer({ min: -400, max: 400 }), (from, months) => {
        const { year, month, day: date } = civilDate(from);
        const last = new Date(Date.UTC(year, month + months, 0)).getUTCDate();
        expect(addMonths(from, months)).toBe(Date.UTC(year, month - 1 + months, Math.min(date, last)) / 86_400_000);
      }),
    );
  });

  test.each(["2027-02-29", "2027-2-3", "2027-13-01", "", "next week"])("%s is refused", (text) => {
    expect(() => dayOf(text)).toThrow("not a date; expected YYYY-MM-DD");
  });
});

describe("calendars", () => {
  test("adjusting leads to the nearest business day on its side; joint calendars keep all holidays", () => {
    fc.assert(
      fc.property(fc.subarray(names, { minLength: 1, maxLength: 3 }), day, (parts, from) => {
        const calendar = calendarOf(parts);
        const next = calendar.adjust(from, "following");
        for (let d = from; d < next; d++) expect(calendar.isBusinessDay(d)).toBe(false);
        expect(calendar.isBusinessDay(next)).toBe(true);
        for (const part of parts) expect(calendarOf(part).isBusinessDay(next)).toBe(true);
        const modified = calendar.adjust(from, "modified-following");
        expect(civilDate(modified).month).toBe(civilDate(from).month);
        expect(calendar.businessDaysBetween(from, calendar.addBusinessDays(next, 7))).toBe(7);
      }),
    );
  });

  test("own holidays, and a name that is not known", () => {
    expect(calendarOf({ holidays: ["2027-03-31"] }).adjust(dayOf("2027-03-31"), "modified-following")).toBe(
      dayOf("2027-03-30"),
    );
    expect(() => calendarOf("TARGET2" as "TARGET")).toThrow('unknown calendar "TARGET2"; there are weekends, TARGET');
  });
});

test("day counts grow with the end and are a year over a year, to a day or two", () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...(Object.keys(DAY_COUNTS) as DayCount[])),
      day,
      fc.nat(4000),
      (count, start, length) => {
        const period = { start, end: addMonths(start, 12), frequency: 1 };
        const fraction = (end: number): number =>
          yearFraction(count, start, end, count === "Act/Act ICMA" ? {} : { period });
        expect(fraction(start)).toBe(0);
        expect(fraction(start + length)).toBeGreaterThanOrEqual(0);
        expect(Math.abs(fraction(addMonths(start, 12)) - 1)).toBeLessThan(0.02);
      },
    ),
  );
});

describe("schedules", () => {
  /** The dates one after the other, each from its own text: another way to the same dates, without stubs. */
  const naive = (from: string, months: number, count: number): string[] =>
    Array.from({ length: count + 1 }, (_, k) => {
      const [year, month, date] = from.split("-").map(Number) as [number, number, number];
      const last = new Date(Date.UTC(year, month + k * months, 0)).getUTCDate();
      return new Date(Date.UTC(year, month - 1 + k * months, Math.min(date, last))).toISOString().slice(0, 10);
    });

  test("10,000 regular ones beside dates counted by JavaScript's calendar", () => {
    fc.assert(
      fc.property(day, fc.constantFrom(1, 3, 6, 12), fc.integer({ min: 1, max: 60 }), (start, months, count) => {
        const dates = naive(isoOf(start), months, count);
        const to = dayOf(dates.at(-1)!);
        const schedule = scheduleOf({
          from: start,
          to,
          every: tenorOf(`${months}M`),
          adjust: "unadjusted",
          counted: "forward",
        });
        expect(schedule.dates.map(isoOf)).toEqual(dates);
      }),
      { numRuns: 10_000 },
    );
  });

  test("increase from the start to the end, on business days, with one odd period at most", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...names),
        day,
        fc.integer({ min: 20, max: 4000 }),
        fc.constantFrom("1W", "1M", "3M", "6M", "1Y"),
        fc.constantFrom("backward", "forward"),
        fc.constantFrom("short", "long"),
        (name, start, length, tenor, counted, stub) => {
          const calendar = calendarOf(name);
          const from = calendar.adjust(start, "following");
          const every = tenorOf(tenor);
          const { dates, unadjusted } = scheduleOf({ from, to: from + length, every, calendar, counted, stub });
          expect(dates[0]).toBe(from);
          for (let k = 1; k < dates.length; k++) expect(dates[k]).toBeGreaterThan(dates[k - 1]);
          for (const date of dates) expect(calendar.isBusinessDay(date)).toBe(true);
          expect([unadjusted[0], unadjusted.at(-1)]).toEqual([from, from + length]);
          const longest = every.unit === "W" ? 7 : 31 * every.count;
          const most = stub === "long" ? 2 * longest : longest;
          for (let k = 1; k < unadjusted.length; k++)
            expect(unadjusted[k] - unadjusted[k - 1]).toBeLessThanOrEqual(most);
        },
      ),
    );
  });

  test("what is no schedule is refused", () => {
    const from = dayOf("2027-01-29");
    expect(() => scheduleOf({ from, to: from, every: tenorOf("3M") })).toThrow("not after its start, 2027-01-29");
    expect(() => scheduleOf({ from, to: from + 9, every: tenorOf("0D") })).toThrow("a tenor above zero");
    expect(() => tenorOf("3 months")).toThrow("such as 6M");
  });
});
