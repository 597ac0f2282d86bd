/** Converts swaps, forward rate agreements, notes, forwards on currencies and credit default swaps to flows. */
import { BookError, SpecError } from "../base/errors.ts";
import { unadjustedEnd } from "../calibration/index.ts";
import {
  addMonths,
  calendarOf,
  conventionsOf,
  type Day,
  INDICES,
  type IndexName,
  isoOf,
  monthEnd,
  type ScheduleSpec,
} from "../market/conventions/index.ts";
import {
  fixedFlow,
  floatingOf,
  type Leg,
  legOf,
  type LegSpec,
  type OvernightRule,
  type PaidFlow,
  timeOf,
  zeroCouponOf,
} from "../market/linear/index.ts";
import { creditTerms } from "./credit-trade.ts";
import type { LinearMarket } from "./linear-market.ts";
import type { FairNumber, LinearLeg, LinearTerms, LinearTrade } from "./linear-types.ts";
import { inside, type PathOf } from "./paths.ts";
import { resettingLeg } from "./resetting-leg.ts";
import type { LinearLegSpec, LinearTradeSpec } from "./schema/index.ts";
import { dayNumber, type TimeSpec, yearsText } from "./time.ts";

type Form<K extends LinearTradeSpec["kind"]> = Extract<LinearTradeSpec, { readonly kind: K }>;

/**
 * Converts a linear trade from the book's form. @throws BookError for what its market lacks, a fixing that is missing,
 * terms that contradict each other, and a trade whose payments are all past
 */
export function resolveLinearTrade(spec: LinearTradeSpec, pathOf: PathOf, market: LinearMarket): LinearTrade {
  const { id, quantity = 1, tags, report = [] } = spec;
  const terms = termsOf(spec, inside(pathOf, spec.kind), market);
  const last = Math.max(...terms.legs.flatMap(({ flows }) => flows.map(({ date }) => date)));
  if (!(last > market.reference))
    throw new BookError(pathOf(), "all its payments lie before asOf, or on it; leave the trade out");
  const expiry = timeOf(last, market.reference);
  const trade: LinearTrade = { kind: "linear", id, market: market.curves, seen: 0, expiry, report, quantity, ...terms };
  return tags === undefined ? trade : { ...trade, tags: { ...tags } };
}

function termsOf(spec: LinearTradeSpec, pathOf: PathOf, market: LinearMarket): LinearTerms {
  switch (spec.kind) {
    case "swap":
      return swapTerms(spec, pathOf, market);
    case "fra":
      return located(pathOf, () => fraTerms(spec, pathOf, market));
    case "note":
      return noteTerms(spec, pathOf, market);
    case "fxForward":
      return forwardTerms(spec, pathOf, market);
    case "cds":
      return { ...creditTerms(spec.cds, pathOf, market), product: "cds" };
    default:
      return spec satisfies never;
  }
}

/** Returns what a function does; its errors of terms name the path. */
export function located<T>(pathOf: PathOf, make: () => T): T {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof SpecError) || error instanceof BookError) throw error;
    throw new BookError(pathOf(), error.message, { cause: error });
  }
}

/** The index whose conventions a leg without one takes, by currency. */
const USUAL: Readonly<Record<string, IndexName>> = {
  EUR: "EURIBOR-6M",
  USD: "SOFR",
  GBP: "SONIA",
  CHF: "SARON",
  JPY: "TONA",
};

/** What a leg takes from its trade. */
export interface Around {
  readonly start: TimeSpec | undefined;
  readonly end: TimeSpec;
  readonly notional: number | readonly number[] | undefined;
  readonly currency: string | undefined;
  /** The index whose conventions it takes if it has none. */
  readonly index: IndexName | undefined;
}

/** A leg with its days, and whether it pays one amount at the end. */
interface ReadLeg {
  readonly spec: LegSpec;
  readonly currency: string;
  readonly isZero: boolean;
}

/** Reads a leg, whose conventions are those of its index or of the index opposite. */
export function readLeg(given: LinearLegSpec, around: Around, pathOf: PathOf, market: LinearMarket): ReadLeg {
  const currencyOf = (index: IndexName | undefined): string | undefined => index && conventionsOf(index).currency;
  const currency = given.currency ?? currencyOf(given.index) ?? around.currency ?? currencyOf(around.index);
  if (currency === undefined)
    throw new BookError(pathOf("currency"), 'expected the currency of the leg, such as "EUR"');
  if ((given.rate === undefined) === (given.index === undefined))
    throw new BookError(pathOf(), 'expected either a "rate" or an "index"');
  if (given.index === undefined && given.spread !== undefined)
    throw new BookError(pathOf("spread"), "a fixed leg has no spread; add it to the rate");
  const neighbour = currencyOf(around.index) === currency ? around.index : undefined;
  const name = given.index ?? neighbour ?? USUAL[currency];
  if (name === undefined)
    throw new BookError(pathOf("index"), `the conventions of ${currency} are not known; expected ${known()}`);
  const conventions = conventionsOf(name);
  const { months, fixed, endOfMonth, paymentLag, spotLag } = conventions;
  const isFixed = given.index === undefined;
  const calendar = calendarOf(given.calendar ?? conventions.calendar);
  const spot = calendar.addBusinessDays(market.reference, spotLag);
  const { start: from, to } = periodOf(around, { calendar, endOfMonth }, spot, market, pathOf);
  const every = given.every ?? ({ count: isFixed ? fixed.months : (months ?? 12), unit: "M" } as const);
  const day = (time: TimeSpec | undefined): Day | undefined => time && dayNumber(market.asOf, time);
  const schedule: ScheduleSpec & Pick<LegSpec["schedule"], "calendar"> = {
    from,
    to,
    every,
    calendar,
    ...(given.adjust === undefined ? {} : { adjust: given.adjust }),
    counted: given.roll ?? "backward",
    stub: given.stub ?? "short",
    endOfMonth: given.endOfMonth ?? to === monthEnd(to),
    first: day(given.first),
    penultimate: day(given.penultimate),
    rollDay: given.rollDay,
  };
  if (given.resets === true) checkResets(given, pathOf);
  const notional = given.notional ?? around.notional;
  if (notional === undefined) throw new BookError(pathOf("notional"), "expected a notional, here or beside the legs");
  const overnight = overnightOf(given, months === undefined, pathOf);
  const frequency = every.unit === "M" ? { frequency: 12 / every.count } : {};
  const spec: LegSpec = {
    schedule,
    notional,
    dayCount: given.dayCount ?? (isFixed ? fixed.dayCount : conventions.dayCount),
    ...frequency,
    paymentLag: given.paymentLag ?? paymentLag,
    ...(given.paymentCalendar === undefined ? {} : { paymentCalendar: calendarOf(given.paymentCalendar) }),
    rate: given.rate ?? given.spread ?? 0,
    ...(given.index === undefined ? {} : { index: market.index(given.index, pathOf("index")) }),
    ...(given.index !== undefined && overnight !== undefined ? { overnight } : {}),
    exchange: given.exchange ?? "none",
    discount: market.discount(currency, pathOf("currency")),
  };
  return { spec, currency, isZero: given.zeroCoupon ?? false };
}

const known = (): string => `an index, one of ${Object.keys(INDICES).join(", ")}`;

/** The first and the last day of a leg, not adjusted: a tenor of a start counts from spot, that of an end from it. */
function periodOf(
  { start: from, end }: Around,
  days: { readonly calendar: LegSpec["schedule"]["calendar"]; readonly endOfMonth: boolean },
  spot: Day,
  { asOf }: LinearMarket,
  pathOf: PathOf,
): { readonly start: Day; readonly to: Day } {
  const at = (time: TimeSpec, origin: Day, isEnd: boolean): Day => {
    if (time.kind !== "tenor") return dayNumber(asOf, time);
    if (time.days !== 0) return addMonths(origin, time.months) + time.days;
    const tenor = { count: time.months, unit: "M" } as const;
    return isEnd
      ? unadjustedEnd(origin, tenor, days)
      : days.calendar.advance(origin, tenor, "modified-following", days.endOfMonth);
  };
  const start = from === undefined ? spot : at(from, spot, false);
  const to = at(end, start, true);
  if (!(to > start)) throw new BookError(pathOf("end"), `expected a day after the start, ${isoOf(start)}`);
  return { start, to };
}

function overnightOf(
  { compounding, lookback, shift, lockout }: LinearLegSpec,
  isOvernight: boolean,
  pathOf: PathOf,
): OvernightRule | undefined {
  const rules = Object.entries({ lookback, shift, lockout }).filter(([, days]) => days !== undefined);
  if (!isOvernight && (compounding !== undefined || rules.length > 0))
    throw new BookError(
      pathOf(compounding === undefined ? rules[0][0] : "compounding"),
      "only overnight rates have it",
    );
  if (rules.length > 1) throw new BookError(pathOf(rules[1][0]), `expected one of "lookback", "shift" and "lockout"`);
  if (!isOvernight) return undefined;
  const averaged = compounding === "averaged";
  if (rules.length === 0) return { averaged };
  const [[observation, days]] = rules as [["lookback" | "shift" | "lockout", number]];
  return { averaged, observation, days };
}

/** @throws BookError for fields that a leg whose notional is reset does not have */
function checkResets({ notional, exchange, zeroCoupon }: LinearLegSpec, pathOf: PathOf): void {
  for (const [field, value] of Object.entries({ notional, exchange, zeroCoupon }))
    if (value !== undefined)
      throw new BookError(
        pathOf(field),
        "a leg that resets has the notional of the other leg at the exchange rate, exchanged with each reset; leave it out",
      );
}

/** A leg's flows, with what it adds to the comparison of terms. */
function flowsOf({ spec, currency, isZero }: ReadLeg, sign: 1 | -1, to: string, pathOf: PathOf, market: LinearMarket) {
  const conversion = market.conversion(currency, to, pathOf("currency"));
  const {
    flows,
    byRate = [],
    years,
  }: Partial<Leg> & ReturnType<typeof zeroCouponOf> = located(pathOf, () =>
    isZero ? zeroCouponOf(spec, market.reference) : legOf(spec, market.reference),
  );
  const leg: LinearLeg = { currency, sign, flows, byRate, conversion };
  return { leg, years };
}

/** What a leg is, whatever the market is. */
function comparable({ spec, currency, isZero }: ReadLeg, sign: 1 | -1): object {
  const { index, schedule, notional, dayCount, frequency, paymentLag, rate, overnight, exchange } = spec;
  const { from, to, every, adjust, counted, stub, first, penultimate, endOfMonth, rollDay } = schedule;
  return [
    [index?.name, notional, dayCount, frequency, paymentLag, rate, overnight, exchange, currency, isZero, sign],
    [from, to, every, adjust, counted, stub, first, penultimate, endOfMonth, rollDay],
  ];
}

function swapTerms({ swap }: Form<"swap">, pathOf: PathOf, market: LinearMarket): LinearTerms {
  const { start, end, notional, pay, receive } = swap;
  const around = (other: LinearLegSpec, isReset = false): Around => ({
    start,
    end,
    notional: isReset ? (other.notional ?? notional) : notional,
    currency: swap.currency,
    index: other.index,
  });
  const read = [
    readLeg(receive, around(pay, receive.resets), inside(pathOf, "receive"), market),
    readLeg(pay, around(receive, pay.resets), inside(pathOf, "pay"), market),
  ];
  const currency = swap.currency ?? read[0].currency;
  const sides = ["receive", "pay"] as const;
  const signs = [1, -1] as const;
  const resetting = [receive, pay].findIndex(({ resets }) => resets === true);
  const made = read.map((leg, k) => {
    const at = inside(pathOf, sides[k]);
    if (k !== resetting) return { ...flowsOf(leg, signs[k], currency, at, market), known: [] };
    return resettingLeg(leg, read[1 - k], signs[k], currency, at, market);
  });
  const isFixed = read.map(({ spec }) => spec.index === undefined);
  // The fixed leg; the one that is paid where both are fixed or both are not; not one that is reset.
  const usual = isFixed[0] && !isFixed[1] ? 0 : 1;
  const at = usual === resetting ? 1 - usual : usual;
  const legs = [...made.map(({ leg }) => leg), ...made.flatMap(({ known }) => known)];
  return {
    product: "swap",
    currency,
    ...pairOf(legs),
    legs,
    fair: fairOf(read[at], made[at].years, at),
    terms: { legs: read.map((leg, k) => [comparable(leg, signs[k]), k === resetting]) },
  };
}

/** The pair on which legs depend, if it is one. */
function pairOf(legs: readonly LinearLeg[]): Pick<LinearTerms, "pair"> {
  const steps = legs.flatMap(({ conversion }) => conversion);
  const names = new Set(steps.map(({ pair }) => pair));
  return names.size === 1 ? { pair: { name: steps[0].pair, spot: steps[0].spot } } : {};
}

function fairOf({ spec, isZero }: ReadLeg, years: number | undefined, leg: number): FairNumber | undefined {
  if (typeof spec.rate !== "number") return undefined;
  const isFixed = spec.index === undefined;
  if (isZero)
    return years !== undefined && typeof spec.notional === "number"
      ? { kind: "zeroCoupon", leg, years, notional: spec.notional }
      : undefined;
  return { kind: isFixed ? "rate" : "spread", leg, at: spec.rate };
}

function noteTerms({ note }: Form<"note">, pathOf: PathOf, market: LinearMarket): LinearTerms {
  const { start, end, notional, ...given } = note;
  const around = { start, end, notional, currency: undefined, index: undefined };
  const leg = readLeg({ exchange: "final", ...given }, around, pathOf, market);
  const { currency } = leg;
  const made = flowsOf(leg, 1, currency, pathOf, market);
  return { product: "note", currency, legs: [made.leg], fair: undefined, terms: comparable(leg, 1) };
}

function fraTerms({ fra }: Form<"fra">, pathOf: PathOf, market: LinearMarket): LinearTerms {
  const { rate, notional, side = "pay" } = fra;
  const { reference } = market;
  const conventions = conventionsOf(fra.index);
  const { currency, months, endOfMonth, spotLag } = conventions;
  if (months === undefined) throw new BookError(pathOf("index"), "expected the index of a term rate");
  const index = market.index(fra.index, pathOf("index"));
  const { calendar } = index;
  const spot = calendar.addBusinessDays(reference, spotLag);
  const tenor = { count: months, unit: "M" } as const;
  const asPeriod = { start: fra.start, end: fra.end ?? { kind: "tenor" as const, months, days: 0 } };
  const none = { notional: undefined, currency: undefined, index: undefined };
  const { start, to } = periodOf({ ...asPeriod, ...none }, { calendar, endOfMonth }, spot, market, pathOf);
  if (start <= reference) throw new BookError(pathOf("start"), "settled before asOf, or on it; leave the trade out");
  const end = fra.end === undefined ? calendar.advance(start, tenor, "modified-following", endOfMonth) : to;
  const { growth, accrual } = floatingOf(index, undefined, start, end, reference);
  const discount = market.discount(currency, pathOf("index"));
  const at = (curve: number, day: Day, power: 1 | -1) => ({ curve, time: timeOf(day, reference), power });
  const isOpen = growth.periods.length > 0;
  // Settled at the start: N·(1 − (1 + K·τ)/(1 + L·τ)).
  const ratio = isOpen ? [at(index.curve, end, 1), at(index.curve, start, -1)] : [];
  const factors = [at(discount, start, 1), ...ratio];
  const owed = -notional / (isOpen ? 1 : growth.known);
  const settled = (fixed: number): PaidFlow => ({ date: start, scale: 1, factors, fixed, gearing: 0 });
  const leg: LinearLeg = {
    currency,
    sign: side === "pay" ? 1 : -1,
    flows: [fixedFlow(notional, start, reference, discount), settled(owed * (1 + rate * accrual))],
    byRate: [settled(owed * accrual)],
    conversion: [],
  };
  const terms = { index: fra.index, start, end, rate, notional, side };
  return { product: "fra", currency, legs: [leg], fair: { kind: "rate", leg: 0, at: rate }, terms };
}

function forwardTerms({ fxForward }: Form<"fxForward">, pathOf: PathOf, market: LinearMarket): LinearTerms {
  const { pair: name, amount, rate, delivery } = fxForward;
  const { reference, asOf } = market;
  const pair = market.fx.pair(name, pathOf("pair"));
  const day = dayNumber(asOf, delivery);
  if (!(day > reference))
    throw new BookError(pathOf("delivery"), `delivered ${yearsText((reference - day) / 365)} before asOf, or on it`);
  const leg = (currency: string, size: number, sign: 1 | -1): LinearLeg => {
    const discount = market.discount(currency, pathOf("pair"));
    return {
      currency,
      sign,
      flows: [fixedFlow(size, day, reference, discount)],
      byRate: sign === 1 ? [] : [fixedFlow(amount, day, reference, discount)],
      conversion: market.conversion(currency, pair.quote, pathOf("pair")),
    };
  };
  return {
    product: "fxForward",
    currency: pair.quote,
    pair: { name: pair.name, spot: pair.spot },
    legs: [leg(pair.base, amount, 1), leg(pair.quote, amount * rate, -1)],
    fair: { kind: "forward", leg: 1, at: rate },
    terms: { pair: pair.name, amount, rate, day },
  };
}
