/**
 * Holidays as rules. A calendar is a table of them; weekends are never business days.
 *
 * Verified against the reference lists of test/fixtures/reference/calendars.json, most of them from 2024 to 2030. Rules
 * and single days of other years are recalled, not read again in print.
 */

/** The rule that gives a holiday's date in each year. */
export interface Holiday {
  /**
   * "12-25": a day of the year; "monday 3 01": the third Monday of January; "monday -1 05": the last one of May;
   * "easter -2": days from Easter Sunday; "equinox 03": the vernal or autumnal equinox of Japan.
   */
  readonly on: string;
  /** The first and the last year. */
  readonly from?: number;
  readonly to?: number;
  /**
   * What replaces the day at a weekend: `nearest`, the Friday before a Saturday or the Monday after a Sunday;
   * `substitute`, the next day that is neither at a weekend nor a holiday; `sunday`, the same for Sundays only.
   */
  readonly moves?: "nearest" | "substitute" | "sunday";
  /** Years in which the rule does not hold. */
  readonly except?: readonly number[];
}

/**
 * The data of a calendar: rules of holidays, single holidays (`once`, ISO dates), and `bridges`, which is true where a
 * day between two holidays is also a holiday.
 */
export interface CalendarData {
  readonly holidays: readonly Holiday[];
  /** What replaces days at a weekend where their rule does not say it. */
  readonly moves?: Holiday["moves"];
  readonly once?: string;
  readonly bridges?: boolean;
  /** Bank closing days that take no part in the rules of the others. */
  readonly bank?: readonly Holiday[];
}

const GOOD_FRIDAY: Holiday = { on: "easter -2" };
const EASTER_MONDAY: Holiday = { on: "easter 1" };

/** Holidays of the United States that are at fixed weekdays. */
const US_MONDAYS: readonly Holiday[] = [
  { on: "monday 3 01", from: 1986 },
  { on: "monday 3 02" },
  { on: "monday -1 05" },
  { on: "monday 1 09" },
  { on: "thursday 4 11" },
];
const COLUMBUS: Holiday = { on: "monday 2 10" };

/** Holidays of the United States whose replacement differs between calendars. */
const US_HOLIDAYS: readonly Holiday[] = [
  { on: "01-01" },
  ...US_MONDAYS,
  { on: "06-19", from: 2022 },
  { on: "07-04" },
  COLUMBUS,
  { on: "11-11" },
  { on: "12-25" },
];

/** The calendars that are known by name. */
export const CALENDARS = {
  weekends: { holidays: [] },
  TARGET: {
    holidays: [
      { on: "01-01" },
      { ...GOOD_FRIDAY, from: 2000 },
      { ...EASTER_MONDAY, from: 2000 },
      { on: "05-01", from: 2000 },
      { on: "12-25" },
      { on: "12-26", from: 2000 },
    ],
    once: "1998-12-31 1999-12-31 2001-12-31",
  },
  "US-settlement": { holidays: US_HOLIDAYS, moves: "nearest" },
  "US-Federal-Reserve": { holidays: US_HOLIDAYS, moves: "sunday" },
  "US-government-bond": {
    holidays: [
      { on: "01-01", moves: "sunday" },
      ...US_MONDAYS,
      GOOD_FRIDAY,
      { on: "06-19", from: 2022, moves: "nearest" },
      { on: "07-04", moves: "nearest" },
      COLUMBUS,
      { on: "11-11", moves: "sunday" },
      { on: "12-25", moves: "nearest" },
    ],
    once: "2004-06-11 2012-10-30 2018-12-05",
  },
  NYSE: {
    holidays: [
      { on: "01-01", moves: "sunday" },
      { ...US_MONDAYS[0], from: 1998 },
      ...US_MONDAYS.slice(1),
      GOOD_FRIDAY,
      { on: "06-19", from: 2022, moves: "nearest" },
      { on: "07-04", moves: "nearest" },
      { on: "12-25", moves: "nearest" },
    ],
    once:
      "1994-04-27 2001-09-11 2001-09-12 2001-09-13 2001-09-14 " +
      "2004-06-11 2007-01-02 2012-10-29 2012-10-30 2018-12-05 2025-01-09",
  },
  UK: {
    holidays: [
      { on: "01-01", moves: "substitute" },
      GOOD_FRIDAY,
      EASTER_MONDAY,
      { on: "monday 1 05", except: [1995, 2020] },
      { on: "monday -1 05", except: [2002, 2012, 2022] },
      { on: "monday -1 08" },
      { on: "12-25", moves: "substitute" },
      { on: "12-26", moves: "substitute" },
    ],
    once:
      "1995-05-08 1999-12-31 2002-06-03 2002-06-04 2011-04-29 2012-06-04 2012-06-05 " +
      "2020-05-08 2022-06-02 2022-06-03 2022-09-19 2023-05-08",
  },
  Japan: {
    holidays: [
      { on: "01-01", moves: "sunday" },
      { on: "01-15", to: 1999, moves: "sunday" },
      { on: "monday 2 01", from: 2000 },
      { on: "02-11", moves: "sunday" },
      { on: "02-23", from: 2020, moves: "sunday" },
      { on: "equinox 03", moves: "sunday" },
      { on: "04-29", moves: "sunday" },
      { on: "05-03", moves: "sunday" },
      { on: "05-04", from: 2007, moves: "sunday" },
      { on: "05-05", moves: "sunday" },
      { on: "07-20", from: 1996, to: 2002, moves: "sunday" },
      { on: "monday 3 07", from: 2003, except: [2020, 2021] },
      { on: "08-11", from: 2016, moves: "sunday", except: [2020, 2021] },
      { on: "09-15", to: 2002, moves: "sunday" },
      { on: "monday 3 09", from: 2003 },
      { on: "equinox 09", moves: "sunday" },
      { on: "10-10", to: 1999, moves: "sunday" },
      { on: "monday 2 10", from: 2000, except: [2020, 2021] },
      { on: "11-03", moves: "sunday" },
      { on: "11-23", moves: "sunday" },
      { on: "12-23", from: 1989, to: 2018, moves: "sunday" },
    ],
    once:
      "1989-02-24 1990-11-12 1993-06-09 2019-05-01 2019-10-22 " +
      "2020-07-23 2020-07-24 2020-08-10 2021-07-22 2021-07-23 2021-08-09",
    bridges: true,
    bank: [{ on: "01-02" }, { on: "01-03" }, { on: "12-31" }],
  },
  Switzerland: {
    holidays: [
      { on: "01-01" },
      { on: "01-02" },
      GOOD_FRIDAY,
      EASTER_MONDAY,
      { on: "05-01" },
      { on: "easter 39" },
      { on: "easter 50" },
      { on: "08-01" },
      { on: "12-25" },
      { on: "12-26" },
    ],
  },
} as const satisfies Readonly<Record<string, CalendarData>>;

/** The name of a calendar. @experimental */
export type CalendarName = keyof typeof CALENDARS;
