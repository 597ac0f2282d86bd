/** The schemas of quotes of rates and options, from which a market is derived. */
import type { RateQuote } from "../../calibration/index.ts";
import { MAX_YEARS, type TimeSpec } from "../time.ts";
import {
  choose,
  correlation,
  finite,
  fraction,
  list,
  notNegative,
  numberWhere,
  object,
  positive,
  positiveVolatility,
  rate,
  time,
  trueOrFalse,
  wholeNumberFrom,
  word,
} from "./values.ts";

const DAY_COUNTS = ["Act/365F", "Act/360"] as const;

/** The day count convention of a simple rate, which determines the number of days in a year. */
export type DayCount = (typeof DAY_COUNTS)[number];

const dayCount = word(DAY_COUNTS).optional();

/** A quoted interest rate instrument after validation by its schema. */
export type InstrumentSpec =
  | { readonly kind: "deposit"; readonly end: TimeSpec; readonly rate: number; readonly dayCount: DayCount }
  | {
      readonly kind: "fra" | "future";
      readonly start: TimeSpec;
      readonly end: TimeSpec;
      readonly rate: number;
      readonly dayCount: DayCount;
    }
  | { readonly kind: "swap"; readonly end: TimeSpec; readonly rate: number; readonly frequency: number };

const frequency = numberWhere("payments a year, from 0.1 to 365", { minimum: 0.1, maximum: 365 });

const instrumentSchema = choose(
  'a quote with "deposit", "fra", "future", "swap" or "overnight", which is when it ends or starts',
  {
    marked: {
      deposit: object({ deposit: time, rate, dayCount }).transform(
        ({ deposit, rate, dayCount = "Act/365F" }): InstrumentSpec => ({
          kind: "deposit",
          end: deposit,
          rate,
          dayCount,
        }),
      ),
      fra: object({ fra: time, end: time, rate, dayCount }).transform(
        ({ fra, end, rate, dayCount = "Act/365F" }): InstrumentSpec => ({
          kind: "fra",
          start: fra,
          end,
          rate,
          dayCount,
        }),
      ),
      // The rate of a future is 100 − price per cent, less what its margin is worth.
      future: object({ future: time, end: time, price: finite, convexity: finite.optional(), dayCount }).transform(
        ({ future, end, price, convexity = 0, dayCount = "Act/365F" }): InstrumentSpec => ({
          kind: "future",
          start: future,
          end,
          rate: (100 - price) / 100 - convexity,
          dayCount,
        }),
      ),
      swap: object({ swap: time, rate, frequency: frequency.optional() }).transform(
        ({ swap, rate, frequency = 1 }): InstrumentSpec => ({ kind: "swap", end: swap, rate, frequency }),
      ),
      overnight: object({ overnight: time, rate, frequency: frequency.optional() }).transform(
        ({ overnight, rate, frequency = 1 }): InstrumentSpec => ({ kind: "swap", end: overnight, rate, frequency }),
      ),
    },
  },
);

/** An interest rate curve that is fitted to quoted instruments, after validation by its schema. */
export interface InstrumentsSpec {
  readonly kind: "instruments";
  readonly instruments: readonly InstrumentSpec[];
  /** "linear-zero" is another name of "log-discount": zero rate times time is linear. */
  readonly interpolation: "linear-zero" | "log-discount" | "monotone-convex";
  readonly fit: "bootstrap" | "svensson";
}

/** The schema that validates a curve given by quoted instruments. */
export const instrumentsSchema = object({
  instruments: list(instrumentSchema, "a list of quotes, at least one", 1),
  interpolation: word(["linear-zero", "log-discount", "monotone-convex"]).optional(),
  fit: word(["bootstrap", "svensson"]).optional(),
}).transform(({ instruments, interpolation = "log-discount", fit = "bootstrap" }): InstrumentsSpec => ({
  kind: "instruments",
  instruments,
  interpolation,
  fit,
}));

/** The schema that validates the exercise of quoted options. */
export const quoteExercise = word(["european", "american"]);

/** The schema that validates a quote of an option. */
export const optionQuoteSchema = object({
  expiry: time,
  strike: positive,
  type: word(["call", "put"]).optional(),
  implied: positiveVolatility.optional(),
  price: notNegative.optional(),
  bid: notNegative.optional(),
  ask: notNegative.optional(),
  weight: notNegative.optional(),
  date: time.optional(),
  exercise: quoteExercise.optional(),
});

/**
 * The schema of the settings of a direct local volatility calibration: the numbers of spots and times, and the fit
 * error accepted for smoothness.
 */
const localFit = object({
  method: word(["adjoint"]),
  spots: wholeNumberFrom(20, 1000, "a whole number of spots from 20 to 1,000").optional(),
  times: wholeNumberFrom(5, 1000, "a whole number of times from 5 to 1,000").optional(),
  tolerance: positive.optional(),
});

/** The schemas of the parameters of a stochastic variance. */
const hestonFields = { v0: notNegative, kappa: notNegative, theta: notNegative, sigma: notNegative, rho: correlation };
/** The schema that validates the parameters of Heston's model. */
export const heston = object(hestonFields);
/** The schema that validates the parameters of the SABR model. */
export const sabr = object({ alpha: positive, beta: fraction, nu: notNegative, rho: correlation });

/**
 * The schema that validates the parameters of Heston's model in a stochastic local volatility model. A leverage
 * function multiplies the variance, so v0 must be positive.
 */
export const leveragedHeston = object({ ...hestonFields, v0: positive });

const stochasticLocalFit = object({
  surface: word(["svi", "ssvi", "essvi", "andreasen-huge", "local"]).optional(),
  heston: leveragedHeston.optional(),
  sabr: sabr.optional(),
  mixing: numberWhere("a factor of the volatility of variance, above 0 up to 1", {
    exclusiveMinimum: 0,
    maximum: 1,
  }).optional(),
}).transform((fit, context) => {
  if (fit.heston !== undefined && fit.sabr !== undefined)
    context.addIssue({ code: "custom", message: 'expected one variance, got "heston" and "sabr"' });
  return fit;
});

/** The fits that are written as objects. */
const FORMS =
  '{ "heston": { "feller": true } }, { "sabr": { "beta": 0.7 } }, { "local": { "method": "adjoint" } } or ' +
  '{ "stochasticLocal": {} }';

/** The schema that validates the choice of a volatility model to be fitted to option quotes. */
export const fitSchema = choose(`"svi", "ssvi", "essvi", "andreasen-huge", "local", "heston", "none", ${FORMS}`, {
  string: word(["svi", "ssvi", "essvi", "andreasen-huge", "local", "heston", "none"], {
    or: FORMS,
  }),
  marked: {
    heston: object({ heston: object({ feller: trueOrFalse }) }),
    sabr: object({ sabr: object({ beta: fraction }) }),
    local: object({ local: localFit }),
    stochasticLocal: object({ stochasticLocal: stochasticLocalFit }),
  },
});

const years = numberWhere("years above 0", { exclusiveMinimum: 0, maximum: MAX_YEARS });
const quoteTerms = { frequency, strike: rate, price: positive };

/** The schema that validates prices of caps on a notional of 1, to which Hull and White's model is fitted. */
export const capQuotes = list(
  object({ start: years, maturity: years, ...quoteTerms }).transform((cap): RateQuote => ({ kind: "cap", ...cap })),
  'a list of { "start", "maturity", "frequency", "strike", "price" }, at least two',
  2,
);

/** The schema that validates prices of swaptions on a notional of 1, to which Hull and White's model is fitted. */
export const swaptionQuotes = list(
  object({ type: word(["payer", "receiver"]), expiry: years, length: years, ...quoteTerms }).transform(
    (swaption): RateQuote => ({ kind: "swaption", ...swaption }),
  ),
  'a list of { "type", "expiry", "length", "frequency", "strike", "price" }, at least two',
  2,
);
