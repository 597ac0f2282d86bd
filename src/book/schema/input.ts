/**
 * The book as it is written, for the TypeScript compiler: what `parseBook` takes and what its JSON text says. The
 * schemas beside this file check the same at run time; `test/types` holds that the two agree.
 */
import type { MethodName } from "../methods.ts";
import type { BarrierType, Tags } from "../types.ts";
import type { ConvertibleInput, CreditInput } from "./convertible-input.ts";
import type { RatesTradeInput } from "./rates-input.ts";
import type { RateInput, TimeInput, UnderlyingInput, VolatilityInput } from "./market-input.ts";

/** The market of a book as written: rates by currency, underlyings and correlations by name. */
export interface MarketInput {
  readonly rates: { readonly [currency: string]: RateInput };
  readonly underlyings?: { readonly [name: string]: UnderlyingInput } | undefined;
  /** The credit of issuers of convertible bonds, by underlying. */
  readonly credit?: { readonly [underlying: string]: CreditInput } | undefined;
  readonly correlations?: readonly (readonly [string, string, number])[] | undefined;
}

/** Dates on which a spot is looked at, or all the time. */
type MonitoringInput = "continuous" | readonly TimeInput[];

/** A barrier of a trade as written. */
export interface BarrierInput {
  /** The monitored underlying of a trade on several; all of them by default. */
  readonly underlying?: string | undefined;
  readonly type: BarrierType;
  readonly level: number;
  readonly rebate?: number | undefined;
  readonly rebateAt?: "hit" | "expiry" | undefined;
  readonly monitoring?: MonitoringInput | undefined;
  readonly from?: TimeInput | undefined;
  readonly to?: TimeInput | undefined;
}

/** The terms of every trade as written. */
export interface TradeInputTerms {
  readonly id: string;
  readonly expiry: TimeInput;
  /** The exercise, "european" by default. */
  readonly exercise?: "european" | "american" | readonly TimeInput[] | undefined;
  /** The quantity, 1 by default. */
  readonly quantity?: number | undefined;
  readonly barriers?: readonly BarrierInput[] | undefined;
  readonly tags?: Tags | undefined;
}

interface OnOneUnderlying extends TradeInputTerms {
  readonly underlying: string;
  /** The underlying's by default. */
  readonly volatility?: VolatilityInput | undefined;
}

/** A lookback with a floating strike as written. */
export interface FloatingLookbackInput extends OnOneUnderlying {
  readonly payoff: "call" | "put";
  readonly lookback: LookbackInput & { readonly strike: "floating" };
}

interface LookbackInput {
  readonly from?: TimeInput | undefined;
  readonly extremum?: number | undefined;
  readonly monitoring: MonitoringInput;
}

/** A call or put with a strike, on the last spot or, with one of the last three fields, on its path; as written. */
export interface StrikeTradeInput extends OnOneUnderlying {
  readonly payoff: "call" | "put";
  readonly strike: number;
  readonly average?:
    | {
        readonly kind: "arithmetic" | "geometric";
        readonly dates: MonitoringInput;
        readonly past?: { readonly count: number; readonly mean: number } | undefined;
      }
    | undefined;
  readonly lookback?: (LookbackInput & { readonly strike: "fixed" }) | undefined;
  readonly swing?:
    | {
        readonly dates: readonly TimeInput[];
        readonly min?: number | undefined;
        readonly max?: number | undefined;
      }
    | undefined;
}

/** A digital option as written. */
export interface DigitalInput extends OnOneUnderlying {
  readonly payoff: { readonly digital: "call" | "put"; readonly cash?: number | undefined };
  readonly strike: number;
}

/** A payoff by a formula of S, or, with several underlyings, of S1, S2 and so on. */
export interface ExpressionInput {
  readonly expression: string;
  readonly kinks?: readonly number[] | undefined;
}

/** A trade with a payoff by a formula as written; a strike is an additional kink. */
export interface ExpressionTradeInput extends OnOneUnderlying {
  readonly payoff: ExpressionInput;
  readonly strike?: number | undefined;
}

interface OnSeveralUnderlyings extends TradeInputTerms {
  /** Two names or more. */
  readonly underlyings: readonly string[];
}

/** A basket, best-of, worst-of or spread option as written. */
export interface BasketTradeInput extends OnSeveralUnderlyings {
  readonly payoff:
    | {
        readonly basket: "call" | "put";
        readonly weights: readonly number[];
        readonly kind?: "arithmetic" | "geometric" | undefined;
      }
    | { readonly bestOf: "call" | "put" }
    | { readonly worstOf: "call" | "put" }
    | { readonly spread: "call" | "put" };
  readonly strike: number;
}

/** A trade on several underlyings with a payoff by a formula as written. */
export interface BasketExpressionInput extends OnSeveralUnderlyings {
  readonly payoff: ExpressionInput;
  readonly strike?: number | undefined;
}

/** A trade as written; the types require a strike where its payoff has one. */
export type TradeInput =
  | FloatingLookbackInput
  | StrikeTradeInput
  | DigitalInput
  | ExpressionTradeInput
  | BasketTradeInput
  | BasketExpressionInput
  | RatesTradeInput
  | ConvertibleInput;

/** The scenarios of a book as written, whose full product is priced. */
export interface ScenariosInput {
  readonly time?: readonly TimeInput[] | undefined;
  /** The relative moves, of all underlyings or by underlying. */
  readonly spot?: readonly number[] | { readonly [underlying: string]: readonly number[] } | undefined;
  readonly volatility?: readonly number[] | undefined;
  readonly rate?: readonly number[] | undefined;
  /** The property of quoted volatilities that is kept while the spot moves; the local volatility by default. */
  readonly quotes?: "sticky-strike" | "sticky-delta" | "sticky-local-volatility" | undefined;
}

/** A book as plain data, the input of `parseBook` and the content of its JSON text. */
export interface BookInput {
  readonly $schema?: string | undefined;
  /** The valuation moment, an ISO date or instant. */
  readonly asOf: string;
  readonly market: MarketInput;
  readonly trades: readonly TradeInput[];
  readonly scenarios?: ScenariosInput | undefined;
  readonly method?: MethodName | undefined;
  readonly seed?: number | undefined;
}
