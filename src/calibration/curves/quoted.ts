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
import type { QuotedInstrument } from "./find.ts";

/** The days of a market's instruments. */
export interface DateConventions {
  readonly reference: Day;
  readonly calendar: Calendar;
  /** Business days from the reference day to the start. */
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

/** Returns where a swap ends before its last date is adjusted. */
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
 * Returns a simple rate of an index: a deposit, from the spot day, or a forward rate agreement, which begins some
 * months after it and lasts as long as the index.
 */
export function simpleRate(
  name: string,
  quote: number,
  length: Tenor,
  { index, ...days }: Pick<SwapQuotes, "index"> & DateConventions,
  monthsToStart = 0,
): QuotedInstrument {
  const start = later(spotOf(days), { count: monthsToStart, unit: "M" }, days);
  return forwardPeriod(name, quote, start, later(start, length, days), { index, reference: days.reference });
}

/** Returns a simple rate of an index between two days: a future without a convexity adjustment. */
export function forwardPeriod(
  name: string,
  quote: number,
  start: Day,
  end: Day,
  { index, reference }: Pick<SwapQuotes, "index" | "reference">,
): QuotedInstrument {
  const at = (day: Day, fixed: number): Flow => flow([factor(index.curve, day, reference)], fixed);
  return {
    name,
    quote,
    start,
    end,
    pillar: end,
    flows: [at(start, 1), at(end, -1)],
    byQuote: [at(end, -yearFraction(index.dayCount, start, end))],
  };
}

/** Returns a swap of a fixed rate against the index. */
export function parSwap(name: string, quote: number, tenor: Tenor, quotes: SwapQuotes): QuotedInstrument {
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
    pillar: Math.max(end, ...floating.flows.map(({ date }) => date)),
    flows: floating.flows,
    byQuote: fixed.byRate.map((one) => ({ ...one, scale: -1 })),
  };
}

/** Returns a swap of the index and a spread against another index flat, each with the periods of its own tenor. */
export function tenorBasis(
  name: string,
  spread: number,
  tenor: Tenor,
  quotes: SwapQuotes,
  other: Pick<SwapQuotes, "index" | "overnight" | "floatingMonths">,
): QuotedInstrument {
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
    pillar: Math.max(end, ...own.flows.map(({ date }) => date)),
    flows: [...own.flows, ...flat.flows.map((one) => ({ ...one, scale: -1 }))],
    byQuote: own.byRate,
  };
}

/** Curves of a currency pair, by number, and the exchange rate for the spot day: units of quote for one of base. */
export interface PairQuotes extends DateConventions {
  readonly base: number;
  readonly quote: number;
  readonly spot: number;
}

/** The flow of one unit of base currency, at a day, as units of quote currency for that day: the forward rate. */
export function forwardRate(day: Day, { base, quote, spot, ...days }: PairQuotes): Flow {
  const at = (curve: number, when: Day, power: 1 | -1): Factor => factor(curve, when, days.reference, power);
  const from = spotOf(days);
  return { ...flow([at(base, day, 1), at(base, from, -1), at(quote, from, 1), at(quote, day, -1)], 1), scale: spot };
}

/** Returns the forward points of a tenor, in units of the exchange rate. */
export function forwardPoints(name: string, points: number, tenor: Tenor, pair: PairQuotes): QuotedInstrument {
  const start = spotOf(pair);
  const end = later(start, tenor, pair);
  return {
    name,
    quote: points,
    start,
    end,
    pillar: end,
    flows: [forwardRate(end, pair), flow([], -pair.spot)],
    byQuote: [flow([], -1)],
  };
}

/**
 * Returns a basis swap of a pair's base currency: its index and the basis, with the notional exchanged at both ends,
 * against the other currency's index flat, which is worth its notional on its own curve.
 */
export function basisSwap(name: string, basis: number, tenor: Tenor, quotes: SwapQuotes): QuotedInstrument {
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
  return { name, quote: basis, start, end, pillar: end, flows: leg.flows, byQuote: leg.byRate };
}

function factor(curve: number, day: Day, reference: Day, power: 1 | -1 = 1): Factor {
  return { curve, time: timeOf(day, reference), power };
}

const flow = (factors: readonly Factor[], fixed: number): Flow => ({ scale: 1, factors, fixed, gearing: 0 });
