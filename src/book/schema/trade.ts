/** The schema of a trade. */
import type { BasketIndex, Tags } from "../types.ts";
import type { TimeSpec } from "../time.ts";
import { type VolatilitySpec, volatilitySchema } from "./market.ts";
import type { CalendarName } from "../../market/conventions/index.ts";
import { calendar } from "./curves.ts";
import { dateForms, dateList } from "./schedule.ts";
import {
  choose,
  correlation,
  finite,
  formula,
  isPlainObject,
  list,
  name,
  notNegative,
  object,
  positive,
  positiveVolatility,
  type Schema,
  tags,
  time,
  businessDays,
  wholeNumber,
  word,
  rate,
  wholeNumberFrom,
  type Output,
} from "./values.ts";

const call = choose('{ "date", "price", "trigger" } or { "from", "to", "price", "trigger" }', {
  marked: {
    date: object({ date: time, price: positive, trigger: notNegative.optional() }).transform(({ date, ...rest }) => ({
      from: date,
      to: date,
      ...rest,
    })),
    from: object({ from: time, to: time, price: positive, trigger: notNegative.optional() }),
  },
});

const put = choose('{ "date", "price" } or { "from", "to", "price" }', {
  marked: {
    date: object({ date: time, price: positive }).transform(({ date, price }) => ({ from: date, to: date, price })),
    from: object({ from: time, to: time, price: positive }),
  },
});

const conversion = choose('"american", "european", "none", a list of dates, { "schedule" } or { "from", "to" }', {
  string: word(["american", "european", "none"]).transform((kind) => ({ kind })),
  list: dateForms.list.transform((times) => ({ kind: "dates" as const, times })),
  marked: {
    schedule: dateForms.marked.schedule.transform((times) => ({ kind: "dates" as const, times })),
    from: object({ from: time, to: time }).transform((window) => ({ kind: "window" as const, ...window })),
  },
});

/** The schema that validates a convertible bond. */
export const convertibleTradeSchema = object({
  id: name,
  underlying: name,
  convertible: object({
    maturity: time,
    coupon: rate.optional(),
    frequency: wholeNumberFrom(1, 365, "payments a year, a whole number from 1 to 365").optional(),
    notional: positive,
    ratio: notNegative,
    conversion: conversion.optional(),
    calls: list(call, 'a list of { "date", "price" } or { "from", "to", "price" }').optional(),
    puts: list(put, 'a list of { "date", "price" } or { "from", "to", "price" }').optional(),
    calledCashComponent: word(["callPrice", "zero"]).optional(),
  }),
  volatility: volatilitySchema.optional(),
  quantity: finite.optional(),
  tags: tags.optional(),
});

/** A convertible bond after validation by its schema, before its dates become years. */
export type ConvertibleTradeSpec = Output<typeof convertibleTradeSchema>;

/** The schema that validates a forward, whose strike may have either sign. */
export const forwardTradeSchema = object({
  id: name,
  underlying: name,
  forward: finite,
  expiry: time,
  quantity: finite.optional(),
  tags: tags.optional(),
});

/** A forward after validation by its schema, before its expiry becomes years. */
export type ForwardTradeSpec = Output<typeof forwardTradeSchema>;

/** A payoff after validation by its schema. */
export type PayoffSpec =
  | { readonly kind: "vanilla"; readonly right: "call" | "put" }
  | {
      readonly kind: "digital";
      readonly right: "call" | "put";
      readonly cash: number;
      /** The currency of the amount; that of the price by default. */
      readonly currency?: string | undefined;
    }
  | { readonly kind: "expression"; readonly expression: string; readonly kinks: readonly number[] }
  /** Pays an amount if one of the levels is touched, or if none is. */
  | {
      readonly kind: "touch";
      readonly levels: readonly number[];
      readonly pays: "touched" | "untouched";
      readonly cash: number;
      readonly at: "hit" | "expiry";
      /** The currency of the amount; that of the price by default. */
      readonly currency: string | undefined;
    }
  | {
      readonly kind: "basket";
      readonly right: "call" | "put";
      readonly of: BasketIndex;
      /** The weights as written; undefined for a payoff without weights. */
      readonly weights: readonly number[] | undefined;
    };

/** The schema that validates "call" or "put". */
export const right = word(["call", "put"]);
/** Suggestions for names of products that are not words of the format. */
const PRODUCTS = {
  digital: 'write { "digital": "call", "cash": 10 }',
  binary: 'write { "digital": "call", "cash": 10 }',
  straddle: 'write { "expression": "abs(S - 100)", "kinks": [100] }',
  forward: 'write "forward": 100 in the place of "payoff" and "strike"',
  average: 'write "call" or "put", and "average" beside it',
  asian: 'write "call" or "put", and "average" beside it',
  lookback: 'write "call" or "put", and "lookback" beside it',
  swing: 'write "call" or "put", and "swing" beside it',
};
const vanilla = word(["call", "put"], { remedies: PRODUCTS }).transform((side): PayoffSpec => ({
  kind: "vanilla",
  right: side,
}));

const levels = choose("a level or a list of two", {
  number: positive.transform((level) => [level]),
  list: list(positive, "a list of levels, at least one", 1),
});

const payoffForms = {
  digital: object({ digital: right, cash: finite.optional(), currency: name.optional() }).transform(
    ({ digital, cash = 1, currency }): PayoffSpec => ({ kind: "digital", right: digital, cash, currency }),
  ),
  touch: object({
    touch: levels,
    cash: notNegative.optional(),
    at: word(["hit", "expiry"]).optional(),
    currency: name.optional(),
  }).transform(({ touch, cash = 1, at = "expiry", currency }): PayoffSpec => ({
    kind: "touch",
    levels: touch,
    pays: "touched",
    cash,
    at,
    currency,
  })),
  noTouch: object({ noTouch: levels, cash: notNegative.optional(), currency: name.optional() }).transform(
    ({ noTouch, cash = 1, currency }): PayoffSpec => ({
      kind: "touch",
      levels: noTouch,
      pays: "untouched",
      cash,
      at: "expiry",
      currency,
    }),
  ),
  expression: object({ expression: formula, kinks: list(positive, "a list of positive numbers").optional() }).transform(
    ({ expression, kinks = [] }): PayoffSpec => ({ kind: "expression", expression, kinks }),
  ),
};

const payoffSchema = choose(
  '"call", "put", { "digital" }, { "touch" }, { "noTouch" } or { "expression" }',
  { string: vanilla, marked: payoffForms },
  (value) =>
    isPlainObject(value) && ["basket", "bestOf", "worstOf", "spread"].some((form) => Object.hasOwn(value, form))
      ? '; give the trade "underlyings": ["A", "B"] instead of "underlying"'
      : "",
);

const basketForms = {
  basket: object({
    basket: right,
    weights: list(finite, "a list of weights, one for each underlying", 1),
    kind: word(["arithmetic", "geometric"]).optional(),
  }).transform(({ basket, weights, kind }): PayoffSpec => ({
    kind: "basket",
    right: basket,
    of: kind === "geometric" ? "product" : "sum",
    weights,
  })),
  bestOf: object({ bestOf: right }).transform(({ bestOf }): PayoffSpec => basketSpec(bestOf, "max")),
  worstOf: object({ worstOf: right }).transform(({ worstOf }): PayoffSpec => basketSpec(worstOf, "min")),
  spread: object({ spread: right }).transform(({ spread }): PayoffSpec => basketSpec(spread, "sum")),
  expression: payoffForms.expression,
};

function basketSpec(side: "call" | "put", of: BasketIndex): PayoffSpec {
  return { kind: "basket", right: side, of, weights: undefined };
}

const basketSchema = choose('{ "basket" }, { "bestOf" }, { "worstOf" }, { "spread" } or { "expression" }', {
  marked: basketForms,
});

/** The exercise of a trade after validation by its schema. */
export type ExerciseSpec =
  | { readonly kind: "european" }
  | { readonly kind: "american" }
  | { readonly kind: "bermudan"; readonly times: readonly TimeSpec[] };

const DATES_OF_RIGHTS = 'write its dates, ["2027-03-20", "2027-09-20"] or ["3M", "6M"]';
const exerciseWord = word(["european", "american"], {
  or: "a list of dates",
  remedies: { bermudan: DATES_OF_RIGHTS, bermuda: DATES_OF_RIGHTS, b: DATES_OF_RIGHTS },
}).transform((kind): ExerciseSpec => ({ kind }));
const bermudan = (times: readonly TimeSpec[]): ExerciseSpec => ({ kind: "bermudan", times });

/** The schema that validates the exercise of a trade. */
export const exerciseSchema = choose('"european", "american", a list of dates or { "schedule" }', {
  string: exerciseWord,
  list: dateForms.list.transform(bermudan),
  marked: { schedule: dateForms.marked.schedule.transform(bermudan) },
});

const monitoringSchema = choose('"continuous", a list of dates or { "schedule" }', {
  string: word(["continuous"], { or: "a list of dates", remedies: { discrete: "write the dates" } }),
  ...dateForms,
});

const averageSchema = object({
  kind: word(["arithmetic", "geometric"]),
  dates: monitoringSchema,
  past: object({ count: wholeNumber, mean: positive }).optional(),
});
/**
 * The average of the spot in the payoff of an Asian option, after validation by its schema. `past` has the number and
 * the mean of known fixings.
 */
export type AverageSpec = Output<typeof averageSchema>;

const lookbackSchema = object({
  strike: word(["fixed", "floating"]),
  from: time.optional(),
  extremum: positive.optional(),
  monitoring: monitoringSchema,
});
/** The terms of a lookback option after validation by their schema. `extremum` is the extreme spot before `asOf`. */
export type LookbackSpec = Output<typeof lookbackSchema>;

const swingSchema = object({
  dates: dateList,
  min: wholeNumber.optional(),
  max: wholeNumber.optional(),
});
/**
 * The terms of a swing option after validation by their schema: its exercise dates, and the minimum and maximum number
 * of exercises.
 */
export type SwingSpec = Output<typeof swingSchema>;

const barrierSchema = object({
  underlying: name.optional(),
  type: word(["up-and-out", "up-and-in", "down-and-out", "down-and-in"]),
  level: positive,
  rebate: notNegative.optional(),
  rebateAt: word(["hit", "expiry"]).optional(),
  breached: time.optional(),
  monitoring: monitoringSchema.optional(),
  from: time.optional(),
  to: time.optional(),
});
/** A barrier after validation by its schema, before its dates become years. */
export type BarrierSpec = Output<typeof barrierSchema>;

const conversionTerms = {
  currency: name,
  correlation: correlation.optional(),
  volatility: positiveVolatility.optional(),
};
const inCurrency = name.transform((currency): ConversionSpec => ({ currency }));

/** The schema of a payment at an exchange rate that was agreed. */
const quanto: Schema<ConversionSpec, string | { readonly currency: string }> = choose(
  'a currency or { "currency", "rate" }',
  { string: inCurrency, object: object({ ...conversionTerms, rate: positive.optional() }) },
);
/** The schema of a payment at the exchange rate of its day. */
const composite: Schema<ConversionSpec, string | { readonly currency: string }> = choose(
  'a currency or { "currency" }',
  {
    string: inCurrency,
    object: object(conversionTerms),
  },
);

/** A payment in another currency after validation: its currency, and what the market may lack. */
export interface ConversionSpec {
  readonly currency: string;
  /** The agreed exchange rate; 1 by default. */
  readonly rate?: number | undefined;
  /** The correlation of the underlying and the pair; by default that of the market. */
  readonly correlation?: number | undefined;
  /** The volatility of the exchange rate; by default that of the pair. */
  readonly volatility?: number | undefined;
}

/** A trade on underlyings after validation by its schema, before its dates become years. */
export interface TradeSpec {
  readonly payment?: TimeSpec | undefined;
  readonly paymentLag?: number | undefined;
  readonly paymentCalendar?: readonly CalendarName[] | undefined;
  readonly quanto?: ConversionSpec | undefined;
  readonly composite?: ConversionSpec | undefined;
  readonly id: string;
  readonly underlying?: string | undefined;
  readonly underlyings?: readonly string[] | undefined;
  readonly payoff: PayoffSpec;
  readonly strike?: number | undefined;
  readonly expiry: TimeSpec;
  readonly exercise?: ExerciseSpec | undefined;
  readonly quantity?: number | undefined;
  readonly barriers?: readonly BarrierSpec[] | undefined;
  readonly volatility?: VolatilitySpec | undefined;
  readonly average?: AverageSpec | undefined;
  readonly lookback?: LookbackSpec | undefined;
  readonly swing?: SwingSpec | undefined;
  readonly tags?: Tags | undefined;
}

const terms = {
  expiry: time,
  exercise: exerciseSchema.optional(),
  quantity: finite.optional(),
  barriers: list(barrierSchema, "a list of barriers").optional(),
  payment: time.optional(),
  paymentLag: businessDays.optional(),
  paymentCalendar: calendar.optional(),
  quanto: quanto.optional(),
  composite: composite.optional(),
  tags: tags.optional(),
};

/** The schema that validates a trade on one underlying. */
export const tradeSchema = object({
  id: name,
  underlying: name,
  payoff: payoffSchema,
  strike: positive.optional(),
  ...terms,
  volatility: volatilitySchema.optional(),
  average: averageSchema.optional(),
  lookback: lookbackSchema.optional(),
  swing: swingSchema.optional(),
});

/** The schema that validates a trade on several underlyings. Weights and strike may have either sign. */
export const basketTradeSchema = object({
  id: name,
  underlyings: list(name, "a list of underlyings, at least two", 2),
  payoff: basketSchema,
  strike: finite.optional(),
  ...terms,
});
