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

/** The payoff of a trade at exercise or expiry, per unit of quantity. S is the spot. */
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

/** A payoff that depends on the path of one spot S. */
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
 * The index B of a payoff on several underlyings, with weights wᵢ: the sum Σ wᵢ·Sᵢ, the product Π Sᵢ^wᵢ, or the maximum
 * or minimum of wᵢ·Sᵢ. A spread is the sum with weights 1 and −1.
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

/** A barrier of a trade. A spot equal to the level has breached it. Times are years from `asOf`. */
export interface Barrier {
  /** The index, from 0, of the monitored underlying of a trade on several. */
  readonly asset?: number;
  readonly type: BarrierType;
  /** The level of the barrier, > 0. */
  readonly level: number;
  /** The amount per unit paid when a knock-out is breached, or when a knock-in never is; ≥ 0. */
  readonly rebate: number;
  /** When a knock-out pays its rebate. A knock-in always pays it at expiry. */
  readonly rebateAt: "hit" | "expiry";
  readonly monitoring:
    | { readonly kind: "continuous" }
    | { readonly kind: "discrete"; readonly times: readonly number[] };
  /** The start of the window in which the barrier is monitored; 0 by default. */
  readonly from: number;
  /** The end of the window in which the barrier is monitored; expiry by default. */
  readonly to: number;
}

/** One of several underlyings of a trade, with its volatility. */
export interface TradeAsset {
  readonly underlying: Underlying;
  readonly volatility: Volatility;
}

/**
 * The correlations of the risk factors of a trade: its underlyings in order, followed by the short rate if it is
 * stochastic.
 */
export interface DriverCorrelations {
  /** The names of the factors: those of the underlyings, and the currency of the short rate. */
  readonly names: readonly string[];
  /**
   * The matrix of correlations, symmetric, with ones on its diagonal; methods check that it is positive semi-definite.
   */
  readonly matrix: readonly (readonly number[])[];
  /** The pairs without a correlation in the book, which are assumed to be independent. */
  readonly assumed: readonly (readonly [string, string])[];
}

/** A trade on underlyings after reading: complete, valid, and with all inputs of its price. */
export interface Trade {
  /** Undefined; other trades have a kind. */
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

/** Any trade of a book. `kind` tells them apart; it is undefined for trades on underlyings. */
export type AnyTrade = Trade | RatesTrade | ConvertibleTrade;

/**
 * A trade, or the error that prevents its use, with its index in the book from 0. Trades that do not come from a book
 * may omit the index; it is then their position among the trades to price.
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
 * The scenarios in which every trade is repriced: all combinations of four lists. Each list has at least one entry, and
 * is `[0]` by default.
 */
export interface Scenarios {
  /** The later valuation times in years from `asOf`, ≥ 0. */
  readonly time: readonly number[];
  /** The relative moves x of the spot, S·(1 + x) with x > −1. */
  readonly spot: readonly SpotMove[];
  /** The absolute moves of volatility. */
  readonly volatility: readonly number[];
  /** The absolute moves of interest rates. */
  readonly rate: readonly number[];
  /** What the quotes of a volatility keep when the spot moves; by default the local volatility. */
  readonly quotes?: QuotesKept;
}

/** A relative move of all spots, or of some underlyings' spots by name. */
export type SpotMove = number | Readonly<Record<string, number>>;

/** The market after reading: rates by currency, underlyings by name, correlations, and the credit of issuers. */
export interface Market {
  readonly rates: ReadonlyMap<string, RatesModel>;
  readonly underlyings: ReadonlyMap<string, Underlying>;
  readonly correlations: readonly Correlation[];
  /** The credit of issuers by underlying. */
  readonly credit: ReadonlyMap<string, Credit>;
}

/** The parts of a book that all its trades share. */
export interface BookContext {
  /** The valuation date, as an ISO instant in UTC. */
  readonly asOf: string;
  readonly scenarios: Scenarios | undefined;
  /** The numerical method for all trades, unless the options of pricing name another; "auto" by default. */
  readonly method?: MethodName | undefined;
  /** The seed of random numbers; a whole number from 0. */
  readonly seed?: number | undefined;
}

/** A book after reading, including the trades that cannot be used, with their errors. */
export interface Book extends BookContext {
  readonly market: Market;
  readonly trades: readonly ParsedTrade[];
}

/** The error of a trade as plain data. */
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
 */
export type ScenarioValues = readonly (readonly (readonly (readonly (number | null)[])[])[])[];

/**
 * The error estimates of a trade's values in the scenarios, estimates[time][volatility][rate]. Each is the largest
 * error estimate over the spot moves, or null if it is not known.
 */
export type ScenarioErrorEstimates = readonly (readonly (readonly (number | null)[])[])[];

/** The properties of a trade that its result repeats. */
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

/**
 * The price and the sensitivities of a trade, per unit of quantity, in the trade's currency. A sensitivity that was not
 * requested is null.
 */
export interface PricedTrade extends TradeLabels, RatesFigures, ConvertibleFigures {
  readonly id: string;
  readonly status: "ok";
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
   * "heston", "closed-form" (trades on interest rates), "sparse-grid", "montecarlo", "quantization", "convolution",
   * "lattice", "deterministic", "payoff" (at expiry) or "knocked-out".
   */
  readonly method: string;
  /** The seed of the random numbers, if the method uses any. */
  readonly seed?: number | undefined;
  readonly precision: Precision;
  readonly backend: BackendName;
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
  /** The error estimates of the sensitivities, if requested. */
  readonly sensitivityErrorEstimates?: SensitivityErrorEstimates;
  readonly scenarios?: ScenarioValues;
  readonly scenarioErrorEstimates?: ScenarioErrorEstimates;
}

/**
 * Estimated bounds of the errors of a trade's sensitivities. Names and units are those of `PricedTrade`. A bound is
 * null if the sensitivity was not requested, or if its error is unknown.
 */
export interface SensitivityErrorEstimates
  extends Readonly<Record<SensitivityName, number | null>>, Pick<ConvertibleFigures, "creditSensitivity"> {
  readonly sensitivities?: Readonly<Record<string, AssetSensitivities>>;
  readonly crossGamma?: readonly PairSensitivity[];
  readonly correlation?: readonly PairSensitivity[];
}

/** The sensitivities to one of several underlyings. A number is null if it was not requested. */
export interface AssetSensitivities {
  readonly delta: number | null;
  readonly gamma: number | null;
  readonly vega: number | null;
}

/** The sensitivity to a pair of risk factors: their two names and the value. */
export type PairSensitivity = readonly [first: string, second: string, value: number];

/** The result of a trade that could not be read or priced. It has the reason and no numbers. */
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

/** The result of a trade; `status` tells whether it was priced. */
export type TradeResult = PricedTrade | FailedTrade;

/**
 * The sums of quantity × result over the priced trades of one currency. A sum covers the trades that have the number,
 * and is null if none has it. The value under a scenario is null if it is unknown for any trade.
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
  readonly scenarios?: ScenarioValues;
  /** The sums Σ |quantity|·estimate of the scenarios' error estimates. */
  readonly scenarioErrorEstimates?: ScenarioErrorEstimates;
}

/** The sums of quantity × sensitivity to one underlying, over the trades that have the sensitivity. */
export interface UnderlyingTotals extends PartialSums<"delta" | "gamma" | "vega" | "cashDelta"> {
  readonly underlying: string;
  /** The number of trades. */
  readonly trades: number;
  readonly delta: number | null;
  readonly gamma: number | null;
  readonly vega: number | null;
  /** The product delta × spot, in the currency. */
  readonly cashDelta: number | null;
}

/** The sums over one group of trades in one currency. */
export interface GroupTotals extends CurrencyTotals {
  /** The group's value of each name in `groupBy`; null for trades without such a tag. */
  readonly group: Readonly<Record<string, string | number | null>>;
}

/** The result of `priceBook`. */
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
  /** The scenarios, whose order is that of all scenario values in the results. */
  readonly scenarios?: Scenarios;
  /** The results, in the order of the book. */
  readonly results: readonly TradeResult[];
}
