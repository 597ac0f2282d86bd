/** The schemas of curves by name, exchange rates and fixings. */
import * as z from "zod";
import {
  CALENDARS,
  type CalendarName,
  type IndexName,
  INDICES,
  type Tenor,
  tenorOf,
} from "../../market/conventions/index.ts";
import type { CreditQuote } from "../../calibration/index.ts";
import type { CurveRule } from "../../market/linear/index.ts";
import type { TimeSpec } from "../time.ts";
import type { CurveByNameInput } from "./market-input.ts";
import {
  choose,
  finite,
  fraction,
  list,
  mapOf,
  name,
  object,
  positive,
  rate,
  type Schema,
  time,
  word,
} from "./values.ts";

/** The schema of a tenor of one unit. */
export const tenor: Schema<Tenor, string> = name.transform((text, context): Tenor => {
  try {
    return tenorOf(text);
  } catch (error) {
    context.addIssue({ code: "custom", message: (error as Error).message });
    return z.NEVER;
  }
});

/** The schema of the name of an index. */
export const indexName = word(Object.keys(INDICES) as IndexName[]);

const calendarName = word(Object.keys(CALENDARS) as CalendarName[]);

/** The schema of one calendar, or of a list of calendars whose holidays are joined. */
export const calendar = choose("a calendar or a list of them", {
  string: calendarName.transform((one) => [one]),
  list: list(calendarName, "a list of calendars, at least one", 1),
});

/** A quoted instrument after validation, to be understood by the conventions of its curve's index. */
export type CurveInstrument =
  | { readonly kind: "deposit" | "fra" | "swap"; readonly tenor: Tenor; readonly quote: number }
  | { readonly kind: "future"; readonly start: TimeSpec; readonly end: TimeSpec | undefined; readonly quote: number }
  | { readonly kind: "basis"; readonly tenor: Tenor; readonly quote: number; readonly against: IndexName }
  | { readonly kind: "fxSwap" | "crossCurrency"; readonly tenor: Tenor; readonly quote: number }
  | { readonly kind: "cds"; readonly end: TimeSpec; readonly quote: CreditQuote };

const instrument = choose(
  'a quote with "deposit", "fra", "future", "ois", "swap", "basis", "fxSwap", "crossCurrency" or "cds", which is its ' +
    "tenor",
  {
    marked: {
      deposit: object({ deposit: tenor, rate }).transform((of): CurveInstrument => ({
        kind: "deposit",
        tenor: of.deposit,
        quote: of.rate,
      })),
      fra: object({ fra: tenor, rate }).transform((of): CurveInstrument => ({
        kind: "fra",
        tenor: of.fra,
        quote: of.rate,
      })),
      future: object({ future: time, end: time.optional(), price: finite, convexity: finite.optional() }).transform(
        ({ future, end, price, convexity = 0 }): CurveInstrument => ({
          kind: "future",
          start: future,
          end,
          quote: (100 - price) / 100 - convexity,
        }),
      ),
      ois: object({ ois: tenor, rate }).transform((of): CurveInstrument => ({
        kind: "swap",
        tenor: of.ois,
        quote: of.rate,
      })),
      swap: object({ swap: tenor, rate }).transform((of): CurveInstrument => ({
        kind: "swap",
        tenor: of.swap,
        quote: of.rate,
      })),
      basis: object({ basis: tenor, spread: rate, against: indexName }).transform((of): CurveInstrument => ({
        kind: "basis",
        tenor: of.basis,
        quote: of.spread,
        against: of.against,
      })),
      fxSwap: object({ fxSwap: tenor, points: finite }).transform((of): CurveInstrument => ({
        kind: "fxSwap",
        tenor: of.fxSwap,
        quote: of.points,
      })),
      crossCurrency: object({ crossCurrency: tenor, spread: rate }).transform((of): CurveInstrument => ({
        kind: "crossCurrency",
        tenor: of.crossCurrency,
        quote: of.spread,
      })),
      cds: object({
        cds: time,
        spread: rate.optional(),
        upfront: finite.optional(),
        coupon: rate.optional(),
      }).transform(({ cds, spread, upfront, coupon }, context): CurveInstrument => {
        if ((spread === undefined) === (upfront === undefined) || (coupon === undefined) !== (upfront === undefined))
          context.addIssue({ code: "custom", message: 'expected "spread", or "upfront" and "coupon"' });
        const quote: CreditQuote =
          spread === undefined
            ? { kind: "upfront", quote: upfront ?? 0, coupon: coupon ?? 0 }
            : { kind: "spread", quote: spread };
        return { kind: "cds", end: cds, quote };
      }),
    },
  },
);

/** A curve by name after validation: instruments, or zero rates. */
export interface NamedCurveSpec {
  readonly index?: IndexName | undefined;
  readonly instruments?: readonly CurveInstrument[];
  readonly zeros?: readonly { readonly date: TimeSpec; readonly zero: number }[];
  readonly interpolation: Exclude<CurveRule, "svensson">;
  readonly fit?: "bootstrap" | "svensson" | undefined;
  /** Periods in which the forward rate is higher by a spread. */
  readonly turns?: readonly { readonly from: TimeSpec; readonly to: TimeSpec; readonly spread: number }[] | undefined;
  /** The curve that discounts the instruments; by default the curve itself, or that of its currency. */
  readonly discount?: string | undefined;
  /** The curves of other indices that basis swaps need. */
  readonly forward?: ReadonlyMap<string, string> | undefined;
  /** The part of the notional that is left at default, of a curve of survival probabilities. */
  readonly recovery?: number | undefined;
  readonly calendar?: readonly CalendarName[] | undefined;
  /** The pair whose forward rates imply the curve, and the currency that it discounts. */
  readonly pair?: string | undefined;
  readonly currency?: string | undefined;
}

const shared = {
  index: indexName.optional(),
  interpolation: word(["log-discount", "zero-rate", "monotone-convex"]).optional(),
  recovery: fraction.optional(),
  currency: name.optional(),
  turns: list(object({ from: time, to: time, spread: rate }), 'a list of { "from", "to", "spread" }').optional(),
};

/** The schema of names of curves by index. */
export const forwardCurves = mapOf(name, "names of curves by index");

const namedCurve: Schema<NamedCurveSpec, CurveByNameInput> = choose('{ "instruments" } or { "zeros" }', {
  marked: {
    instruments: object({
      ...shared,
      instruments: list(instrument, "a list of quotes, at least one", 1),
      fit: word(["bootstrap", "svensson"]).optional(),
      discount: name.optional(),
      forward: forwardCurves.optional(),
      pair: name.optional(),
      calendar: calendar.optional(),
    }).transform(({ interpolation = "log-discount", ...of }): NamedCurveSpec => ({ ...of, interpolation })),
    zeros: object({
      ...shared,
      zeros: list(object({ date: time, zero: rate }), 'a list of { "date", "zero" }, at least one', 1),
    }).transform(({ interpolation = "log-discount", ...of }): NamedCurveSpec => ({ ...of, interpolation })),
  },
});

/** The rate of a currency pair after validation, for its spot date or for the date that is given. */
export interface FxSpec {
  readonly rate: number;
  readonly date?: TimeSpec | undefined;
}

const fxRate = choose('a rate or { "rate", "date" }', {
  number: positive.transform((spot): FxSpec => ({ rate: spot })),
  object: object({ rate: positive, date: time.optional() }),
});

/** The schemas of the parts of a market that linear products need. */
export const linearMarket = {
  curves: mapOf(namedCurve, "an object of curves by name").optional(),
  fx: mapOf(fxRate, "an object of exchange rates by pair, such as EURUSD").optional(),
  fixings: mapOf(mapOf(finite, "rates by date"), "an object of fixings by index").optional(),
};
