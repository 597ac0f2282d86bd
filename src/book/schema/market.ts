/** The schema of the market of a book. */
import type * as z from "zod";
import type { GaussianFactors, Heston, Sabr } from "../../market/index.ts";
import type { TimeSpec } from "../time.ts";
import type { HullWhiteInput } from "./market-input.ts";
import type { RateQuote } from "../../calibration/index.ts";
import {
  capQuotes,
  fitSchema,
  heston,
  quoteExercise,
  type InstrumentsSpec,
  instrumentsSchema,
  leveragedHeston,
  optionQuoteSchema,
  sabr,
  swaptionQuotes,
} from "./quotes.ts";
import {
  choose,
  correlation,
  finite,
  formula,
  fraction,
  list,
  mapOf,
  name,
  notNegative,
  numberWhere,
  object,
  positive,
  positiveVolatility,
  rate,
  type Schema,
  time,
  tuple,
  trueOrFalse,
  volatility,
  word,
} from "./values.ts";

/** A continuously compounded zero rate per year, and the date for which it holds. */
export interface ZeroNodeSpec {
  readonly date: TimeSpec;
  readonly zero: number;
}

/**
 * An interest rate curve after validation by its schema: a constant rate, zero rates by date, or quoted instruments.
 */
export type CurveSpec =
  | { readonly kind: "flat"; readonly rate: number }
  | { readonly kind: "zeros"; readonly nodes: readonly ZeroNodeSpec[] }
  | InstrumentsSpec;

type Affine = { readonly r0: number; readonly kappa: number; readonly theta: number; readonly sigma: number };

/** The interest rates of a currency after validation by their schema: a curve, or a model of the short rate. */
export type RateSpec =
  | CurveSpec
  | {
      readonly kind: "hullWhite";
      readonly curve: CurveSpec;
      readonly meanReversion: number;
      readonly volatility: number | readonly { readonly date: TimeSpec; readonly volatility: number }[];
    }
  | ({ readonly kind: "vasicek" | "cir" } & Affine)
  | {
      readonly kind: "g2";
      readonly curve: CurveSpec;
      readonly a: number;
      readonly sigma: number;
      readonly b: number;
      readonly eta: number;
      readonly rho: number;
    }
  | {
      readonly kind: "blackKarasinski";
      readonly curve: CurveSpec;
      readonly meanReversion: number;
      readonly volatility: number;
    }
  | {
      readonly kind: "shortRate";
      readonly curve: CurveSpec;
      readonly r0: number;
      readonly drift: string;
      readonly volatility: string;
      readonly range: readonly [number, number];
    }
  | {
      readonly kind: "hullWhiteQuotes";
      readonly curve: CurveSpec;
      readonly of: "caps" | "swaptions";
      readonly quotes: readonly RateQuote[];
    }
  | { readonly kind: "bdt"; readonly annualYields: readonly number[]; readonly yieldVolatilities: readonly number[] };

const zeroNodes = list(object({ date: time, zero: rate }), 'a list of { "date", "zero" }, at least one', 1);

const flatRate = rate.transform((flat): CurveSpec => ({ kind: "flat", rate: flat }));
const zeroRates = zeroNodes.transform((nodes): CurveSpec => ({ kind: "zeros", nodes }));

const curve = choose('a rate, a list of { "date", "zero" } or { "instruments" }', {
  number: flatRate,
  list: zeroRates,
  marked: { instruments: instrumentsSchema },
});
const meanReversion = numberWhere("a mean reversion from 0 to 100 per year", { minimum: 0, maximum: 100 });
const normal = numberWhere("a volatility of the rate from 0 to 1 (0.01 is 1 %)", { minimum: 0, maximum: 1 });
const affine = object({ r0: rate, kappa: meanReversion, theta: rate, sigma: normal });

const rateRange = tuple([finite, finite], "[lowest rate, highest rate]");

const hullWhiteForms = {
  meanReversion: object({
    meanReversion,
    volatility: choose('a volatility of the rate or a list of { "date", "volatility" }', {
      number: normal,
      list: list(object({ date: time, volatility: normal }), 'a list of { "date", "volatility" }, at least one', 1),
    }),
    curve,
  }).transform((given): RateSpec => ({ kind: "hullWhite", ...given })),
  caps: object({ curve, caps: capQuotes }).transform(({ curve: of, caps }): RateSpec => ({
    kind: "hullWhiteQuotes",
    curve: of,
    of: "caps",
    quotes: caps,
  })),
  swaptions: object({ curve, swaptions: swaptionQuotes }).transform(({ curve: of, swaptions }): RateSpec => ({
    kind: "hullWhiteQuotes",
    curve: of,
    of: "swaptions",
    quotes: swaptions,
  })),
};
const hullWhite: Schema<RateSpec, HullWhiteInput> = choose(
  '{ "meanReversion", "volatility", "curve" }, { "caps", "curve" } or { "swaptions", "curve" }',
  { marked: hullWhiteForms },
);

const rateForms = {
  hullWhite: object({ hullWhite }).transform(({ hullWhite: model }): RateSpec => model),
  vasicek: object({ vasicek: affine }).transform(({ vasicek }): RateSpec => ({ kind: "vasicek", ...vasicek })),
  cir: object({ cir: affine }).transform(({ cir }): RateSpec => ({ kind: "cir", ...cir })),
  g2: object({
    g2: object({ a: meanReversion, sigma: normal, b: meanReversion, eta: normal, rho: correlation, curve }),
  }).transform(({ g2 }): RateSpec => ({ kind: "g2", ...g2 })),
  blackKarasinski: object({ blackKarasinski: object({ meanReversion, volatility, curve }) }).transform(
    ({ blackKarasinski }): RateSpec => ({ kind: "blackKarasinski", ...blackKarasinski }),
  ),
  shortRate: object({
    shortRate: object({ r0: rate, drift: formula, volatility: formula, range: rateRange, curve }),
  }).transform(({ shortRate }): RateSpec => ({ kind: "shortRate", ...shortRate })),
  bdt: object({
    bdt: object({
      annualYields: list(rate, "a list of annual yields of 1, 2, … years, at least one", 1),
      yieldVolatilities: list(volatility, "a list of yield volatilities, one for each annual yield", 1),
    }),
  }).transform(({ bdt }): RateSpec => ({ kind: "bdt", ...bdt })),
};

const rateSchema = choose(
  'a rate, a list of { "date", "zero" }, { "hullWhite" }, { "vasicek" }, { "cir" }, { "g2" }, ' +
    '{ "blackKarasinski" }, { "shortRate" }, { "bdt" } or { "instruments" }',
  { number: flatRate, list: zeroRates, marked: { ...rateForms, instruments: instrumentsSchema } },
);

/** A surface of implied volatilities by expiry and strike, after validation by its schema. */
export interface QuotesSpec {
  readonly expiries: readonly TimeSpec[];
  readonly strikes: readonly number[];
  /** The implied volatilities, implied[expiry][strike]. */
  readonly implied: readonly (readonly number[])[];
}

/** A surface of local volatilities by time and spot, after validation by its schema. */
export interface SurfaceSpec {
  readonly times: readonly TimeSpec[];
  readonly spots: readonly number[];
  /** The volatilities, volatility[time][spot]. */
  readonly volatility: readonly (readonly number[])[];
}

/** A quote of an option after validation by its schema: its implied volatility, its price, or its bid and ask. */
export type OptionQuoteSpec = z.infer<typeof optionQuoteSchema>;

/**
 * Option quotes to which a volatility model is fitted, after validation by their schema. With the fit "none", only
 * their implied volatilities are computed.
 */
export interface FittedSpec {
  readonly kind: "fitted";
  readonly quotes: readonly OptionQuoteSpec[];
  readonly fit: z.infer<typeof fitSchema>;
  /** True to replace a fit with arbitrage by the nearest surface without. */
  readonly repair?: boolean | undefined;
  /** The maximum age of quotes in days before asOf; older ones are left out. */
  readonly maxAge?: number | undefined;
  /** The exercise of quotes that do not name one; European by default. */
  readonly exercise?: "european" | "american" | undefined;
}

/** A volatility after validation by its schema, before its dates become years. */
export type VolatilitySpec =
  | FittedSpec
  | { readonly kind: "flat"; readonly volatility: number }
  | {
      readonly kind: "termStructure";
      readonly nodes: readonly { readonly date: TimeSpec; readonly volatility: number }[];
    }
  | { readonly kind: "cev"; readonly sigma: number; readonly beta: number }
  | { readonly kind: "displaced"; readonly sigma: number; readonly shift: number }
  | { readonly kind: "surface"; readonly surface: SurfaceSpec }
  | Heston
  | Sabr
  | GaussianFactors
  | { readonly kind: "stochasticLocal"; readonly variance: Heston | Sabr; readonly surface: SurfaceSpec }
  | { readonly kind: "local"; readonly expression: string }
  | {
      readonly kind: "quotes";
      readonly quotes: QuotesSpec;
      readonly fit?: FittedSpec["fit"];
      readonly repair?: boolean;
      readonly exercise?: FittedSpec["exercise"];
    };

const flatVolatilitySchema = volatility.transform((flat): VolatilitySpec => ({ kind: "flat", volatility: flat }));

const surface = object({
  times: list(time, "a list of dates or years, at least one", 1),
  spots: list(positive, "a list of spots, at least one", 1),
  volatility: list(
    list(positiveVolatility, "a list of volatilities"),
    "a list (by time) of lists (by spot) of volatilities",
  ),
});

const volatilityForms = {
  termStructure: object({
    termStructure: list(object({ date: time, volatility }), 'a list of { "date", "volatility" }, at least one', 1),
  }).transform(({ termStructure }): VolatilitySpec => ({ kind: "termStructure", nodes: termStructure })),
  cev: object({ cev: object({ sigma: notNegative, beta: finite }) }).transform(({ cev }): VolatilitySpec => ({
    kind: "cev",
    ...cev,
  })),
  displaced: object({ displaced: object({ sigma: notNegative, shift: notNegative }) }).transform(
    ({ displaced }): VolatilitySpec => ({ kind: "displaced", ...displaced }),
  ),
  surface: object({ surface }).transform(({ surface }): VolatilitySpec => ({ kind: "surface", surface })),
  heston: object({ heston }).transform(({ heston }): VolatilitySpec => ({ kind: "heston", ...heston })),
  sabr: object({ sabr }).transform(({ sabr }): VolatilitySpec => ({ kind: "sabr", ...sabr })),
  stochasticLocal: object({
    stochasticLocal: choose('{ "heston", "surface" } or { "sabr", "surface" }', {
      marked: {
        heston: object({ heston: leveragedHeston, surface }).transform(({ heston: own, surface: of }) => ({
          variance: { kind: "heston" as const, ...own },
          surface: of,
        })),
        sabr: object({ sabr, surface }).transform(({ sabr: own, surface: of }) => ({
          variance: { kind: "sabr" as const, ...own },
          surface: of,
        })),
      },
    }),
  }).transform(({ stochasticLocal }): VolatilitySpec => ({ kind: "stochasticLocal", ...stochasticLocal })),
  gaussianFactors: object({
    gaussianFactors: object({
      alpha: list(notNegative, "a list of mean reversions, one a factor", 1),
      sigma: list(notNegative, "a list of volatilities, one a factor", 1),
      rho: correlation.optional(),
    }),
  }).transform(({ gaussianFactors: { alpha, sigma, rho = 0 } }): VolatilitySpec => ({
    kind: "gaussianFactors",
    alpha,
    sigma,
    rho,
  })),
  local: object({ local: formula }).transform(({ local }): VolatilitySpec => ({ kind: "local", expression: local })),
  quotes: object({
    quotes: choose('a list of quotes or { "expiries", "strikes", "implied" }', {
      list: list(optionQuoteSchema, "a list of quotes, at least one", 1),
      object: object({
        expiries: list(time, "a list of dates, at least one", 1),
        strikes: list(positive, "a list of strikes, at least one", 1),
        implied: list(
          list(volatility, "a list of volatilities"),
          "a list (by expiry) of lists (by strike) of volatilities",
        ),
      }),
    }),
    fit: fitSchema.optional(),
    repair: trueOrFalse.optional(),
    maxAge: notNegative.optional(),
    exercise: quoteExercise.optional(),
  }).transform(({ quotes, fit, repair = false, maxAge, exercise }): VolatilitySpec => {
    if (!("expiries" in quotes)) return { kind: "fitted", quotes, fit: fit ?? "none", repair, maxAge, exercise };
    return { kind: "quotes", quotes, repair, exercise, ...(fit === undefined ? {} : { fit }) };
  }),
};

const VOLATILITY_FORMS =
  'a volatility, { "termStructure" }, { "cev" }, { "displaced" }, { "surface" }, { "local" }, { "heston" }, ' +
  '{ "sabr" }, { "stochasticLocal" }, { "gaussianFactors" } or { "quotes" }';

/** The schema that validates a volatility. */
export const volatilitySchema = choose(VOLATILITY_FORMS, {
  number: flatVolatilitySchema,
  marked: volatilityForms,
});

const dividendSchema = object({ date: time, cash: notNegative.optional(), proportional: fraction.optional() });

const underlyingSchema = object({
  spot: positive,
  currency: name,
  dividends: object({
    yield: choose('a yield or "parity"', { number: rate, string: word(["parity"], { or: "a yield" }) }).optional(),
    discrete: list(dividendSchema, 'a list of { "date", "cash", "proportional" }').optional(),
  }).optional(),
  volatility: volatilitySchema.optional(),
});

/** An underlying after validation by its schema. */
export type UnderlyingSpec = z.infer<typeof underlyingSchema>;

const constantRate = notNegative.transform((flat): RatesByDate => ({ dates: [], values: [flat] }));
const spreadsByDate = list(
  object({ date: time, spread: notNegative }),
  'a list of { "date", "spread" }, at least one',
  1,
);
const hazardsByDate = list(
  object({ date: time, hazard: notNegative }),
  'a list of { "date", "hazard" }, at least one',
  1,
);

/**
 * A credit spread or hazard rate that is piecewise constant in time. Each value holds up to its date, and the last one
 * for ever. A constant rate has one value and no dates.
 */
export interface RatesByDate {
  readonly dates: readonly TimeSpec[];
  readonly values: readonly number[];
}

const spreadRate = choose('a spread or a list of { "date", "spread" }', {
  number: constantRate,
  list: spreadsByDate.transform((nodes): RatesByDate => ({
    dates: nodes.map(({ date }) => date),
    values: nodes.map(({ spread }) => spread),
  })),
});
const hazardRate = choose('a hazard rate or a list of { "date", "hazard" }', {
  number: constantRate,
  list: hazardsByDate.transform((nodes): RatesByDate => ({
    dates: nodes.map(({ date }) => date),
    values: nodes.map(({ hazard }) => hazard),
  })),
});

const creditSchema = choose('{ "spread" } or { "hazard", "recovery", "jump" }', {
  marked: {
    spread: object({ spread: spreadRate }).transform(({ spread }) => ({ kind: "spread" as const, spread })),
    hazard: object({
      hazard: hazardRate,
      recovery: fraction,
      jump: fraction,
      exponent: numberWhere("an exponent of the spot from −10 to 10", { minimum: -10, maximum: 10 }).optional(),
      reference: positive.optional(),
    }).transform((hazard) => ({ kind: "hazard" as const, ...hazard })),
  },
});

const doubtsByName = mapOf(list(name, "a list of texts"), "an object of lists of texts by name").optional();

/** The schema that validates a market. */
export const marketSchema = object({
  rates: mapOf(rateSchema, "an object of rates by currency"),
  underlyings: mapOf(underlyingSchema, "an object of underlyings by name").optional(),
  credit: mapOf(creditSchema, "an object of credit by underlying").optional(),
  correlations: list(
    tuple([name, name, correlation], '["FIRST", "SECOND", correlation]'),
    'a list of ["FIRST", "SECOND", correlation]',
  ).optional(),
  doubts: object({ rates: doubtsByName, underlyings: doubtsByName }).optional(),
});

/** A market after validation by its schema, before its dates become years. */
export type MarketSpec = z.infer<typeof marketSchema>;
