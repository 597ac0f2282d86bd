/** The schema of the market of a book. */
import type { GaussianFactors, Heston, Sabr } from "../../market/index.ts";
import type { TimeSpec } from "../time.ts";
import type { CurveInput, PairInput, RateInput, UnderlyingInput, VolatilityInput } from "./market-input.ts";
import type { RateQuote } from "../../calibration/index.ts";
import { scriptSchema } from "./script.ts";
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
import { forwardCurves, linearMarket } from "./curves.ts";
import { byDeltas } from "./pairs.ts";
import {
  choose,
  correlation,
  finite,
  formula,
  fraction,
  list,
  mapOf,
  name,
  named,
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
  type Output,
} from "./values.ts";

/** A curve by its name after validation, with the curves of indices. */
export interface NamedRatesSpec {
  readonly kind: "named";
  readonly discount: string;
  readonly forward?: ReadonlyMap<string, string> | undefined;
}

/** A curve after validation: a constant rate, zero rates by date, quoted instruments, or a curve by its name. */
type CurveSpec =
  | NamedRatesSpec
  | { readonly kind: "flat"; readonly rate: number }
  | { readonly kind: "zeros"; readonly nodes: readonly { readonly date: TimeSpec; readonly zero: number }[] }
  | InstrumentsSpec;

/** The fields of a model after validation, given those that are written. */
type Validated<I> = I extends { readonly curve: unknown } ? Omit<I, "curve"> & { readonly curve: CurveSpec } : I;
/** The models of the names K after validation, given the forms I in which they are written. */
type Model<K extends string, I> = K extends string
  ? I extends Readonly<Record<K, infer Fields>>
    ? { readonly kind: K } & Validated<Fields>
    : never
  : never;

/** The interest rates of a currency after validation by their schema: a curve, or a model of the short rate. */
export type RateSpec =
  | CurveSpec
  | Model<"vasicek" | "cir" | "g2" | "blackKarasinski" | "shortRate" | "bdt", RateInput>
  | {
      readonly kind: "hullWhite";
      readonly curve: CurveSpec;
      readonly meanReversion: number;
      readonly volatility: number | readonly { readonly date: TimeSpec; readonly volatility: number }[];
    }
  | {
      readonly kind: "hullWhiteQuotes";
      readonly curve: CurveSpec;
      readonly of: "caps" | "swaptions";
      readonly quotes: readonly RateQuote[];
    };

const zeroNodes = list(object({ date: time, zero: rate }), 'a list of { "date", "zero" }, at least one', 1);

const flatRate = rate.transform((flat) => ({ kind: "flat" as const, rate: flat }));
const zeroRates = zeroNodes.transform((nodes) => ({ kind: "zeros" as const, nodes }));

const namedRates = object({ discount: name, forward: forwardCurves.optional() }).transform((of): NamedRatesSpec => ({
  kind: "named",
  ...of,
}));

const curve: Schema<CurveSpec, CurveInput> = choose(
  'a rate, a list of { "date", "zero" }, { "instruments" } or { "discount" }',
  { number: flatRate, list: zeroRates, marked: { instruments: instrumentsSchema, discount: namedRates } },
);
const meanReversion = numberWhere("a mean reversion from 0 to 100 per year", { minimum: 0, maximum: 100 });
const normal = numberWhere("a volatility of the rate from 0 to 1 (0.01 is 1 %)", { minimum: 0, maximum: 1 });
const affine = object({ r0: rate, kappa: meanReversion, theta: rate, sigma: normal });

const rateRange = tuple([finite, finite], "[lowest rate, highest rate]");

const modelVolatility = choose('a volatility of the rate or a list of { "date", "volatility" }', {
  number: normal,
  list: list(object({ date: time, volatility: normal }), 'a list of { "date", "volatility" }, at least one', 1),
});
const toFit = (curve: CurveSpec, of: "caps" | "swaptions", quotes: readonly RateQuote[]) => ({
  kind: "hullWhiteQuotes" as const,
  curve,
  of,
  quotes,
});
const hullWhite = choose(
  '{ "meanReversion", "volatility", "curve" }, { "caps", "curve" } or { "swaptions", "curve" }',
  {
    marked: {
      meanReversion: object({ meanReversion, volatility: modelVolatility, curve }).transform((given) => ({
        kind: "hullWhite" as const,
        ...given,
      })),
      caps: object({ curve, caps: capQuotes }).transform(({ curve: of, caps }) => toFit(of, "caps", caps)),
      swaptions: object({ curve, swaptions: swaptionQuotes }).transform(({ curve: of, swaptions }) =>
        toFit(of, "swaptions", swaptions),
      ),
    },
  },
);

const rateSchema: Schema<RateSpec, RateInput> = choose(
  'a rate, a list of { "date", "zero" }, { "hullWhite" }, { "vasicek" }, { "cir" }, { "g2" }, ' +
    '{ "blackKarasinski" }, { "shortRate" }, { "bdt" }, { "instruments" } or { "discount" }',
  {
    number: flatRate,
    list: zeroRates,
    marked: {
      hullWhite: object({ hullWhite }).transform(({ hullWhite: model }) => model),
      vasicek: named("vasicek", affine),
      cir: named("cir", affine),
      g2: named(
        "g2",
        object({ a: meanReversion, sigma: normal, b: meanReversion, eta: normal, rho: correlation, curve }),
      ),
      blackKarasinski: named("blackKarasinski", object({ meanReversion, volatility, curve })),
      shortRate: named("shortRate", object({ r0: rate, drift: formula, volatility: formula, range: rateRange, curve })),
      bdt: named(
        "bdt",
        object({
          annualYields: list(rate, "a list of annual yields of 1, 2, … years, at least one", 1),
          yieldVolatilities: list(volatility, "a list of yield volatilities, one for each annual yield", 1),
        }),
      ),
      instruments: instrumentsSchema,
      discount: namedRates,
    },
  },
);
/** A quote of an option after validation by its schema: its implied volatility, its price, or its bid and ask. */
export type OptionQuoteSpec = Output<typeof optionQuoteSchema>;

/** A surface of local volatilities by time and spot, after validation by its schema. */
interface SurfaceSpec {
  readonly times: readonly TimeSpec[];
  readonly spots: readonly number[];
  /** The volatilities, volatility[time][spot]. */
  readonly volatility: readonly (readonly number[])[];
}

/**
 * Option quotes to which a volatility model is fitted, after validation by their schema. With the fit "none", only
 * their implied volatilities are computed.
 */
export interface FittedSpec {
  readonly kind: "fitted";
  readonly quotes: readonly OptionQuoteSpec[];
  readonly fit: Output<typeof fitSchema>;
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
  | Model<"cev" | "displaced", VolatilityInput>
  | { readonly kind: "surface"; readonly surface: SurfaceSpec }
  | Heston
  | Sabr
  | GaussianFactors
  | { readonly kind: "stochasticLocal"; readonly variance: Heston | Sabr; readonly surface: SurfaceSpec }
  | { readonly kind: "local"; readonly expression: string }
  | {
      readonly kind: "quotes";
      readonly quotes: {
        readonly expiries: readonly TimeSpec[];
        readonly strikes: readonly number[];
        /** The implied volatilities, implied[expiry][strike]. */
        readonly implied: readonly (readonly number[])[];
      };
      readonly fit?: FittedSpec["fit"];
      readonly repair?: boolean;
      readonly exercise?: FittedSpec["exercise"];
    };

const surface = object({
  times: list(time, "a list of dates or years, at least one", 1),
  spots: list(positive, "a list of spots, at least one", 1),
  volatility: list(
    list(positiveVolatility, "a list of volatilities"),
    "a list (by time) of lists (by spot) of volatilities",
  ),
});

const termStructure = list(object({ date: time, volatility }), 'a list of { "date", "volatility" }, at least one', 1);

const quotedVolatility = object({
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
}).transform(({ quotes, fit, repair = false, maxAge, exercise }) => {
  if (!("expiries" in quotes))
    return { kind: "fitted" as const, quotes, fit: fit ?? ("none" as const), repair, maxAge, exercise };
  return { kind: "quotes" as const, quotes, repair, exercise, ...(fit === undefined ? {} : { fit }) };
});

/** The schema that validates a volatility. */
export const volatilitySchema: Schema<VolatilitySpec, VolatilityInput> = choose(
  'a volatility, { "termStructure" }, { "cev" }, { "displaced" }, { "surface" }, { "local" }, { "heston" }, ' +
    '{ "sabr" }, { "stochasticLocal" }, { "gaussianFactors" } or { "quotes" }',
  {
    number: volatility.transform((flat) => ({ kind: "flat" as const, volatility: flat })),
    marked: {
      termStructure: object({ termStructure }).transform(({ termStructure: nodes }) => ({
        kind: "termStructure" as const,
        nodes,
      })),
      cev: named("cev", object({ sigma: notNegative, beta: finite })),
      displaced: named("displaced", object({ sigma: notNegative, shift: notNegative })),
      surface: object({ surface }).transform(({ surface: of }) => ({ kind: "surface" as const, surface: of })),
      heston: named("heston", heston),
      sabr: named("sabr", sabr),
      stochasticLocal: named(
        "stochasticLocal",
        choose('{ "heston", "surface" } or { "sabr", "surface" }', {
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
      ),
      gaussianFactors: named(
        "gaussianFactors",
        object({
          alpha: list(notNegative, "a list of mean reversions, one a factor", 1),
          sigma: list(notNegative, "a list of volatilities, one a factor", 1),
          rho: correlation.optional(),
        }).transform(({ alpha, sigma, rho = 0 }) => ({ alpha, sigma, rho })),
      ),
      local: object({ local: formula }).transform(({ local: expression }) => ({ kind: "local" as const, expression })),
      quotes: quotedVolatility,
    },
  },
);
const dividendSchema = object({ date: time, cash: notNegative.optional(), proportional: fraction.optional() });

const pairVolatility = choose('a volatility or { "deltas" }, or any other volatility of an underlying', {
  number: volatilitySchema,
  object: volatilitySchema,
  marked: { deltas: byDeltas },
});

const pairSchema = object({ fx: name, volatility: pairVolatility.optional() });

/** A currency pair that options are on, after validation by its schema. */
export type PairSpec = Output<typeof pairSchema>;

const spotSchema = object({
  spot: positive,
  currency: name,
  dividends: object({
    yield: choose('a yield, a list of { "date", "zero" } or "parity"', {
      number: rate,
      list: zeroNodes,
      string: word(["parity"], { or: "a yield" }),
    }).optional(),
    discrete: list(dividendSchema, 'a list of { "date", "cash", "proportional" }').optional(),
  }).optional(),
  volatility: volatilitySchema.optional(),
});

/** An underlying with a spot of its own, after validation by its schema. */
export type SpotSpec = Output<typeof spotSchema>;

const underlyingSchema: Schema<SpotSpec | PairSpec, UnderlyingInput | PairInput> = choose(
  '{ "spot", "currency", … } or, for a currency pair, { "fx", "volatility" }',
  { object: spotSchema, marked: { fx: pairSchema } },
);

/** An underlying after validation by its schema. */
export type UnderlyingSpec = SpotSpec | PairSpec;

const constantRate = notNegative.transform((flat) => ({ dates: [], values: [flat] }));
/** Values by date: each holds up to its date, and the last one for ever. A constant has one value and no dates. */
const spreadRate = choose('a spread or a list of { "date", "spread" }', {
  number: constantRate,
  list: list(object({ date: time, spread: notNegative }), 'a list of { "date", "spread" }, at least one', 1).transform(
    (nodes) => ({ dates: nodes.map(({ date }) => date), values: nodes.map(({ spread }) => spread) }),
  ),
});
const hazardRate = choose('a hazard rate or a list of { "date", "hazard" }', {
  number: constantRate,
  list: list(object({ date: time, hazard: notNegative }), 'a list of { "date", "hazard" }, at least one', 1).transform(
    (nodes) => ({ dates: nodes.map(({ date }) => date), values: nodes.map(({ hazard }) => hazard) }),
  ),
});

const creditSchema = choose('{ "spread" } or { "hazard", "recovery", "jump" }', {
  marked: {
    spread: object({ spread: spreadRate }).transform(({ spread }) => ({
      kind: "spread" as const,
      spread,
    })),
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
  scripts: mapOf(scriptSchema, "an object of scripts by name").optional(),
  reporting: name.optional(),
  ...linearMarket,
});

/** A market after validation by its schema, before its dates become years. */
export type MarketSpec = Output<typeof marketSchema>;
