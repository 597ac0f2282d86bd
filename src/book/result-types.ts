/** The types of results of pricing a book: immutable plain data. */
import type { BackendName } from "../device/index.ts";
import type { Precision } from "../kernel/index.ts";
import type { ConvertibleFigures } from "./convertible-types.ts";
import type { LinearFigures } from "./linear-types.ts";
import type { RatesFigures } from "./rates-types.ts";
import type { Tags } from "./tags.ts";
import type { Scenarios } from "./types.ts";

/**
 * Sums over trades of which some may lack a number, such as an unknown sensitivity. Each sum covers the trades that
 * have the number. A sum is null if no trade has it.
 */
export type PartialSums<Name extends string> = Readonly<Record<Name, number | null>> & {
  /** The number of trades without the number, by the name of the sum. Sums over all trades are not listed. */
  readonly missing?: Readonly<Partial<Record<Name, number>>>;
};

/**
 * The names of the sensitivities that every trade has in its result. Those of a trade on several underlyings are to a
 * common move of all.
 */
export const SENSITIVITIES = ["delta", "gamma", "theta", "vega", "rho"] as const;
/** The name of a sensitivity. */
export type SensitivityName = (typeof SENSITIVITIES)[number];

/** The error of a trade as plain data. @stable */
export interface TradeError {
  /** The code of a `FeynkacError`, or `INTERNAL`. */
  readonly code: string;
  /** The position of the error in the book, such as `trades[3].strike`, if the book caused it. */
  readonly path?: string;
  /** The whole message, path included. */
  readonly message: string;
}

/**
 * The values of a trade in all scenarios, values[time][spot][volatility][rate], with indexes in the order of the book's
 * lists. A value is null if the scenario could not be priced.
 * @stable
 */
export type ScenarioValues = readonly (readonly (readonly (readonly (number | null)[])[])[])[];

/**
 * The error estimates of a trade's values in the scenarios, estimates[time][volatility][rate]. Each is the largest
 * error estimate over the spot moves, or null if it is not known.
 * @stable
 */
export type ScenarioErrorEstimates = readonly (readonly (readonly (number | null)[])[])[];

/** The properties of a trade that its result repeats. @stable */
export interface TradeLabels {
  /**
   * The name of the underlying. Several names are joined by " + ". For a trade on interest rates it is the currency.
   */
  readonly underlying: string;
  /** The currency of the value. */
  readonly currency: string;
  /** The quantity of the book; the result's numbers are per unit. */
  readonly quantity: number;
  readonly tags?: Tags | undefined;
}

/** The kinds of market inputs by which risk is split into buckets. @stable */
export type BucketFactor = "spot" | "volatility" | "rate" | "dividend" | "spread";

/**
 * The place of a bucket among those of its underlying, currency or curve: a date as the book writes it (an ISO date, or
 * years), the name of an instrument or a pillar, an expiry with a strike, or null for an input that has no place, such
 * as a spot.
 */
export type BucketPlace = string | number | { readonly expiry: string | number; readonly strike: number } | null;

/** The derivative of a trade's value, or of a sum of values, by one input of the market. @stable */
export interface Bucket {
  readonly factor: BucketFactor;
  /** The name of the underlying, the currency or the curve. */
  readonly of: string;
  readonly at: BucketPlace;
  /** The derivative by the input, per 1.00 of it. */
  readonly value: number;
  /** An estimated bound of the derivative's error; null if it is not known. */
  readonly errorEstimate: number | null;
}

/** The numbers that only results of some kinds of trades have. */
export interface TradeFigures extends RatesFigures, ConvertibleFigures, LinearFigures {
  /** The figures of an option on a currency pair. */
  readonly fx?: PairFigures;
  /**
   * The states of a structured product by name, and as `stop()` whether it has ended: 1 for yes, on average the
   * probability. Absent for products with early rights.
   */
  readonly states?: Readonly<Record<string, StateOutlook>>;
}

/** A state of a structured product. */
export interface StateOutlook {
  /** Its value after today's events. */
  readonly now: number;
  /** Its mean at the end of the product, under the measure of pricing: of a flag the probability. */
  readonly expected: number;
  /** An estimated bound of the error of `expected`; null where it could not be computed. */
  readonly errorEstimate: number | null;
}

/** The figures of an option on a currency pair, for one unit of its first currency. */
export interface PairFigures {
  /** The forward rate for the delivery. */
  readonly forward: number;
  /** The premium on the spot date in either currency. */
  readonly premium: Readonly<Record<string, number>>;
  /** The amount of the first currency that hedges for the spot date; less the premium where that is paid in it. */
  readonly spotDelta: number | null;
  readonly premiumAdjustedSpotDelta: number | null;
  /** The amount that hedges for the delivery; null for an option that may be exercised before. */
  readonly forwardDelta: number | null;
  readonly premiumAdjustedForwardDelta: number | null;
  /** The derivatives by the rates of either currency alone, per 1.00. */
  readonly rhoDomestic: number | null;
  readonly rhoForeign: number | null;
  /** The derivatives of vega by the spot and by the volatility, of vanilla options with a flat volatility. */
  readonly vanna?: number;
  readonly volga?: number;
}

/**
 * The price and the sensitivities of a trade, per unit of quantity, in the trade's currency. A sensitivity that was not
 * requested is null.
 * @stable
 */
export interface PricedTrade extends TradeLabels, TradeFigures {
  readonly id: string;
  readonly status: "ok";
  /** The price, per unit of quantity. */
  readonly value: number;
  /** The first derivative by the spot. */
  readonly delta: number | null;
  /** The second derivative by the spot. */
  readonly gamma: number | null;
  /** The derivative by the valuation time, per year. */
  readonly theta: number | null;
  /** The derivative by a parallel move of the instantaneous volatility, per 1.00. */
  readonly vega: number | null;
  /** The derivative by a parallel move of interest rates, per 1.00. */
  readonly rho: number | null;
  /** An estimated bound of the error of `value` by discretisation and rounding, in the currency. */
  readonly errorEstimate: number;
  /**
   * The method that computed the value: "integral", "fdm", "adi" (finite differences on several axes), "black-scholes",
   * "heston", "implied-volatility" (on fitted quotes), "closed-form" (trades on interest rates), "sparse-grid",
   * "montecarlo", "quantization", "convolution", "lattice", "deterministic", "payoff" (at expiry) or "knocked-out".
   */
  readonly method: string;
  /** The seed of the random numbers, if the method uses any. */
  readonly seed?: number | undefined;
  /** The precision of the computation. */
  readonly precision: Precision;
  /** The back end of the device that computed the value. */
  readonly backend: BackendName;
  /** Sentences about limits of the result, such as an accuracy that was not reached. */
  readonly warnings: readonly string[];
  /**
   * The sensitivities to each of several underlyings, by name. `delta`, `gamma` and `vega` are then those to a common
   * move of all.
   */
  readonly sensitivities?: Readonly<Record<string, AssetSensitivities>>;
  /** The cross gamma ∂²V/∂Sᵢ∂Sⱼ for each pair of underlyings. */
  readonly crossGamma?: readonly PairSensitivity[];
  /**
   * The sensitivity ∂V/∂ρ, per 1.00, for each pair of underlyings, and for each underlying with a stochastic short
   * rate.
   */
  readonly correlation?: readonly PairSensitivity[];
  /**
   * The risk by each input of the market, if requested (`greeks: "buckets"`). Inputs on which the value does not depend
   * are left out.
   */
  readonly buckets?: readonly Bucket[];
  /** The error estimates of the sensitivities, if requested. */
  readonly sensitivityErrorEstimates?: SensitivityErrorEstimates;
  /** The values in all scenarios, if the book has any. */
  readonly scenarios?: ScenarioValues;
  readonly scenarioErrorEstimates?: ScenarioErrorEstimates;
  /** The values under the named scenarios, if the book has any, in their order; null for one without a value. */
  readonly scenarioValues?: readonly (number | null)[];
  /** The error estimates of the values under the named scenarios. */
  readonly scenarioValueErrorEstimates?: readonly (number | null)[];
  /** The numbers in the reporting currency, if the market has one. */
  readonly reporting?: ReportingFigures;
}

/** The numbers of a result in the reporting currency. @stable */
export interface ReportingFigures extends Pick<PricedTrade, "value" | "errorEstimate" | SensitivityName> {
  readonly currency: string;
  /** The value of one unit of the trade's currency today: spots with discount factors until their spot dates. */
  readonly rate: number;
  /** The derivatives of the value by the spot of each quoted pair on which it depends, per 1.00 of the spot. */
  readonly fxDelta: Readonly<Record<string, number | null>>;
  /** The rate in the scenarios, rates[time][spot]. */
  readonly scenarioRates?: readonly (readonly number[])[];
  /** The rate under each named scenario. */
  readonly scenarioValueRates?: readonly number[];
}

/**
 * Estimated bounds of the errors of a trade's sensitivities. Names and units are those of `PricedTrade`. A bound is
 * null if the sensitivity was not requested, or if its error is unknown.
 * @stable
 */
export interface SensitivityErrorEstimates
  extends Readonly<Record<SensitivityName, number | null>>, Pick<ConvertibleFigures, "creditSensitivity"> {
  readonly sensitivities?: Readonly<Record<string, AssetSensitivities>>;
  readonly crossGamma?: readonly PairSensitivity[];
  readonly correlation?: readonly PairSensitivity[];
}

/** The sensitivities to one of several underlyings. A number is null if it was not requested. */
export interface AssetSensitivities {
  /** The first derivative by this underlying's spot. */
  readonly delta: number | null;
  /** The second derivative by this underlying's spot. */
  readonly gamma: number | null;
  /** The derivative by a parallel move of this underlying's volatility, per 1.00. */
  readonly vega: number | null;
}

/** The sensitivity to a pair of risk factors: their two names and the value. */
export type PairSensitivity = readonly [first: string, second: string, value: number];

/** The result of a trade that could not be read or priced. It has the reason and no numbers. @stable */
export interface FailedTrade extends Partial<TradeLabels> {
  /** The trade's id; null for a trade without one. */
  readonly id: string | null;
  readonly status: "error";
  readonly value: null;
  readonly delta: null;
  readonly gamma: null;
  readonly theta: null;
  readonly vega: null;
  readonly rho: null;
  readonly errorEstimate: null;
  readonly method: null;
  readonly precision: null;
  readonly backend: null;
  readonly warnings: readonly string[];
  /** The reason. */
  readonly error: TradeError;
}

/** The result of a trade; `status` tells whether it was priced. @stable */
export type TradeResult = PricedTrade | FailedTrade;

/**
 * The sums of quantity × result over the priced trades of one currency. A sum covers the trades that have the number,
 * and is null if none has it. The value under a scenario is null if it is unknown for any trade.
 * @stable
 */
export interface CurrencyTotals extends PartialSums<"cashDelta" | "theta" | "rho"> {
  readonly currency: string;
  /** The number of trades. */
  readonly trades: number;
  /** The sum of the values. */
  readonly value: number;
  /** The sum Σ delta × spot over all underlyings. It is 100 times the change of value when all spots rise by 1 %. */
  readonly cashDelta: number | null;
  /** The sum of theta, per year. */
  readonly theta: number | null;
  /** The sum of rho, per 1.00. */
  readonly rho: number | null;
  /**
   * The sum Σ |quantity|·errorEstimate. Absolute values are added because errors of prices on similar meshes do not
   * cancel.
   */
  readonly errorEstimate: number;
  /** The totals of underlyings, in the order of their first trades. */
  readonly underlyings: readonly UnderlyingTotals[];
  /**
   * The sums of the buckets, if requested, in the order of their first trades. Error estimates are added like those of
   * values.
   */
  readonly buckets?: readonly Bucket[];
  /** The sums of the values in all scenarios. */
  readonly scenarios?: ScenarioValues;
  /** The sums Σ |quantity|·estimate of the scenarios' error estimates. */
  readonly scenarioErrorEstimates?: ScenarioErrorEstimates;
  /** The sums of the values under the named scenarios; null where one is unknown. */
  readonly scenarioValues?: readonly (number | null)[];
  /** The sums Σ |quantity|·estimate of the error estimates under the named scenarios. */
  readonly scenarioValueErrorEstimates?: readonly (number | null)[];
}

/** The sums of quantity × sensitivity to one underlying, over the trades that have the sensitivity. @stable */
export interface UnderlyingTotals extends PartialSums<"delta" | "gamma" | "vega" | "cashDelta"> {
  readonly underlying: string;
  /** The number of trades. */
  readonly trades: number;
  /** The sum of delta. */
  readonly delta: number | null;
  /** The sum of gamma. */
  readonly gamma: number | null;
  /** The sum of vega, per 1.00. */
  readonly vega: number | null;
  /** The product delta × spot, in the currency. */
  readonly cashDelta: number | null;
}

/** The numbers of one trade that totals add up, with those by underlying. */
export interface TotalledRow {
  readonly quantity: number;
  readonly result: Pick<
    PricedTrade,
    | "value"
    | "theta"
    | "rho"
    | "errorEstimate"
    | "scenarios"
    | "scenarioErrorEstimates"
    | "scenarioValues"
    | "scenarioValueErrorEstimates"
    | "buckets"
  >;
  readonly fxDelta?: ReportingFigures["fxDelta"];
  readonly sensitivities: readonly (readonly [
    underlying: string,
    numbers: Pick<UnderlyingTotals, "delta" | "gamma" | "vega" | "cashDelta">,
  ])[];
}

/** The sums over all trades in the reporting currency. @stable */
export interface ReportingTotals extends CurrencyTotals {
  /** The sum of the derivatives by the spot of each quoted pair; null if it is unknown for any trade. */
  readonly fxDelta: Readonly<Record<string, number | null>>;
}

/** The sums over one group of trades in the reporting currency. @stable */
export interface ReportingGroupTotals extends ReportingTotals, Pick<GroupTotals, "group"> {}

/** The sums over one group of trades in one currency. @stable */
export interface GroupTotals extends CurrencyTotals {
  /** The group's value of each name in `groupBy`; null for trades without such a tag. */
  readonly group: Readonly<Record<string, string | number | null>>;
}

/** The result of `priceBook`. @stable */
export interface BookReport {
  /** The valuation date, as an ISO instant in UTC. */
  readonly asOf: string;
  /** The device that computed the results. */
  readonly device: { readonly backend: BackendName; readonly name: string };
  /** The number of priced trades. */
  readonly priced: number;
  /** The number of trades with an error. */
  readonly failed: number;
  /** The totals by currency, in the order of their first trades. */
  readonly totals: readonly CurrencyTotals[];
  /** The totals by group and currency, if `groupBy` was given, in the order of their first trades. */
  readonly groups?: readonly GroupTotals[];
  /** The totals of all currencies in the reporting currency, if the market has one. */
  readonly reporting?: ReportingTotals;
  /** The totals by group in the reporting currency, if the market has one and `groupBy` was given. */
  readonly reportingGroups?: readonly ReportingGroupTotals[];
  /** The scenarios, whose order is that of all scenario values in the results. */
  readonly scenarios?: Scenarios;
  /** The names of the named scenarios, in the order of their values in results and totals. */
  readonly scenarioNames?: readonly string[];
  /** The weights of the named scenarios in statistics; absent where all are the same. */
  readonly scenarioWeights?: readonly number[];
  /** The results, in the order of the book. */
  readonly results: readonly TradeResult[];
}
