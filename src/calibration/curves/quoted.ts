/** Quoted instruments as flows that are worth nothing at their quote, by the conventions of their markets. */
import {
  addMonths,
  type Calendar,
  type Day,
  type DayCount,
  monthEnd,
  type Tenor,
  yearFraction,
} from "../../market/conventions/index.ts";
import { type Factor, type Flow, legOf, type RateIndex, timeOf } from "../../market/linear/index.ts";
import type { QuotedInstrument } from "./curve-set.ts";

/** A quoted instrument with the days on which it begins and ends. */
export interface DatedInstrument extends QuotedInstrument {
  readonly start: Day;
  readonly end: Day;
}

/** The reference day and the date conventions of a market's quoted instruments. */
export interface DateConventions {
  readonly reference: Day;
  readonly calendar: Calendar;
  /** The number of business days from the reference day to the start. */
  readonly spotLag: number;
  /** The start, where it is known. */
  readonly spotDay?: Day | undefined;
  /** Whether months from the last business day of a month lead to that of another. */
  readonly endOfMonth?: boolean;
}

/** The conventions of swaps against an index. */
export interface SwapQuotes extends DateConventions {
  readonly index: RateIndex;
  /** Whether the index is an overnight one, which is compounded. */
  readonly overnight: boolean;
  /** The number of the discount curve. */
  readonly discount: number;
  readonly paymentLag?: number;
  readonly fixedMonths: number;
  readonly fixedDayCount: DayCount;
  readonly floatingMonths: number;
}

const spotOf = ({ calendar, reference, spotLag, spotDay }: DateConventions): Day =>
  spotDay ?? calendar.addBusinessDays(reference, spotLag);

const later = (day: Day, tenor: Tenor, { calendar, endOfMonth }: DateConventions): Day =>
  calendar.advance(day, tenor, "modified-following", endOfMonth);

/** Returns the end date of a swap before business-day adjustment. */
export function unadjustedEnd(
  start: Day,
  { count, unit }: Tenor,
  { calendar, endOfMonth = false }: Pick<DateConventions, "calendar" | "endOfMonth">,
): Day {
  if (unit !== "M") return start + count * (unit === "W" ? 7 : 1);
  const end = addMonths(start, count);
  return endOfMonth && start === calendar.lastOfMonth(start) ? monthEnd(end) : end;
}

/**
 * Returns an instrument that pays a simple rate of an index: a deposit that begins on the spot day, or a forward rate
 * agreement that begins `monthsToStart` months after the spot day. Its length is the tenor of the index.
 */
export function simpleRate(
  name: string,
  quote: number,
  length: Tenor,
  { index, ...days }: Pick<SwapQuotes, "index"> & DateConventions,
  monthsToStart = 0,
): DatedInstrument {
  const start = later(spotOf(days), { count: monthsToStart, unit: "M" }, days);
  return forwardPeriod(name, quote, start, later(start, length, days), { index, reference: days.reference });
}

/**
 * Returns an instrument that pays a simple rate of an index between two days, such as a future without a convexity
 * adjustment.
 */
export function forwardPeriod(
  name: string,
  quote: number,
  start: Day,
  end: Day,
  { index, reference }: Pick<SwapQuotes, "index" | "reference">,
): DatedInstrument {
  const at = (day: Day, fixed: number): Flow => flow([factor(index.curve, day, reference)], fixed);
  return {
    name,
    quote,
    start,
    end,
    pillar: timeOf(end, reference),
    flows: [at(start, 1), at(end, -1)],
    byQuote: [at(end, -yearFraction(index.dayCount, start, end))],
  };
}

/** Returns a swap of a fixed rate against the index. */
export function parSwap(name: string, quote: number, tenor: Tenor, quotes: SwapQuotes): DatedInstrument {
  const { reference, calendar, index, overnight, discount, paymentLag = 0 } = quotes;
  const start = spotOf(quotes);
  const to = unadjustedEnd(start, tenor, quotes);
  const side = (months: number, dayCount: DayCount) => ({
    schedule: {
      from: start,
      to,
      every: { count: months, unit: "M" as const },
      calendar,
      endOfMonth: to === monthEnd(to),
    },
    notional: 1,
    dayCount,
    paymentLag,
    rate: 0,
    discount,
  });
  const fixed = legOf(side(quotes.fixedMonths, quotes.fixedDayCount), reference);
  const floating = legOf(
    { ...side(quotes.floatingMonths, index.dayCount), index, ...(overnight ? { overnight: {} } : {}) },
    reference,
  );
  const end = floating.dates.at(-1)!;
  return {
    name,
    quote,
    start,
    end,
    pillar: timeOf(Math.max(end, ...floating.flows.map(({ date }) => date)), reference),
    flows: floating.flows,
    byQuote: fixed.byRate.map((one) => ({ ...one, scale: -1 })),
  };
}

/**
 * Returns a tenor basis swap, which exchanges the index plus a spread for another index without a spread. Each leg has
 * the payment periods of its own index.
 */
export function tenorBasis(
  name: string,
  spread: number,
  tenor: Tenor,
  quotes: SwapQuotes,
  other: Pick<SwapQuotes, "index" | "overnight" | "floatingMonths">,
): DatedInstrument {
  const { reference, calendar, discount, paymentLag = 0 } = quotes;
  const start = spotOf(quotes);
  const to = unadjustedEnd(start, tenor, quotes);
  const side = ({ index, overnight, floatingMonths }: typeof other) =>
    legOf(
      {
        schedule: {
          from: start,
          to,
          every: { count: floatingMonths, unit: "M" },
          calendar,
          endOfMonth: to === monthEnd(to),
        },
        notional: 1,
        dayCount: index.dayCount,
        paymentLag,
        rate: 0,
        index,
        ...(overnight ? { overnight: {} } : {}),
        discount,
      },
      reference,
    );
  const [own, flat] = [side(quotes), side(other)];
  const end = own.dates.at(-1)!;
  return {
    name,
    quote: spread,
    start,
    end,
    pillar: timeOf(Math.max(end, ...own.flows.map(({ date }) => date)), reference),
    flows: [...own.flows, ...flat.flows.map((one) => ({ ...one, scale: -1 }))],
    byQuote: own.byRate,
  };
}

/**
 * A currency pair: the numbers of its two discount curves, and the exchange rate for the spot day in units of the quote
 * currency for one unit of the base currency.
 */
export interface PairQuotes extends DateConventions {
  readonly base: number;
  readonly quote: number;
  readonly spot: number;
}

/**
 * Returns one unit of base currency paid on a day as a flow in units of quote currency on that day. The amount is the
 * forward exchange rate.
 */
export function forwardRate(day: Day, { base, quote, spot, ...days }: PairQuotes): Flow {
  const at = (curve: number, when: Day, power: 1 | -1): Factor => factor(curve, when, days.reference, power);
  const from = spotOf(days);
  return { ...flow([at(base, day, 1), at(base, from, -1), at(quote, from, 1), at(quote, day, -1)], 1), scale: spot };
}

/**
 * Returns the instrument that is quoted by the forward points of a tenor. The points are in units of the exchange rate.
 */
export function forwardPoints(name: string, points: number, tenor: Tenor, pair: PairQuotes): DatedInstrument {
  const start = spotOf(pair);
  const end = later(start, tenor, pair);
  return {
    name,
    quote: points,
    start,
    end,
    pillar: timeOf(end, pair.reference),
    flows: [forwardRate(end, pair), flow([], -pair.spot)],
    byQuote: [flow([], -1)],
  };
}

/**
 * Returns a cross-currency basis swap with exchange of notionals. One leg pays the index of the base currency plus the
 * basis. The other leg pays the other currency's index without a spread, and is therefore worth its notional on its own
 * curve.
 */
export function basisSwap(name: string, basis: number, tenor: Tenor, quotes: SwapQuotes): DatedInstrument {
  const { reference, calendar, index, overnight, discount } = quotes;
  const start = spotOf(quotes);
  const to = unadjustedEnd(start, tenor, quotes);
  const leg = legOf(
    {
      schedule: { from: start, to, every: { count: quotes.floatingMonths, unit: "M" }, calendar },
      notional: 1,
      dayCount: index.dayCount,
      rate: 0,
      index,
      ...(overnight ? { overnight: {} } : {}),
      exchange: "ends",
      discount,
    },
    reference,
  );
  const end = leg.dates.at(-1)!;
  return { name, quote: basis, start, end, pillar: timeOf(end, reference), flows: leg.flows, byQuote: leg.byRate };
}

function factor(curve: number, day: Day, reference: Day, power: 1 | -1 = 1): Factor {
  return { curve, time: timeOf(day, reference), power };
}

const flow = (factors: readonly Factor[], fixed: number): Flow => ({ scale: 1, factors, fixed, gearing: 0 });
