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
  creditDates,
  creditMaturity,
  DAY_COUNTS,
  type DayCount,
  dayFrom,
  dayOf,
  immDate,
  isoOf,
  monthEnd,
  optionDates,
  pairCalendars,
  scheduleOf,
  spotDate,
  tenorOf,
  yearFraction,
} from "../../src/market/conventions/index.ts";
import { isLeapYear, nthWeekday } from "../../src/market/conventions/dates.ts";
import type { Case } from "../../tools/reference/case.ts";
import { checked } from "../../tools/reference/main.ts";
import { readFixture } from "../support/fixtures.ts";

describe.each(["calendars", "day_counts", "schedules"])("reference cases of %s", (family) => {
  const { cases } = readFixture(`reference/${family}.json`) as { cases: Case[] };
  test.each(cases.map((one) => [one.id, one] as const))("%s", async (_, one) => {
    expect(await checked(one)).toEqual([]);
  });
});

const names = Object.keys(CALENDARS) as CalendarName[];
const day = fc.integer({ min: dayFrom(1990, 1, 1), max: dayFrom(2060, 12, 31) });
/** The days of a month that are on a weekday (0: Monday), by JavaScript's calendar. */
const weekdaysOf = (year: number, month: number, weekday: number): number[] =>
  Array.from({ length: 31 }, (_, k) => Date.UTC(year, month - 1, k + 1))
    .filter((time) => new Date(time).getUTCMonth() === month - 1 && new Date(time).getUTCDay() === (weekday + 1) % 7)
    .map((time) => time / 86_400_000);

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

  test("weekdays of a month, quarterly ones after a day, and leap years", () => {
    fc.assert(
      fc.property(day, fc.nat(4), fc.integer({ min: 1, max: 6 }), (from, weekday, n) => {
        const { year, month } = civilDate(from);
        const own = weekdaysOf(year, month, weekday);
        for (const [k, one] of own.entries()) expect(nthWeekday(year, month, weekday, k + 1)).toBe(one);
        expect(nthWeekday(year, month, weekday, -1)).toBe(own.at(-1));
        const quarterly = [0, 1, 2].flatMap((later) => [3, 6, 9, 12].map((m) => weekdaysOf(year + later, m, 2)[2]));
        expect(immDate(from, n)).toBe(quarterly.filter((one) => one > from)[n - 1]);
        const first = quarterly.find((one) => one >= from)!;
        expect(immDate(first)).toBe(quarterly[quarterly.indexOf(first) + 1]);
      }),
    );
    for (let year = 1890; year < 2410; year++)
      expect(isLeapYear(year)).toBe(new Date(Date.UTC(year, 1, 29)).getUTCMonth() === 1);
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

  test("counting and advancing by business days, there and back", () => {
    fc.assert(
      fc.property(fc.constantFrom(...names), day, fc.integer({ min: -30, max: 30 }), (name, from, n) => {
        const calendar = calendarOf(name);
        const start = calendar.adjust(from, "following");
        expect(calendar.addBusinessDays(from, 0)).toBe(start);
        const to = calendar.addBusinessDays(start, n);
        const passed = Array.from({ length: Math.abs(to - start) }, (_, k) => Math.min(start, to) + k);
        expect(passed.filter((one) => calendar.isBusinessDay(one))).toHaveLength(Math.abs(n));
        expect([calendar.businessDaysBetween(start, to), calendar.businessDaysBetween(to, start)]).toEqual([n, 0 - n]);
      }),
    );
  });

  test.each([
    ["TARGET", "2000-05-01", "1998-05-01"],
    ["US-Federal-Reserve", "2022-06-20", "2021-06-18"],
    ["NYSE", "1998-01-19", "1997-01-20"],
    ["Japan", "2018-12-24", "2019-12-23"],
  ] as const)("%s begins or ends a holiday with %s, not %s", (name, kept, open) => {
    expect([kept, open].map((iso) => calendarOf(name).isBusinessDay(dayOf(iso)))).toEqual([false, true]);
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

test("the last coupon of 30E/360 (ISDA) keeps its day at the end of a February alone", () => {
  const fraction = (start: string, end: string, termination = end): number =>
    yearFraction("30E/360 ISDA", dayOf(start), dayOf(end), { termination: dayOf(termination) });
  expect(fraction("2027-01-31", "2028-02-29")).toBe((360 + 30 + 29 - 30) / 360);
  expect(fraction("2027-01-31", "2028-02-29", "2029-02-28")).toBe((360 + 30) / 360);
  expect(fraction("2027-01-15", "2027-10-31")).toBe((270 + 15) / 360);
});

test("Act/365L without a period looks for a leap day between its dates", () => {
  expect(yearFraction("Act/365L", dayOf("2028-03-01"), dayOf("2028-09-01"))).toBe(184 / 365);
  expect(yearFraction("Act/365L", dayOf("2027-09-01"), dayOf("2028-03-01"))).toBe(182 / 366);
});

test("odd periods of Act/Act (ICMA) are regular ones and a part of the next, on the side of their stub", () => {
  fc.assert(
    fc.property(
      day,
      fc.constantFrom(1, 2, 4, 12),
      fc.nat(3),
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.boolean(),
      fc.constantFrom("front" as const, "back" as const),
      (any, frequency, whole, part, atEnd, stub) => {
        const seed = atEnd ? monthEnd(any) : any;
        const sign = stub === "back" ? 1 : -1;
        const at = (k: number): number => {
          const moved = addMonths(seed, (sign * k * 12) / frequency);
          return atEnd ? monthEnd(moved) : moved;
        };
        const length = Math.abs(at(whole + 1) - at(whole));
        const days = Math.round(part * (length - 1)) + (whole === 0 ? 1 : 0);
        const far = at(whole) + sign * days;
        const [start, end] = sign > 0 ? [seed, far] : [far, seed];
        const period = { start, end, frequency, stub, monthEnd: atEnd };
        const expected = (whole + days / length) / frequency;
        expect(yearFraction("Act/Act ICMA", start, end, { period })).toBeCloseTo(expected, 12);
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

  test("keep the dates, days of the month and ends of months that they are given", () => {
    fc.assert(
      fc.property(
        day,
        fc.integer({ min: 400, max: 3000 }),
        fc.constantFrom("backward" as const, "forward" as const),
        fc.boolean(),
        fc.boolean(),
        fc.integer({ min: 20, max: 100 }),
        fc.option(fc.integer({ min: 1, max: 31 }), { nil: undefined }),
        (any, length, counted, atEnd, endOfMonth, stub, rollDay) => {
          const isBackward = counted === "backward";
          const seed = atEnd ? monthEnd(any) : any;
          const [from, to] = isBackward ? [seed - length, seed] : [seed, seed + length];
          const given = { from, to, every: tenorOf("3M"), counted, endOfMonth, rollDay };
          const odd = isBackward ? { first: from + stub } : { penultimate: to - stub };
          const short = scheduleOf({ ...given, ...odd, adjustLast: "unadjusted" });
          const { unadjusted } = short;
          expect(isBackward ? unadjusted[1] : unadjusted.at(-2)).toBe(odd.first ?? odd.penultimate);
          expect(short.dates.at(-1)).toBe(to);
          // What is given is not merged with its neighbour.
          expect(scheduleOf({ ...given, ...odd, stub: "long" }).unadjusted).toEqual(unadjusted);
          const isEnd = endOfMonth && seed === monthEnd(seed);
          for (const regular of scheduleOf(given).unadjusted.slice(1, -1)) {
            const { day: last } = civilDate(monthEnd(regular));
            const date = isEnd ? last : Math.min(rollDay ?? civilDate(seed).day, last);
            expect(civilDate(regular).day).toBe(date);
          }
        },
      ),
    );
  });

  test("of credit end on the 20 June or December next to whole years, and begin with the coupon period of a trade", () => {
    fc.assert(
      fc.property(day, fc.integer({ min: 1, max: 10 }), (trade, years) => {
        const maturity = creditMaturity(trade, 12 * years);
        const dates = creditDates(trade, maturity, calendarOf("weekends"));
        const { month, day: date } = civilDate(maturity);
        expect([month % 6, date]).toEqual([0, 20]);
        expect(maturity).toBeGreaterThan(addMonths(trade, 12 * years - 3));
        expect(maturity).toBeLessThanOrEqual(addMonths(trade, 12 * years + 3));
        expect(dates[0]).toBeLessThanOrEqual(trade + 1);
        expect(dates[1]).toBeGreaterThan(trade + 1);
        expect(dates.at(-1)).toBe(maturity);
      }),
    );
  });

  test("what is no schedule is refused", () => {
    const from = dayOf("2027-01-29");
    expect(() => scheduleOf({ from, to: from, every: tenorOf("3M") })).toThrow("not after its start, 2027-01-29");
    expect(() => scheduleOf({ from, to: from + 9, every: tenorOf("0D") })).toThrow("a tenor above zero");
    expect(() => tenorOf("3 months")).toThrow("expected a tenor");
  });
});

test("a currency option expires on the latest weekday whose spot date is its delivery, or before", () => {
  const pairs = fc.constantFrom(["TARGET" as const, "US-Federal-Reserve" as const], ["UK" as const, "Japan" as const]);
  fc.assert(
    fc.property(
      pairs,
      day,
      fc.constantFrom("1D", "2W", "1M", "6M", "1Y"),
      fc.constantFrom(1, 2),
      (pair, any, text, lag) => {
        const calendars = pairCalendars(pair);
        const trade = calendars.joint.adjust(any, "following");
        const tenor = tenorOf(text);
        const { expiry, delivery } = optionDates(trade, tenor, calendars, lag);
        const isWeekday = (one: number): boolean => new Date(one * 86_400_000).getUTCDay() % 6 !== 0;
        expect(isWeekday(expiry)).toBe(true);
        if (tenor.unit !== "M") {
          const due = trade + tenor.count * (tenor.unit === "W" ? 7 : 1);
          expect(expiry).toBe([due, due + 1, due + 2].find(isWeekday));
          expect(delivery).toBe(spotDate(expiry, calendars, lag));
          return;
        }
        const spot = spotDate(trade, calendars, lag);
        const isLast = civilDate(calendars.joint.addBusinessDays(spot, 1)).month !== civilDate(spot).month;
        const same = addMonths(spot, tenor.count);
        expect(delivery).toBe(
          isLast
            ? calendars.joint.adjust(monthEnd(same), "preceding")
            : calendars.joint.adjust(same, "modified-following"),
        );
        expect(spotDate(expiry, calendars, lag)).toBeLessThanOrEqual(delivery);
        for (let later = expiry + 1; later < expiry + 9; later++)
          if (isWeekday(later)) expect(spotDate(later, calendars, lag)).toBeGreaterThan(delivery);
      },
    ),
  );
});
