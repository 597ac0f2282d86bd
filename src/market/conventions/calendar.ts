/** Business days: adjusting and advancing by the holidays of one or several calendars. */
import { SpecError } from "../../base/errors.ts";
import { memoize, memoizeBy } from "../../base/memoize.ts";
import { type CalendarData, CALENDARS, type CalendarName, type Holiday } from "./calendars.ts";
import {
  addMonths,
  civilDate,
  type Day,
  dayFrom,
  dayOf,
  easterSunday,
  isWeekend,
  monthEnd,
  nthWeekday,
  type Tenor,
  weekdayOf,
} from "./dates.ts";

/** The rule by which a day that is not a business day is moved to one. @experimental */
export type BusinessDayConvention =
  | "unadjusted"
  | "following"
  | "modified-following"
  | "preceding"
  | "modified-preceding";

/**
 * The specification of a calendar: a name, a list of holidays (ISO dates), or several of these, whose holidays are
 * joined.
 */
export type CalendarSpec = CalendarName | { readonly holidays: readonly string[] } | readonly CalendarSpec[];

const DAYS_KEPT = 84_006;
const OPEN = 1;
const CLOSED = 2;

/**
 * A calendar of business days: all days but weekends and holidays. Where several calendars are joined, a business day
 * is one in each of them. @experimental
 */
export class Calendar {
  readonly #parts: readonly ((year: number) => ReadonlySet<Day>)[];
  /** What is known of the days from 1970 to 2199: 0 for nothing, `OPEN`, or `CLOSED`. */
  readonly #known = new Uint8Array(DAYS_KEPT);

  /** @throws SpecError for an unknown name, or a holiday that is no date */
  constructor(spec: CalendarSpec) {
    this.#parts = partsOf(spec);
  }

  isBusinessDay(day: Day): boolean {
    const known = this.#known[day];
    if (known !== undefined && known !== 0) return known === OPEN;
    const isOpen = this.#isOpen(day);
    if (known === 0) this.#known[day] = isOpen ? OPEN : CLOSED;
    return isOpen;
  }

  #isOpen(day: Day): boolean {
    if (isWeekend(day)) return false;
    const { year } = civilDate(day);
    return !this.#parts.some((holidays) => holidays(year).has(day));
  }

  /** Returns the days from one to another, both included, that are holidays but not at a weekend. */
  holidays(from: Day, to: Day): Day[] {
    const days: Day[] = [];
    for (let day = from; day <= to; day++) if (!isWeekend(day) && !this.isBusinessDay(day)) days.push(day);
    return days;
  }

  adjust(day: Day, convention: BusinessDayConvention): Day {
    if (convention === "unadjusted") return day;
    const step = convention.endsWith("following") ? 1 : -1;
    const moved = this.#next(day, step);
    const stays = !convention.startsWith("modified") || civilDate(moved).month === civilDate(day).month;
    return stays ? moved : this.#next(day, -step);
  }

  #next(from: Day, step: number): Day {
    let day = from;
    while (!this.isBusinessDay(day)) day += step;
    return day;
  }

  /** Returns the n-th business day after a day, or before it for n < 0. n = 0 is the day itself, or the next one. */
  addBusinessDays(from: Day, n: number): Day {
    if (n === 0) return this.#next(from, 1);
    let day = from;
    for (let left = Math.abs(n); left > 0; left--) day = this.#next(day + Math.sign(n), Math.sign(n));
    return day;
  }

  /**
   * Returns a day advanced by a tenor: business days for days, calendar weeks or months that are then adjusted. With
   * `endOfMonth`, months from the last business day of a month lead to that of another.
   */
  advance(from: Day, { count, unit }: Tenor, convention: BusinessDayConvention, endOfMonth = false): Day {
    if (unit === "D") return this.addBusinessDays(from, count);
    if (unit === "W") return this.adjust(from + 7 * count, convention);
    const moved = addMonths(from, count);
    if (endOfMonth && from >= this.lastOfMonth(from)) return this.lastOfMonth(moved);
    return this.adjust(moved, convention);
  }

  /** Returns the last business day of a day's month. */
  lastOfMonth(day: Day): Day {
    return this.adjust(monthEnd(day), "preceding");
  }

  /** Returns the number of business days from one day (included) to another (not included). */
  businessDaysBetween(from: Day, to: Day): number {
    let count = 0;
    for (let day = Math.min(from, to); day < Math.max(from, to); day++) if (this.isBusinessDay(day)) count++;
    return from <= to ? count : -count;
  }
}

/** Returns the calendar of a specification, which is made once for equal specifications. */
export const calendarOf: (spec: CalendarSpec) => Calendar = memoize((spec: CalendarSpec) => new Calendar(spec));

function partsOf(spec: CalendarSpec): readonly ((year: number) => ReadonlySet<Day>)[] {
  if (typeof spec === "string") {
    if (!Object.hasOwn(CALENDARS, spec))
      throw new SpecError(`unknown calendar "${spec}"; there are ${Object.keys(CALENDARS).join(", ")}`);
    return [(year) => holidaysOf(spec, year)];
  }
  if (Array.isArray(spec)) return (spec as readonly CalendarSpec[]).flatMap(partsOf);
  const own = new Set((spec as { readonly holidays: readonly string[] }).holidays.map(dayOf));
  return [() => own];
}

const holidaysOf = memoize((name: CalendarName, year: number) => holidaysIn(CALENDARS[name], year), 4096);

function holidaysIn(data: CalendarData, year: number): ReadonlySet<Day> {
  const rules = data.holidays.map((rule) => ({ moves: rule.moves ?? data.moves, day: dayIn(rule, year), on: rule.on }));
  const days = new Set<Day>(onceOf(data).filter((day) => civilDate(day).year === year));
  for (const { day } of rules) if (day !== undefined) days.add(day);
  for (const { moves, day } of rules) if (day !== undefined) days.add(movedFrom(day, moves, days));
  // A New Year on a Saturday is kept on the last day of this year.
  const next = rules.find(({ on }) => on === "01-01");
  if (next?.moves === "nearest" && weekdayOf(dayFrom(year + 1, 1, 1)) === 5) days.add(dayFrom(year, 12, 31));
  const bridged = data.bridges ? [...days].filter((day) => days.has(day + 2)) : [];
  for (const day of bridged) days.add(day + 1);
  for (const rule of data.bank ?? []) days.add(dayIn(rule, year)!);
  return days;
}

const onceOf = memoizeBy(({ once = "" }: CalendarData): readonly Day[] => once.split(" ").filter(Boolean).map(dayOf));

const WEEKDAYS = ["monday", "tuesday", "wednesday", "thursday", "friday"];

/** Returns the day of a rule in a year; undefined in a year in which it does not hold. */
function dayIn({ on, from = -Infinity, to = Infinity, except }: Holiday, year: number): Day | undefined {
  if (year < from || year > to || except?.includes(year)) return undefined;
  const [kind, n, month] = on.split(" ");
  if (kind === "easter") return easterSunday(year) + Number(n);
  if (kind === "equinox") return equinox(year, Number(n));
  if (n !== undefined) return nthWeekday(year, Number(month), WEEKDAYS.indexOf(kind), Number(n));
  return dayFrom(year, Number(on.slice(0, 2)), Number(on.slice(3)));
}

/** The equinoxes of Japan's calendar, by the formula of the National Astronomical Observatory for 1980 to 2099. */
function equinox(year: number, month: number): Day {
  const first = month === 3 ? 20.8431 : 23.2488;
  return dayFrom(year, month, Math.floor(first + 0.242194 * (year - 1980) - Math.floor((year - 1980) / 4)));
}

function movedFrom(day: Day, moves: Holiday["moves"], days: ReadonlySet<Day>): Day {
  const weekday = weekdayOf(day);
  if (moves === undefined || weekday < 5 || (weekday === 5 && moves === "sunday")) return day;
  if (moves === "nearest") return weekday === 6 ? day + 1 : day - 1;
  let next = day + 1;
  while (isWeekend(next) || days.has(next)) next++;
  return next;
}
