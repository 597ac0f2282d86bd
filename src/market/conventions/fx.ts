/** Dates of the foreign exchange market: spot, and the expiry and delivery of options. */
import { type Calendar, calendarOf, type CalendarSpec } from "./calendar.ts";
import { type Day, isWeekend, type Tenor } from "./dates.ts";

/** The calendars of a currency pair. */
export interface PairCalendars {
  /** Those of its currencies without the dollar, on which the lag is counted: dollar holidays in between are good. */
  readonly counted: Calendar;
  /** Those of its currencies and of the dollar, also for crosses: the spot date is a business day in all of them. */
  readonly joint: Calendar;
}

const DOLLAR = "US-Federal-Reserve";

/** Returns the calendars of a pair from those of its currencies. */
export function pairCalendars(calendars: readonly CalendarSpec[]): PairCalendars {
  return {
    counted: calendarOf(calendars.filter((calendar) => calendar !== DOLLAR)),
    joint: calendarOf([...calendars.filter((calendar) => calendar !== DOLLAR), DOLLAR]),
  };
}

/** Returns the spot date of a trade date. */
export const spotDate = (trade: Day, { counted, joint }: PairCalendars, lag = 2): Day =>
  joint.adjust(counted.addBusinessDays(trade, lag), "following");

/**
 * Returns when an option of a tenor expires and is delivered (Clark, Foreign Exchange Option Pricing, 2011, ch. 1).
 * Days and weeks are counted from the trade to the expiry, months from the spot date to the delivery. The expiry is
 * then the latest weekday whose spot date is not after the delivery.
 */
export function optionDates(
  trade: Day,
  tenor: Tenor,
  calendars: PairCalendars,
  lag = 2,
): { readonly expiry: Day; readonly delivery: Day } {
  if (tenor.unit !== "M") {
    let expiry = trade + tenor.count * (tenor.unit === "W" ? 7 : 1);
    while (isWeekend(expiry)) expiry++;
    return { expiry, delivery: spotDate(expiry, calendars, lag) };
  }
  const delivery = calendars.joint.advance(spotDate(trade, calendars, lag), tenor, "modified-following", true);
  let expiry = delivery;
  while (isWeekend(expiry) || spotDate(expiry, calendars, lag) > delivery) expiry--;
  return { expiry, delivery };
}
