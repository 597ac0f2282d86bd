/** Reference cases of calendars, day counts and schedules, computed by `market/conventions`. */
import {
  type BusinessDayConvention,
  calendarOf,
  type CalendarSpec,
  creditDates,
  creditMaturity,
  type DayCount,
  dayOf,
  immDate,
  isoOf,
  optionDates,
  pairCalendars,
  paymentDate,
  type Period,
  regularPeriods,
  scheduleOf,
  spotDate,
  tenorOf,
  yearFraction,
} from "../../src/market/conventions/index.ts";
import type { Params, Solver } from "./case.ts";

const NAMES: Readonly<Record<string, CalendarSpec>> = {
  TARGET: "TARGET",
  US_SETTLEMENT: "US-settlement",
  US_FEDERAL_RESERVE: "US-Federal-Reserve",
  US_GOVERNMENT_BOND: "US-government-bond",
  US_NYSE: "NYSE",
  UK: "UK",
  JAPAN: "Japan",
  SWITZERLAND: "Switzerland",
  WEEKENDS_ONLY: "weekends",
  NONE: "weekends", // only where nothing is adjusted
};
const COUNTS: Readonly<Record<string, DayCount>> = { "30/360 Bond Basis": "30/360" };

export const countOf = (name: unknown): DayCount => COUNTS[name as string] ?? (name as DayCount);

export const calendarNames = (names: unknown): CalendarSpec[] => specs(names);
const specs = (names: unknown): CalendarSpec[] => (names as string[]).map((name) => NAMES[name] ?? raise(name));
export const calendars = (names: unknown) => calendarOf(specs(names));
export const convention = (name: unknown): BusinessDayConvention =>
  (name as string).replaceAll("_", "-") as BusinessDayConvention;
const days = (list: unknown): number[] => (list as string[]).map(dayOf);

function raise(name: string): never {
  throw new Error(`no calendar ${name}`);
}

function fractions(p: Params): Record<string, unknown> {
  const count = countOf(p["day_count"]);
  if (p["rows"] !== undefined)
    return {
      year_fractions: (p["rows"] as Record<string, string>[]).map((row) => {
        const [start, end] = [dayOf(row["start"]), dayOf(row["end"])];
        const period = {
          start: dayOf(row["period_start"] ?? row["start"]),
          end: dayOf(row["period_end"]),
          frequency: p["frequency"] as number,
        };
        return yearFraction(count, start, end, { period });
      }),
    };
  const pairs = (p["pairs"] as [string, string][]).map(days);
  const termination = p["termination_date"] === undefined ? undefined : dayOf(p["termination_date"] as string);
  if (p["coupon_dates"] === undefined)
    return { year_fractions: pairs.map(([start, end]) => yearFraction(count, start, end, { termination })) };
  const periods = periodsOf(p);
  const year_fractions = pairs.map(([start, end]) =>
    periods.reduce((sum, period) => {
      const [from, to] = [Math.max(start, period.start), Math.min(end, period.end)];
      return to > from ? sum + yearFraction(count, from, to, { period }) : sum;
    }, 0),
  );
  return { year_fractions, notional_periods: periods.flatMap(regularPeriods).map((ends) => ends.map(isoOf)) };
}

function periodsOf(p: Params): Period[] {
  const dates = days(p["coupon_dates"]);
  return dates.slice(1).map((end, k) => ({
    start: dates[k],
    end,
    frequency: p["frequency"] as number,
    stub: k === dates.length - 2 && p["last_period"] !== "regular" ? "back" : "front",
    monthEnd: p["month_end_roll"] as boolean,
  }));
}

/** Solvers by product. */
export const conventions: Readonly<Record<string, Solver>> = {
  holiday_list(p) {
    const weekday_holidays = calendars(p["calendar"])
      .holidays(dayOf(p["from"] as string), dayOf(p["to"] as string))
      .map(isoOf);
    return { weekday_holidays, count: weekday_holidays.length };
  },
  business_day_flags: (p) => ({
    is_business_day: days(p["dates"]).map((day) => calendars(p["calendar"]).isBusinessDay(day)),
  }),
  date_adjustment: (p) =>
    Object.fromEntries(
      (p["conventions"] as string[]).map((name) => [
        name,
        days(p["dates"]).map((day) => isoOf(calendars(p["calendar"]).adjust(day, convention(name)))),
      ]),
    ),
  date_advance: (p) => ({
    dates: days(p["start_dates"]).map((start) =>
      (p["tenors"] as string[]).map((tenor) =>
        isoOf(
          calendars(p["calendar"]).advance(
            start,
            tenorOf(tenor),
            convention(p["convention"]),
            p["end_of_month"] as boolean,
          ),
        ),
      ),
    ),
  }),
  fx_spot_date: (p) => ({
    spot_dates: (p["rows"] as Params[]).map((row) =>
      isoOf(
        spotDate(
          dayOf(row["trade_date"] as string),
          pairCalendars(specs(row["calendars"])),
          row["spot_lag_business_days"] as number,
        ),
      ),
    ),
  }),
  fx_option_expiry_and_delivery(p) {
    const [trade, pair, lag] = [
      dayOf(p["trade_date"] as string),
      pairCalendars(specs(p["calendars"])),
      p["spot_lag_business_days"] as number,
    ];
    const dates = (p["tenors"] as string[]).map((tenor) => optionDates(trade, tenorOf(tenor), pair, lag));
    return {
      spot_date: isoOf(spotDate(trade, pair, lag)),
      expiries: dates.map(({ expiry }) => isoOf(expiry)),
      deliveries: dates.map(({ delivery }) => isoOf(delivery)),
    };
  },
  business_days_between: (p) => ({
    counts: (p["pairs"] as [string, string][]).map(days).map(([a, b]) => {
      const calendar = calendars(p["calendar"]);
      return calendar.businessDaysBetween(
        a + (p["include_first"] === false ? 1 : 0),
        b + (p["include_last"] === true ? 1 : 0),
      );
    }),
  }),
  year_fraction: fractions,
  schedule(p) {
    const calendar = calendars(p["calendar"]);
    const { unadjusted, dates } = scheduleOf({
      from: dayOf(p["start_date"] as string),
      to: dayOf(p["end_date"] as string),
      every: tenorOf(p["tenor"] as string),
      calendar,
      adjust: convention(p["business_day_convention"]),
      adjustLast: convention(p["termination_convention"]),
      counted: p["rule"] as "backward",
      stub: (p["stub"] as string).startsWith("long") ? "long" : "short",
      first: p["first_date"] === undefined ? undefined : dayOf(p["first_date"] as string),
      penultimate: p["penultimate_date"] === undefined ? undefined : dayOf(p["penultimate_date"] as string),
      endOfMonth: p["end_of_month"] as boolean,
      rollDay: p["roll_day"] as number | undefined,
    });
    const paid = p["payment_calendar"] === undefined ? undefined : calendars(p["payment_calendar"]);
    return {
      unadjusted_dates: unadjusted.map(isoOf),
      dates: dates.map(isoOf),
      payment_dates: paid && dates.slice(1).map((end) => isoOf(paymentDate(end, p["payment_lag"] as number, paid))),
    };
  },
  imm_dates(p) {
    const from = dayOf(p["from"] as string) - (p["include_from"] === true ? 1 : 0);
    const dates = Array.from({ length: p["count"] as number }, (_, k) => immDate(from, k + 1));
    const calendar = calendars(p["calendar"]);
    return {
      imm_dates: dates.map(isoOf),
      adjusted: dates.map((day) => isoOf(calendar.adjust(day, convention(p["convention"])))),
    };
  },
  cds_schedule(p) {
    const trade = dayOf(p["trade_date"] as string);
    const maturity = creditMaturity(trade, 12 * (p["tenor_years"] as number));
    const dates = creditDates(trade, maturity, calendars(p["calendar"]));
    return { maturity: isoOf(maturity), dates: dates.map(isoOf) };
  },
};
