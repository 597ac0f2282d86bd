/** Dates of the foreign exchange market: spot, and the expiry and delivery of options. */
import { type Calendar, calendarOf, type CalendarSpec } from "./calendar.ts";
import { type Day, isWeekend, type Tenor } from "./dates.ts";

/** The calendars that determine the spot dates of a currency pair. */
export interface PairCalendars {
  /**
   * The joined calendars of the two currencies, without that of the dollar. The spot lag is counted in its business
   * days, because dollar holidays before the spot date count as business days.
   */
  readonly counted: Calendar;
  /**
   * The joined calendars of the two currencies and of the dollar, even where the dollar is not in the pair. The spot
   * date is a business day of it.
   */
  readonly joint: Calendar;
}

const DOLLAR = "US-Federal-Reserve";

/** Returns the calendars of a currency pair, given the calendars of its two currencies. */
export function pairCalendars(calendars: readonly CalendarSpec[]): PairCalendars {
  return {
    counted: calendarOf(calendars.filter((calendar) => calendar !== DOLLAR)),
    joint: calendarOf([...calendars.filter((calendar) => calendar !== DOLLAR), DOLLAR]),
  };
}

/**
 * Returns the spot date of a trade date: the day `lag` business days later, moved on to a business day of the joint
 * calendar.
 */
export const spotDate = (trade: Day, { counted, joint }: PairCalendars, lag = 2): Day =>
  joint.adjust(counted.addBusinessDays(trade, lag), "following");

/**
 * Returns the expiry and the delivery date of a currency option, given its trade date and its tenor (Clark, Foreign
 * Exchange Option Pricing, 2011, ch. 1). Days and weeks are counted from the trade to the expiry, months from the spot
 * date to the delivery. The expiry is then the latest weekday whose spot date is not after the delivery.
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
