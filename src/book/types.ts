/**
 * The book after parsing, and what pricing it gives: plain immutable data. Times are years from `asOf` (Act/365F),
 * rates continuously compounded per year, volatilities per √year, all as decimals.
 */
import type { Tags } from "./tags.ts";
import type { Credit } from "../convertible/index.ts";
import type { BackendName } from "../device/index.ts";
import type { BookError } from "../errors.ts";
import type { Precision } from "../kernel/index.ts";
import type { Correlation, RatesModel, Underlying, Volatility } from "../market/index.ts";
import type { MethodName } from "./methods.ts";
import type { QuotesKept } from "./quotes-kept.ts";
import type { PartialSums } from "./partial-sums.ts";
import type { ConvertibleFigures, ConvertibleTrade } from "./convertible-types.ts";
import type { RatesFigures, RatesTrade } from "./rates-types.ts";
import type { SensitivityName } from "./sensitivities.ts";

export type { Tags } from "./tags.ts";

/** The payoff of a trade that is exercised or expires, per unit of quantity. */
export type Payoff =
  /** A payoff of max(S − strike, 0) or max(strike − S, 0). */
  | { readonly kind: "vanilla"; readonly right: "call" | "put"; readonly strike: number }
  /** `cash` if S > strike (call) or S < strike (put), half of it at S = strike. */
  | { readonly kind: "digital"; readonly right: "call" | "put"; readonly strike: number; readonly cash: number }
  /**
   * A formula string in `S`, of several underlyings in `S1`, `S2`, …; `kinks` (increasing, > 0) names where it bends
   * or jumps; `place` is where the book has it, for messages.
   */
  | {
      readonly kind: "expression";
      readonly expression: string;
      readonly kinks: readonly number[];
      readonly place?: string;
    }
  /** A payoff of max(B − strike, 0) or max(strike − B, 0) on several underlyings; `weights` one each. */
  | {
      readonly kind: "basket";
      readonly right: "call" | "put";
      readonly strike: number;
      readonly of: BasketIndex;
      readonly weights: readonly number[];
    }
  | PathPayoff;

/** A payoff that depends on the path of one spot. */
export type PathPayoff =
  /** A payoff of max(A − strike, 0) or max(strike − A, 0), A the mean of the spot on dates or over time. */
  | {
      readonly kind: "average";
      readonly right: "call" | "put";
      readonly strike: number;
      readonly mean: "arithmetic" | "geometric";
      /**
       * The fixing times in years, increasing, ≥ 0, the last one at or before expiry; or continuous averaging from
       * today to expiry.
       */
      readonly times: readonly number[] | "continuous";
      /** The known fixings: their number, or the years of a continuous average, and their mean of the same kind. */
      readonly past: { readonly count: number; readonly mean: number };
    }
  /**
   * A payoff of the largest spot M or the smallest m: fixed strike max(M − strike, 0) or max(strike − m, 0), floating S
   * − m or M − S (call, put).
   */
  | {
      readonly kind: "lookback";
      readonly right: "call" | "put";
      /** The strike; 0 for a floating one. */
      readonly strike: number;
      readonly isFloating: boolean;
      /** The start of monitoring in years. */
      readonly from: number;
      /** The extreme spot before today. */
      readonly extremum: number | undefined;
      readonly times: readonly number[] | "continuous";
    }
  /** The right on each date to take one unit: φ·(S − strike), at least `min` and at most `max` times in all. */
  | {
      readonly kind: "swing";
      readonly right: "call" | "put";
      readonly strike: number;
      /** The times in years, increasing, ≥ 0. */
      readonly times: readonly number[];
      readonly min: number;
      readonly max: number;
    };

/**
 * The index that a payoff on several underlyings is written on: B = Σ wᵢ·Sᵢ, Π Sᵢ^wᵢ, the largest or the smallest of
 * wᵢ·Sᵢ. A spread is the sum with weights 1 and −1.
 */
export type BasketIndex = "sum" | "product" | "max" | "min";

/** The times at which the holder may exercise. */
export type Exercise =
  | { readonly kind: "european" }
  | { readonly kind: "american" }
  /**
   * Exercise on dates: times in years, increasing, the last one at or before expiry; expiry itself is always an
   * exercise date.
   */
  | { readonly kind: "bermudan"; readonly times: readonly number[] };

/** The type of a barrier. */
export type BarrierType = "up-and-out" | "up-and-in" | "down-and-out" | "down-and-in";

/** A barrier of a trade. A spot equal to the level has breached it. */
export interface Barrier {
  /** The number, from 0, of the monitored underlying of a trade on several. */
  readonly asset?: number;
  readonly type: BarrierType;
  /** The level of the barrier, > 0. */
  readonly level: number;
  /** The amount per unit paid when a knock-out is breached, or when a knock-in never is; ≥ 0. */
  readonly rebate: number;
  /** The payment time of a rebate; that of a knock-in is always paid at expiry. */
  readonly rebateAt: "hit" | "expiry";
  readonly monitoring:
    | { readonly kind: "continuous" }
    | { readonly kind: "discrete"; readonly times: readonly number[] };
  /** The start of the window in which the barrier is live, in years; 0 by default. */
  readonly from: number;
  readonly to: number;
}

/** One of several underlyings of a trade. */
export interface TradeAsset {
  readonly underlying: Underlying;
  readonly volatility: Volatility;
}

/** The correlations of the underlyings of a trade, in its order, followed by the short rate if it is stochastic. */
export interface DriverCorrelations {
  /** The names of underlyings, and the currency of the short rate. */
  readonly names: readonly string[];
  /**
   * The matrix of correlations, symmetric, with ones on its diagonal; methods check that it is positive semi-definite.
   */
  readonly matrix: readonly (readonly number[])[];
  /** The pairs missing in the book, which are assumed to be independent. */
  readonly assumed: readonly (readonly [string, string])[];
}

/** A trade on underlyings, complete and valid, with all inputs of its price. */
export interface Trade {
  /** The kind, which only other trades have. */
  readonly kind?: undefined;
  readonly id: string;
  /** The underlying, shared by reference among the trades of one underlying. */
  readonly underlying: Underlying;
  /** The trade's own volatility if given, otherwise the underlying's. */
  readonly volatility: Volatility;
  /** All underlyings of a trade on several, in order; `underlying` and `volatility` are the first. */
  readonly assets?: readonly TradeAsset[];
  /** The correlations of a trade on several underlyings or under a stochastic short rate. */
  readonly correlations?: DriverCorrelations;
  readonly payoff: Payoff;
  /** The time to expiry in years, ≥ 0; at 0 the trade is worth its payoff. */
  readonly expiry: number;
  readonly exercise: Exercise;
  /**
   * The barriers. Any knock-out that is breached ends the trade; with knock-ins it becomes active once one is breached.
   */
  readonly barriers: readonly Barrier[];
  /** The number of units held, negative when sold. Results are per unit; totals multiply by this. */
  readonly quantity: number;
  readonly tags?: Tags;
}

/** Any trade of a book, distinguished by `kind`, which trades on underlyings lack. */
export type AnyTrade = Trade | RatesTrade | ConvertibleTrade;

/**
 * A trade or its error, with its index in the book from 0. The index may be omitted for trades from elsewhere: it is
 * then the position in the run.
 */
export type ParsedTrade =
  | { readonly ok: true; readonly trade: AnyTrade; readonly index?: number }
  | {
      readonly ok: false;
      readonly id: string | undefined;
      readonly index: number;
      readonly error: BookError;
      readonly tags?: Tags;
    };

/**
 * The scenarios for repricing, the full product of four axes: later dates (years from asOf, ≥ 0), relative shifts of
 * spot (S·(1 + x), x > −1), absolute ones of volatility and of rates. Axes have at least one entry, `[0]` by default.
 */
export interface Scenarios {
  readonly time: readonly number[];
  readonly spot: readonly SpotMove[];
  readonly volatility: readonly number[];
  readonly rate: readonly number[];
  /** The property of quoted volatilities that is kept while the spot moves; by default the local volatility. */
  readonly quotes?: QuotesKept;
}

/** A relative move of all spots, or of some underlyings by name. */
export type SpotMove = number | Readonly<Record<string, number>>;

/** The underlyings by name, with their resolved inputs; the correlations; the rates by currency. */
export interface Market {
  readonly rates: ReadonlyMap<string, RatesModel>;
  readonly underlyings: ReadonlyMap<string, Underlying>;
  readonly correlations: readonly Correlation[];
  /** The credit of issuers by underlying. */
  readonly credit: ReadonlyMap<string, Credit>;
}

/** The context that all trades of a book share. */
export interface BookContext {
  /** The valuation moment, an ISO instant in UTC. */
  readonly asOf: string;
  readonly scenarios: Scenarios | undefined;
  /** The method that prices its trades unless options name another; "auto" by default. */
  readonly method?: MethodName | undefined;
  /** The seed of random numbers; a whole number from 0. */
  readonly seed?: number | undefined;
}

/** A parsed book, including the trades that cannot be used, with their errors. */
export interface Book extends BookContext {
  readonly market: Market;
  readonly trades: readonly ParsedTrade[];
}

/** The error of a trade as plain data. */
export interface TradeError {
  /** The code of a `FeynkacError`, or `INTERNAL`. */
  readonly code: string;
  /** The place of the error in the book, such as `trades[3].strike`, if the book is at fault. */
  readonly path?: string;
  /** The whole message, path included. */
  readonly message: string;
}

/**
 * The values of the scenarios, values[time][spot][volatility][rate], in the order of the book's scenario axes; null
 * where a scenario could not be priced.
 */
export type ScenarioValues = readonly (readonly (readonly (readonly (number | null)[])[])[])[];

/**
 * The error estimates of the scenarios, estimates[time][volatility][rate]: the largest of the error estimates of the
 * values at the scenarios' spots; null where one is not known.
 */
export type ScenarioErrorEstimates = readonly (readonly (readonly (number | null)[])[])[];

/** The names of a trade and its underlying in a result. */
export interface TradeLabels {
  /** The name of the underlying; of several, their names joined by " + "; of a trade on rates, its currency. */
  readonly underlying: string;
  readonly currency: string;
  /** The quantity of the book; the result's numbers are per unit. */
  readonly quantity: number;
  readonly tags?: Tags | undefined;
}

/**
 * A trade's price and sensitivities per unit of quantity, in the underlying's currency: theta per year, vega and rho
 * per 1.00 (a parallel move of the instantaneous volatility, and of rates). A sensitivity that was not requested is
 * null.
 */
export interface PricedTrade extends TradeLabels, RatesFigures, ConvertibleFigures {
  readonly id: string;
  readonly status: "ok";
  readonly value: number;
  readonly delta: number | null;
  readonly gamma: number | null;
  readonly theta: number | null;
  readonly vega: number | null;
  readonly rho: number | null;
  /** An estimated bound of the error of `value`, discretisation and rounding, in the currency. */
  readonly errorEstimate: number;
  /**
   * The source of the value: "integral", "fdm", "adi" (finite differences on several axes), "black-scholes", "heston",
   * "closed-form" (trades on rates), "sparse-grid", "montecarlo", "quantization", "convolution", "lattice",
   * "deterministic", "payoff" (at expiry) or "knocked-out".
   */
  readonly method: string;
  /** The seed of a price by random numbers. */
  readonly seed?: number | undefined;
  readonly precision: Precision;
  readonly backend: BackendName;
  readonly warnings: readonly string[];
  /** The sensitivities to several underlyings by name; `delta`, `gamma` and `vega` are then those to a common move. */
  readonly sensitivities?: Readonly<Record<string, AssetSensitivities>>;
  /** The cross gamma ∂²V/∂Sᵢ∂Sⱼ for each pair of several underlyings. */
  readonly crossGamma?: readonly PairSensitivity[];
  /**
   * The sensitivity ∂V/∂ρ for each pair of several underlyings, and of each underlying with a stochastic short rate,
   * per 1.00.
   */
  readonly correlation?: readonly PairSensitivity[];
  /** The error estimates of sensitivities, on request. */
  readonly sensitivityErrorEstimates?: SensitivityErrorEstimates;
  readonly scenarios?: ScenarioValues;
  readonly scenarioErrorEstimates?: ScenarioErrorEstimates;
}

/**
 * Estimated bounds of the errors of a trade's sensitivities, in their units and by their names in `PricedTrade`; null
 * where a sensitivity was not requested, or its error is unknown.
 */
export interface SensitivityErrorEstimates
  extends Readonly<Record<SensitivityName, number | null>>, Pick<ConvertibleFigures, "creditSensitivity"> {
  readonly sensitivities?: Readonly<Record<string, AssetSensitivities>>;
  readonly crossGamma?: readonly PairSensitivity[];
  readonly correlation?: readonly PairSensitivity[];
}

/** The sensitivities to one of several underlyings; null where they were not requested. */
export interface AssetSensitivities {
  readonly delta: number | null;
  readonly gamma: number | null;
  readonly vega: number | null;
}

/** The sensitivity to a pair: its two names and the value. */
export type PairSensitivity = readonly [first: string, second: string, value: number];

/** The result of a trade that could not be read or priced: no numbers, and the reason. */
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
  readonly error: TradeError;
}

/** The result of a trade, distinguished by `status`. */
export type TradeResult = PricedTrade | FailedTrade;

/**
 * The sums of quantity × result over the priced trades of one currency that have the number. A sum without any number
 * is null. Sums under a scenario are null where any part is.
 */
export interface CurrencyTotals extends PartialSums<"cashDelta" | "theta" | "rho"> {
  readonly currency: string;
  readonly trades: number;
  readonly value: number;
  /** The sum Σ delta × spot over all underlyings: 100 times the change of value when all spots rise by 1 %. */
  readonly cashDelta: number | null;
  readonly theta: number | null;
  readonly rho: number | null;
  /** The sum Σ |quantity|·errorEstimate, since errors from one mesh do not cancel. */
  readonly errorEstimate: number;
  /** The totals of underlyings, in the order of their first trades. */
  readonly underlyings: readonly UnderlyingTotals[];
  readonly scenarios?: ScenarioValues;
  /** The sum Σ |quantity|·estimate. */
  readonly scenarioErrorEstimates?: ScenarioErrorEstimates;
}

/** The sums of the sensitivities to one underlying, over the trades that have any. */
export interface UnderlyingTotals extends PartialSums<"delta" | "gamma" | "vega" | "cashDelta"> {
  readonly underlying: string;
  readonly trades: number;
  readonly delta: number | null;
  readonly gamma: number | null;
  readonly vega: number | null;
  /** The product delta × spot, in the currency. */
  readonly cashDelta: number | null;
}

/** The sums of one group of trades in one currency. */
export interface GroupTotals extends CurrencyTotals {
  /** The group's value for each grouping name; null where trades have no such tag. */
  readonly group: Readonly<Record<string, string | number | null>>;
}

/** The result of `priceBook`. */
export interface BookReport {
  readonly asOf: string;
  readonly device: { readonly backend: BackendName; readonly name: string };
  readonly priced: number;
  readonly failed: number;
  /** The totals by currency, in the order of their first trades. */
  readonly totals: readonly CurrencyTotals[];
  /** The totals by group and currency that `groupBy` requests, in the order of their first trades. */
  readonly groups?: readonly GroupTotals[];
  /** The axes of all scenario values in the results. */
  readonly scenarios?: Scenarios;
  /** The results, in the order of the book. */
  readonly results: readonly TradeResult[];
}
