/**
 * The book as it is written, for the TypeScript compiler: what `parseBook` takes and what its JSON text says. The
 * schemas beside this file check the same at run time; `test/types` holds that the two agree.
 */
import type { MethodName } from "../methods.ts";
import type { BarrierType, Tags } from "../types.ts";
import type { ConvertibleInput, CreditInput } from "./convertible-input.ts";
import type { RatesTradeInput } from "./rates-input.ts";

/** An ISO date or instant, a tenor ("1Y", "6M", "2W", "10D"), or years from `asOf` (Act/365F). */
export type TimeInput = string | number;

/** Hull and White's model: its parameters, or prices on a notional of 1 to fit it to, their times in years. */
export type HullWhiteInput =
  | {
      readonly meanReversion: number;
      /** One, or by the date up to which it holds. */
      readonly volatility: number | readonly { readonly date: TimeInput; readonly volatility: number }[];
      readonly curve: CurveInput;
    }
  | {
      readonly curve: CurveInput;
      readonly caps: readonly {
        readonly start: number;
        readonly maturity: number;
        readonly frequency: number;
        readonly strike: number;
        readonly price: number;
      }[];
    }
  | {
      readonly curve: CurveInput;
      readonly swaptions: readonly {
        readonly type: "payer" | "receiver";
        readonly expiry: number;
        readonly length: number;
        readonly frequency: number;
        readonly strike: number;
        readonly price: number;
      }[];
    };

/** A continuously compounded rate per year, zero rates by date, or a model of the short rate. */
export type RateInput =
  | CurveInput
  | { readonly hullWhite: HullWhiteInput }
  | { readonly vasicek: AffineInput }
  | { readonly cir: AffineInput }
  | {
      readonly g2: {
        readonly a: number;
        readonly sigma: number;
        readonly b: number;
        readonly eta: number;
        readonly rho: number;
        readonly curve: CurveInput;
      };
    }
  | {
      readonly blackKarasinski: {
        readonly meanReversion: number;
        readonly volatility: number;
        readonly curve: CurveInput;
      };
    }
  /** Of 1, 2, … years, yields annually compounded. */
  | { readonly bdt: { readonly annualYields: readonly number[]; readonly yieldVolatilities: readonly number[] } };

interface AffineInput {
  readonly r0: number;
  readonly kappa: number;
  readonly theta: number;
  readonly sigma: number;
}

type CurveInput =
  | number
  | readonly { readonly date: TimeInput; readonly zero: number }[]
  | {
      readonly instruments: readonly InstrumentInput[];
      /** "log-discount" by default, which "linear-zero" is another name of. */
      readonly interpolation?: "linear-zero" | "log-discount" | "monotone-convex" | undefined;
      /** "bootstrap" by default. */
      readonly fit?: "bootstrap" | "svensson" | undefined;
    };

type DayCountInput = "Act/365F" | "Act/360" | undefined;

/** A quote of a rate, as written: the mark says when it ends, or when the period of a FRA or a future starts. */
export type InstrumentInput =
  | { readonly deposit: TimeInput; readonly rate: number; readonly dayCount?: DayCountInput }
  | { readonly fra: TimeInput; readonly end: TimeInput; readonly rate: number; readonly dayCount?: DayCountInput }
  | {
      readonly future: TimeInput;
      readonly end: TimeInput;
      readonly price: number;
      readonly convexity?: number | undefined;
      readonly dayCount?: DayCountInput;
    }
  | { readonly swap: TimeInput; readonly rate: number; readonly frequency?: number | undefined }
  | { readonly overnight: TimeInput; readonly rate: number; readonly frequency?: number | undefined };

/** A quote of an option, as written: an implied volatility, a price, or a bid and an ask. */
export interface OptionQuoteInput {
  readonly expiry: TimeInput;
  readonly strike: number;
  /** "call" by default. */
  readonly type?: "call" | "put" | undefined;
  readonly implied?: number | undefined;
  readonly price?: number | undefined;
  readonly bid?: number | undefined;
  readonly ask?: number | undefined;
  readonly weight?: number | undefined;
}

type FitInput =
  | "svi"
  | "ssvi"
  | "andreasen-huge"
  | "local"
  | "heston"
  | "none"
  | { readonly sabr: { readonly beta: number } };

/** The parameters of Heston's model, as written. */
export interface HestonInput {
  readonly v0: number;
  readonly kappa: number;
  readonly theta: number;
  readonly sigma: number;
  readonly rho: number;
}

/** A volatility per √year, or a model of it by its name. */
export type VolatilityInput =
  | number
  | { readonly termStructure: readonly { readonly date: TimeInput; readonly volatility: number }[] }
  | { readonly cev: { readonly sigma: number; readonly beta: number } }
  | { readonly displaced: { readonly sigma: number; readonly shift: number } }
  | {
      readonly surface: {
        readonly times: readonly TimeInput[];
        readonly spots: readonly number[];
        /** The volatilities by time, then by spot. */
        readonly volatility: readonly (readonly number[])[];
      };
    }
  | { readonly heston: HestonInput }
  | {
      readonly sabr: {
        readonly alpha: number;
        readonly beta: number;
        readonly nu: number;
        readonly rho: number;
      };
    }
  | {
      readonly gaussianFactors: {
        readonly alpha: readonly number[];
        readonly sigma: readonly number[];
        readonly rho?: number | undefined;
      };
    }
  /** A formula of S and t. */
  | { readonly local: string }
  | {
      readonly quotes:
        | readonly OptionQuoteInput[]
        | {
            readonly expiries: readonly TimeInput[];
            readonly strikes: readonly number[];
            /** By expiry, then by strike. */
            readonly implied: readonly (readonly number[])[];
          };
      /** Without a fit they are checked and not priced. */
      readonly fit?: FitInput | undefined;
    };

/** An underlying of a market, as written. */
export interface UnderlyingInput {
  readonly spot: number;
  readonly currency: string;
  readonly dividends?:
    | {
        readonly yield?: number | undefined;
        readonly discrete?:
          | readonly {
              readonly date: TimeInput;
              readonly cash?: number | undefined;
              readonly proportional?: number | undefined;
            }[]
          | undefined;
      }
    | undefined;
  readonly volatility?: VolatilityInput | undefined;
}

/** The market of a book, as written: rates by currency, underlyings and correlations by name. */
export interface MarketInput {
  readonly rates: { readonly [currency: string]: RateInput };
  readonly underlyings?: { readonly [name: string]: UnderlyingInput } | undefined;
  /** By underlying, of issuers of convertible bonds. */
  readonly credit?: { readonly [underlying: string]: CreditInput } | undefined;
  readonly correlations?: readonly (readonly [string, string, number])[] | undefined;
}

/** Dates on which a spot is looked at, or all the time. */
type MonitoringInput = "continuous" | readonly TimeInput[];

/** A barrier of a trade, as written. */
export interface BarrierInput {
  /** The underlying that is monitored, of a trade on several; all of them by default. */
  readonly underlying?: string | undefined;
  readonly type: BarrierType;
  readonly level: number;
  readonly rebate?: number | undefined;
  readonly rebateAt?: "hit" | "expiry" | undefined;
  readonly monitoring?: MonitoringInput | undefined;
  readonly from?: TimeInput | undefined;
  readonly to?: TimeInput | undefined;
}

/** The terms that every trade has, as written. */
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

/** A lookback whose strike is the extreme spot, as written. */
export interface FloatingLookbackInput extends OnOneUnderlying {
  readonly payoff: "call" | "put";
  readonly lookback: LookbackInput & { readonly strike: "floating" };
}

interface LookbackInput {
  readonly from?: TimeInput | undefined;
  readonly extremum?: number | undefined;
  readonly monitoring: MonitoringInput;
}

/** A call or put with a strike, on the last spot or, by one of the last three fields, on its path; as written. */
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

/** A digital, as written. */
export interface DigitalInput extends OnOneUnderlying {
  readonly payoff: { readonly digital: "call" | "put"; readonly cash?: number | undefined };
  readonly strike: number;
}

/** A payoff by a formula: of S, and of several underlyings of S1, S2 and so on. */
export interface ExpressionInput {
  readonly expression: string;
  readonly kinks?: readonly number[] | undefined;
}

/** A trade that pays by a formula, as written; a strike is one more kink. */
export interface ExpressionTradeInput extends OnOneUnderlying {
  readonly payoff: ExpressionInput;
  readonly strike?: number | undefined;
}

interface OnSeveralUnderlyings extends TradeInputTerms {
  /** Two names or more. */
  readonly underlyings: readonly string[];
}

/** A basket, a best-of or worst-of, or a spread, as written. */
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

/** A trade on several underlyings that pays by a formula, as written. */
export interface BasketExpressionInput extends OnSeveralUnderlyings {
  readonly payoff: ExpressionInput;
  readonly strike?: number | undefined;
}

/** One trade, as written: the compiler asks for a strike where its payoff has one. */
export type TradeInput =
  | FloatingLookbackInput
  | StrikeTradeInput
  | DigitalInput
  | ExpressionTradeInput
  | BasketTradeInput
  | BasketExpressionInput
  | RatesTradeInput
  | ConvertibleInput;

/** The scenarios of a book, as written: their full product is priced. */
export interface ScenariosInput {
  readonly time?: readonly TimeInput[] | undefined;
  /** Relative moves, of all underlyings or by underlying. */
  readonly spot?: readonly number[] | { readonly [underlying: string]: readonly number[] } | undefined;
  readonly volatility?: readonly number[] | undefined;
  readonly rate?: readonly number[] | undefined;
}

/** A book as plain data: what `parseBook` accepts, and what its JSON text says. */
export interface BookInput {
  readonly $schema?: string | undefined;
  /** An ISO date or instant. */
  readonly asOf: string;
  readonly market: MarketInput;
  readonly trades: readonly TradeInput[];
  readonly scenarios?: ScenariosInput | undefined;
  readonly method?: MethodName | undefined;
  readonly seed?: number | undefined;
}
