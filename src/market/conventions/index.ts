/** Conventions of markets: calendars, business days, day counts, schedules, dates of foreign exchange. */
export { type BusinessDayConvention, Calendar, calendarOf, type CalendarSpec } from "./calendar.ts";
export { CALENDARS, type CalendarName } from "./calendars.ts";
export {
  addMonths,
  civilDate,
  type Day,
  dayFrom,
  dayOf,
  immDate,
  isoOf,
  monthEnd,
  type Tenor,
  tenorOf,
} from "./dates.ts";
export {
  DAY_COUNTS,
  type DayCount,
  type DayCountContext,
  type Period,
  regularPeriods,
  yearFraction,
} from "./day-counts.ts";
export { optionDates, type PairCalendars, pairCalendars, spotDate } from "./fx.ts";
export { conventionsOf, CURRENCY_CALENDARS, type IndexConventions, type IndexName, INDICES } from "./indices.ts";
export { creditDates, creditMaturity, paymentDate, type Schedule, scheduleOf, type ScheduleSpec } from "./schedules.ts";
