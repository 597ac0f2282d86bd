/**
 * The types of a book after parsing: immutable plain data. Times are years from `asOf` (Act/365F), rates are
 * continuously compounded per year, and volatilities are per √year, all as decimals.
 */
import type { Tags } from "./tags.ts";
import type { Credit } from "../pde/convertible/index.ts";
import type { BookError } from "../base/errors.ts";
import type {
  Correlation,
  ForwardCurve,
  PairPower,
  PiecewiseConstant,
  RatesModel,
  Underlying,
  Volatility,
} from "../market/index.ts";
import type { Conversion } from "../market/scripts/index.ts";
import type { ScriptPayoff } from "./script-types.ts";
import type { MethodName } from "./methods.ts";
import type { QuotesKept } from "./quotes-kept.ts";
import type { ConvertibleTrade } from "./convertible-types.ts";
import type { LinearTrade } from "./linear-types.ts";
import type { RatesTrade } from "./rates-types.ts";
import type { ScenarioTable } from "./scenario-table.ts";

export type { Tags } from "./tags.ts";

/** The payoff of a trade at exercise or expiry, per unit of quantity. S is the spot. @stable */
export type Payoff =
  /** A vanilla option: max(S − strike, 0) for a call, max(strike − S, 0) for a put. */
  | { readonly kind: "vanilla"; readonly right: "call" | "put"; readonly strike: number }
  /** A digital option: `cash` if S > strike (call) or S < strike (put), and half of it at S = strike. */
  | { readonly kind: "digital"; readonly right: "call" | "put"; readonly strike: number; readonly cash: number }
  /**
   * A formula in `S`, or, with several underlyings, in `S1`, `S2` and so on. `kinks` (increasing, > 0) are the spots
   * where it bends or jumps. `place` is its position in the book, for error messages.
   */
  | {
      readonly kind: "expression";
      readonly expression: string;
      readonly kinks: readonly number[];
      readonly place?: string;
    }
  /** An option on an index B of several underlyings: max(B − strike, 0) or max(strike − B, 0), one weight for each. */
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
  /** An Asian option: max(A − strike, 0) or max(strike − A, 0), where A is the mean spot on dates or over time. */
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
      /** The known fixings: their number (or the years of a continuous average) and their mean, of the kind `mean`. */
      readonly past: { readonly count: number; readonly mean: number };
    }
  /**
   * A lookback option on the largest spot M or the smallest spot m. With a fixed strike it pays max(M − strike, 0) or
   * max(strike − m, 0) (call, put), with a floating strike S − m or M − S.
   */
  | {
      readonly kind: "lookback";
      readonly right: "call" | "put";
      /** The strike; 0 if it is floating. */
      readonly strike: number;
      readonly isFloating: boolean;
      /** The start of monitoring in years. */
      readonly from: number;
      /** The extreme spot before today. */
      readonly extremum: number | undefined;
      readonly times: readonly number[] | "continuous";
    }
  /** A swing option: the right to receive φ·(S − strike) on each date, at least `min` and at most `max` times. */
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

/** The times at which the holder may exercise. @stable */
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

/** A barrier of a trade. A spot equal to the level has breached it. Times are years from `asOf`. @stable */
export interface Barrier {
  /** The index, from 0, of the monitored underlying of a trade on several. */
  readonly asset?: number;
  readonly type: BarrierType;
  /** The level of the barrier, > 0. */
  readonly level: number;
  /** The amount per unit paid when a knock-out is breached, or when a knock-in never is; ≥ 0. */
  readonly rebate: number;
  /** The time at which a knock-out pays its rebate. A knock-in always pays it at expiry. */
  readonly rebateAt: "hit" | "expiry";
  /** The monitoring of the spot: continuous, or at times in years. */
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
  /** The trade's own volatility of this underlying if given, otherwise the underlying's. */
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

/** The exchange rate between an underlying's currency and the one in which an option is paid. */
export interface ExchangeRate {
  /** The name of the underlying that is the pair of both currencies, and its spot. */
  readonly pair: string;
  /** The quoted pairs from which the spot follows. */
  readonly quoted: readonly PairPower[];
  /** The years from the valuation to the spot date. */
  readonly lag: number;
  /** The currency of the underlying, whose curve is discounted with. */
  readonly currency: string;
  readonly spot: number;
  /** 1 if the pair's price is in the currency of payment, −1 if it is in the underlying's. */
  readonly power: 1 | -1;
  /** The units of the currency of payment today for one of the underlying's: spot^power, less days to the spot date. */
  readonly rate: number;
  /** The volatility of the pair. */
  readonly sigma: PiecewiseConstant;
  /** The row of the pair among the correlations. */
  readonly row: number;
}

/**
 * How an option is paid: when, in which currency, and at which exchange rate. Options without it are paid at expiry or
 * exercise, in their underlying's currency.
 */
export interface Settlement {
  /** The currency of the value, and the curve that discounts it. */
  readonly currency: string;
  readonly discount: ForwardCurve;
  /** The time of payment in years, at expiry or later. What is exercised earlier is paid as many days later. */
  readonly payment: number;
  /** The spots at expiry, if they are fixed already. */
  readonly fixings?: readonly number[] | undefined;
  /**
   * How amounts in an underlying's currency become payments: at a rate that was agreed ("quanto"), or spots at the
   * exchange rates of their day ("composite").
   */
  readonly conversion?: "quanto" | "composite" | undefined;
  /** The agreed rate of a quanto; 1 otherwise. */
  readonly units: number;
  /** The exchange rate of each underlying; undefined for one in the currency of payment. */
  readonly exchange: readonly (ExchangeRate | undefined)[];
  /** The correlations of the underlyings, in order, followed by the pairs. */
  readonly correlations: DriverCorrelations;
}

/** A trade on underlyings after reading: complete, valid, and with all inputs of its price. @stable */
export interface Trade {
  /** Undefined; other trades have a kind. */
  readonly kind?: undefined;
  readonly id: string;
  /** The underlying. Trades on the same underlying share this object. */
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
  /** How it is paid, if not at expiry or exercise in the underlying's currency. */
  readonly settlement?: Settlement;
  /** The number of units held, negative when sold. Results are per unit; totals multiply by this. */
  readonly quantity: number;
  /** Texts and numbers by name that the result repeats. */
  readonly tags?: Tags;
}

/** A forward after reading: it pays S(expiry) − strike. @stable */
export interface ForwardTrade {
  readonly kind: "forward";
  readonly id: string;
  /** The underlying. Trades on the same underlying share this object. */
  readonly underlying: Underlying;
  readonly strike: number;
  /** The time to expiry in years, ≥ 0. */
  readonly expiry: number;
  /** The number of units held, negative when sold. Results are per unit. */
  readonly quantity: number;
  readonly tags?: Tags;
}

/**
 * A structured product after reading: a script on underlyings. Behind its own ones `assets` has the exchange rates on
 * which payments and drifts depend.
 * @stable
 */
export interface ScriptedTrade extends Omit<Trade, "kind" | "payoff"> {
  readonly kind: "scripted";
  /** The currency of the value. */
  readonly currency: string;
  readonly payoff: ScriptPayoff;
  /** For each underlying in another currency its exchange rate; undefined where all are in that of the trade. */
  readonly exchange?: readonly (Conversion | undefined)[];
}

/** Any trade of a book. `kind` tells them apart; it is undefined for options on underlyings. @stable */
export type AnyTrade = Trade | RatesTrade | ConvertibleTrade | ForwardTrade | LinearTrade | ScriptedTrade;

/**
 * A trade, or the error that prevents its use, with its index in the book from 0. Trades that do not come from a book
 * may omit the index; it is then their position among the trades to price.
 * @stable
 */
export type ParsedTrade =
  | { readonly ok: true; readonly trade: AnyTrade; readonly index?: number; readonly reporting?: Reporting }
  | {
      readonly ok: false;
      readonly id: string | undefined;
      readonly index: number;
      readonly error: BookError;
      readonly tags?: Tags;
    };

/** A step of a conversion between two currencies by a quoted pair, whose power is 1 from its base, or −1. */
interface PairStep {
  readonly pair: string;
  readonly spot: number;
  readonly power: 1 | -1;
}

/** A step of a conversion of values as of today. */
export interface RateStep extends PairStep {
  /** The rate for today is the spot times this, the discount factors of both currencies until the spot date. */
  readonly carry: number;
  /** The derivative of ln(carry) by the valuation time, per year. */
  readonly growth: number;
  /** Returns the carry at a later time in years. */
  readonly carryAt: (years: number) => number;
  /** The currencies whose rates make the carry, and the years until the spot date. */
  readonly base: string;
  readonly quote: string;
  readonly lag: number;
}

/** How values in a trade's currency are converted to the reporting currency. */
export interface Reporting {
  readonly currency: string;
  readonly steps: readonly RateStep[];
  /** The spots of underlyings that are currency pairs by name, and the quoted pairs from which they follow. */
  readonly pairs: Readonly<Record<string, { readonly spot: number; readonly steps: readonly PairStep[] }>>;
}

/** The reporting currency of a market. */
export interface ReportingMarket {
  readonly currency: string;
  /** The names of the quoted currency pairs. */
  readonly pairs: readonly string[];
  /** Returns the conversion of values in a currency. @throws BookError where no exchange rates lead to it */
  of(currency: string, path: string): Reporting;
}

/**
 * The scenarios in which every trade is repriced: all combinations of four lists. Each list has at least one entry, and
 * is `[0]` by default.
 * @stable
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
  /** The property that the quotes of a volatility keep when the spot moves; by default the local volatility. */
  readonly quotes?: QuotesKept;
}

/** A relative move of all spots, or of some underlyings' spots by name. */
export type SpotMove = number | Readonly<Record<string, number>>;

/**
 * The market after reading: rates by currency, underlyings by name, correlations, and the credit of issuers.
 * @stable
 */
export interface Market {
  /** The interest rates by currency. */
  readonly rates: ReadonlyMap<string, RatesModel>;
  /** The underlyings by name. */
  readonly underlyings: ReadonlyMap<string, Underlying>;
  readonly correlations: readonly Correlation[];
  /** The credit of issuers by underlying. */
  readonly credit: ReadonlyMap<string, Credit>;
  /** The spots of the quoted currency pairs by name, if there are any. */
  readonly exchangeRates?: ReadonlyMap<string, number> | undefined;
  /** The currency in which results are reported beside their own; undefined for none. */
  readonly reporting?: ReportingMarket | undefined;
}

/** The parts of a book that all its trades share. @stable */
export interface BookContext {
  /** The valuation date, as an ISO instant in UTC. */
  readonly asOf: string;
  /** The scenarios in which every trade is repriced; undefined if the book has none. */
  readonly scenarios: Scenarios | undefined;
  /** The named scenarios in which every trade is repriced; undefined if the book has none. */
  readonly scenarioTable?: ScenarioTable | undefined;
  /** The numerical method for all trades, unless the options of pricing name another; "auto" by default. */
  readonly method?: MethodName | undefined;
  /** The seed of random numbers; a whole number from 0. */
  readonly seed?: number | undefined;
}

/** A book after reading, including the trades that cannot be used, with their errors. @stable */
export interface Book extends BookContext {
  readonly market: Market;
  /** The trades in the order of the book, each with its error if it cannot be used. */
  readonly trades: readonly ParsedTrade[];
}
