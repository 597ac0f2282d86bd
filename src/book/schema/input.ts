/**
 * The TypeScript types of a book in the form that users write, which is that of the argument of `parseBook` and of
 * JSON. The schemas in this folder check the same at run time. Tests in `test/types` check that both agree.
 */
import type { CalendarName } from "../../market/conventions/index.ts";
import type { ScriptInput } from "../../market/scripts/index.ts";
import type { MethodName } from "../methods.ts";
import type { BarrierType, Tags } from "../types.ts";
import type { LinearTradeInput } from "./linear.ts";
import type { ScriptedInput } from "./scripted-input.ts";
import type { DatesInput } from "./schedule.ts";
import type {
  CurveByNameInput,
  PairInput,
  RateInput,
  TimeInput,
  UnderlyingInput,
  VolatilityInput,
} from "./market-input.ts";

/**
 * The credit of an issuer, as a book contains it: a spread per year on cash payments, or default at a hazard rate per
 * year.
 */
export type CreditInput =
  | { readonly spread: number | readonly { readonly date: TimeInput; readonly spread: number }[] }
  | {
      readonly hazard: number | readonly { readonly date: TimeInput; readonly hazard: number }[];
      /** The fraction of the notional paid at default. */
      readonly recovery: number;
      /** The fraction of the stock price lost at default. */
      readonly jump: number;
      /**
       * The exponent of the hazard rate, which is proportional to (S/reference)^exponent; 0 by default, with the spot
       * as reference.
       */
      readonly exponent?: number | undefined;
      readonly reference?: number | undefined;
    };

type PeriodInput = { readonly date: TimeInput } | { readonly from: TimeInput; readonly to: TimeInput };

/** A convertible bond, as a book contains it. */
export interface ConvertibleInput {
  readonly id: string;
  readonly underlying: string;
  readonly convertible: {
    readonly maturity: TimeInput;
    /** The coupon rate per year; 0 by default. */
    readonly coupon?: number | undefined;
    /** The number of coupons a year. */
    readonly frequency?: number | undefined;
    readonly notional: number;
    /** The number of shares for which the bond can be converted. */
    readonly ratio: number;
    /** The times at which the bond can be converted; "american", at any time, by default. */
    readonly conversion?:
      | "american"
      | "european"
      | "none"
      | DatesInput
      | { readonly from: TimeInput; readonly to: TimeInput }
      | undefined;
    readonly calls?:
      | readonly (PeriodInput & { readonly price: number; readonly trigger?: number | undefined })[]
      | undefined;
    readonly puts?: readonly (PeriodInput & { readonly price: number })[] | undefined;
    /** The value of the cash-only part where the bond is called for cash; "callPrice" by default. */
    readonly calledCashComponent?: "callPrice" | "zero" | undefined;
  };
  /** The volatility; the underlying's by default. */
  readonly volatility?: VolatilityInput | undefined;
  /** The quantity, 1 by default. */
  readonly quantity?: number | undefined;
  readonly tags?: Tags | undefined;
}

interface RatesTerms {
  readonly id: string;
  readonly currency: string;
  /** The quantity, 1 by default. */
  readonly quantity?: number | undefined;
  readonly tags?: Tags | undefined;
}

/** A right to redeem a bond at a clean price, as a book contains it: on one date, or throughout a window. */
type RedemptionInput = ({ readonly date: TimeInput } | { readonly from: TimeInput; readonly to: TimeInput }) & {
  /** The clean price for the notional. */
  readonly price: number;
  /** The notice period before redemption: a tenor or years; 0 by default. */
  readonly notice?: TimeInput | undefined;
};

interface CouponBondInput {
  readonly maturity: TimeInput;
  /** The coupon rate per year; 0 by default. */
  readonly coupon?: number | undefined;
  /** The number of coupons a year. */
  readonly frequency?: number | undefined;
  readonly notional: number;
}

interface CashflowsInput {
  readonly cashflows: readonly (readonly [TimeInput, number])[];
  /** The notional to which prices refer; the last payment by default. */
  readonly notional?: number | undefined;
}

interface RightsInput {
  readonly calls?: readonly RedemptionInput[] | undefined;
  readonly puts?: readonly RedemptionInput[] | undefined;
}

/** A bond, possibly with calls of the issuer and puts of the holder, as a book contains it. */
interface BondTradeInput extends RatesTerms {
  readonly bond: (CouponBondInput & RightsInput) | (CashflowsInput & RightsInput);
  /** The clean market price, for the option-adjusted spread. */
  readonly marketPrice?: number | undefined;
}

/** Payments listed one by one (time and amount), as a book contains them. */
interface CashflowsTradeInput extends RatesTerms, CashflowsInput, RightsInput {
  /** The clean market price, for the option-adjusted spread. */
  readonly marketPrice?: number | undefined;
}

interface ExerciseInput {
  readonly expiry?: TimeInput | undefined;
  readonly exercise?: "european" | "american" | DatesInput | undefined;
}

/** An option on a bond, as a book contains it. */
interface BondOptionInput extends RatesTerms, ExerciseInput {
  readonly payoff: "call" | "put";
  readonly strike: number;
  /** The kind of strike, "dirty" by default. */
  readonly strikeIs?: "clean" | "dirty" | undefined;
  readonly on: { readonly bond: CouponBondInput | CashflowsInput } | CashflowsInput;
}

/**
 * A quoted volatility of a forward or swap rate, with which a trade is priced without a model of the short rate: a
 * number is Black's (lognormal), the others are normal or displaced lognormal.
 */
type RateQuoteInput =
  | number
  | { readonly normal: number }
  | { readonly displaced: { readonly sigma: number; readonly shift: number } };

interface LegInput {
  readonly start: TimeInput;
  readonly end: TimeInput;
  readonly frequency: number;
  readonly notional: number;
}

interface OnForwardRates extends RatesTerms {
  readonly strike: number;
  readonly volatility?: RateQuoteInput | undefined;
}

/** A cap or a floor, as a book contains it. `fixing` is the rate of the current period, if it has begun. */
type CapFloorInput = OnForwardRates &
  (
    | { readonly cap: LegInput & { readonly fixing?: number | undefined } }
    | { readonly floor: LegInput & { readonly fixing?: number | undefined } }
  );

/** A swaption, as a book contains it. */
interface SwaptionInput extends OnForwardRates, ExerciseInput {
  readonly swaption: "payer" | "receiver";
  /** The underlying swap, whose fixed rate is the strike. */
  readonly swap: LegInput;
}

/** A trade on the interest rates of one currency, as a book contains it. */
type RatesTradeInput = BondTradeInput | CashflowsTradeInput | BondOptionInput | CapFloorInput | SwaptionInput;

/** The market, as a book contains it. @stable */
export interface MarketInput {
  /** The interest rates by currency. */
  readonly rates: { readonly [currency: string]: RateInput };
  /** Curves by name, found together from quoted instruments, or given by zero rates. */
  readonly curves?: { readonly [name: string]: CurveByNameInput } | undefined;
  /** Exchange rates by pair, such as EURUSD in units of USD: for the pair's spot date, or for `date`. */
  readonly fx?:
    | { readonly [pair: string]: number | { readonly rate: number; readonly date?: TimeInput | undefined } }
    | undefined;
  /** Published rates by index and date, and fixings by underlying and date. */
  readonly fixings?: { readonly [name: string]: { readonly [date: string]: number } } | undefined;
  readonly underlyings?: { readonly [name: string]: UnderlyingInput | PairInput } | undefined;
  /** The scripts of structured products by name. */
  readonly scripts?: { readonly [name: string]: ScriptInput } | undefined;
  /** The credit of issuers of convertible bonds, by underlying. */
  readonly credit?: { readonly [underlying: string]: CreditInput } | undefined;
  /** The correlations: two names of underlyings or currencies, and the correlation. */
  readonly correlations?: readonly (readonly [string, string, number])[] | undefined;
  /**
   * What is doubtful about curves and volatilities that were fitted to quotes, such as "not converged". Results repeat
   * it; `feynkac calibrate -o` writes it.
   */
  readonly doubts?:
    | {
        readonly rates?: { readonly [currency: string]: readonly string[] } | undefined;
        readonly underlyings?: { readonly [name: string]: readonly string[] } | undefined;
      }
    | undefined;
}

/** The dates on which a spot is observed, or continuous observation. */
type MonitoringInput = "continuous" | DatesInput;

/** A barrier of a trade, as a book contains it. */
export interface BarrierInput {
  /** The monitored underlying of a trade on several; all of them by default. */
  readonly underlying?: string | undefined;
  readonly type: BarrierType;
  /** The level of the spot, > 0. */
  readonly level: number;
  /** The amount paid when a knock-out is breached, or when a knock-in never is; 0 by default. */
  readonly rebate?: number | undefined;
  /** The time at which the rebate of a knock-out is paid: at the breach (the default) or at expiry. */
  readonly rebateAt?: "hit" | "expiry" | undefined;
  /** The monitoring of the spot: continuous (the default), or on dates. */
  readonly monitoring?: MonitoringInput | undefined;
  /** The day of the past on which it was breached, if it was. */
  readonly breached?: TimeInput | undefined;
  /** The first time at which the barrier is monitored; `asOf` by default. */
  readonly from?: TimeInput | undefined;
  /** The last time at which the barrier is monitored; expiry by default. */
  readonly to?: TimeInput | undefined;
}

/** A payment in another currency, and what the market may lack for it, as a book contains them. */
export interface ConversionInput {
  readonly currency: string;
  /** The correlation of the one underlying and the currency pair; by default that of `market.correlations`. */
  readonly correlation?: number | undefined;
  /** The volatility of the exchange rate; by default that of the pair. */
  readonly volatility?: number | undefined;
}

/** The terms that every trade on underlyings has, as a book contains them. */
export interface TradeInputTerms {
  /** The name of the trade, which no other trade of the book has. */
  readonly id: string;
  readonly expiry: TimeInput;
  /** The exercise: "european" (the default), "american", or a list of dates. */
  readonly exercise?: "european" | "american" | DatesInput | undefined;
  /** The quantity, 1 by default. */
  readonly quantity?: number | undefined;
  /** The barriers; none by default. */
  readonly barriers?: readonly BarrierInput[] | undefined;
  /** The day of payment; by default that of expiry or exercise, for currency pairs the delivery of that day. */
  readonly payment?: TimeInput | undefined;
  /** Instead of a day of payment, the business days from expiry or exercise to it. */
  readonly paymentLag?: number | undefined;
  /** The calendar of `paymentLag`; by default weekends only, for pairs that of the pair. */
  readonly paymentCalendar?: CalendarName | readonly CalendarName[] | undefined;
  /** The currency in which it is paid, at an exchange rate that was agreed, 1 by default. */
  readonly quanto?: string | (ConversionInput & { readonly rate?: number | undefined }) | undefined;
  /** The currency into which spots are converted at the exchange rates of their day. Strikes are in it. */
  readonly composite?: string | ConversionInput | undefined;
  /** Texts and numbers by name, such as a desk, that results repeat and no price depends on. */
  readonly tags?: Tags | undefined;
}

interface OnOneUnderlying extends TradeInputTerms {
  readonly underlying: string;
  /** The underlying's by default. */
  readonly volatility?: VolatilityInput | undefined;
}

/** A lookback option with a floating strike, as a book contains it. */
export interface FloatingLookbackInput extends OnOneUnderlying {
  readonly payoff: "call" | "put";
  readonly lookback: LookbackInput & { readonly strike: "floating" };
}

interface LookbackInput {
  readonly from?: TimeInput | undefined;
  readonly extremum?: number | undefined;
  readonly monitoring: MonitoringInput;
}

/**
 * A call or put with a strike, as a book contains it. The payoff depends on the spot at expiry. With `average`,
 * `lookback` or `swing` it depends on the path of the spot.
 */
export interface StrikeTradeInput extends OnOneUnderlying {
  readonly payoff: "call" | "put";
  readonly strike: number;
  /**
   * The average of the spot that takes the place of the spot in the payoff; `past` has the number and the mean of known
   * fixings.
   */
  readonly average?:
    | {
        readonly kind: "arithmetic" | "geometric";
        readonly dates: MonitoringInput;
        readonly past?: { readonly count: number; readonly mean: number } | undefined;
      }
    | undefined;
  /** The largest or smallest spot takes the place of the spot in the payoff. */
  readonly lookback?: (LookbackInput & { readonly strike: "fixed" }) | undefined;
  /** The right to exercise on each of several dates, at least `min` and at most `max` times. */
  readonly swing?:
    | {
        readonly dates: DatesInput;
        readonly min?: number | undefined;
        readonly max?: number | undefined;
      }
    | undefined;
}

/** A digital option, as a book contains it. It pays `cash` (1 by default) if it is in the money at exercise. */
export interface DigitalInput extends OnOneUnderlying {
  readonly payoff: {
    readonly digital: "call" | "put";
    readonly cash?: number | undefined;
    /** The currency of `cash`, either one of a currency pair; that of the price by default. */
    readonly currency?: string | undefined;
  };
  readonly strike: number;
}

/**
 * An option that pays `cash` (1 by default) if a level is touched, at once or at expiry, or at expiry if none is, as a
 * book contains it. Levels are monitored continuously until expiry.
 */
export interface TouchInput extends OnOneUnderlying {
  readonly payoff: { readonly cash?: number | undefined; readonly currency?: string | undefined } & (
    | { readonly touch: number | readonly number[]; readonly at?: "hit" | "expiry" | undefined }
    | { readonly noTouch: number | readonly number[] }
  );
}

/**
 * A payoff given by a formula of the spot S, or, with several underlyings, of the spots S1, S2 and so on. `kinks` are
 * the spots at which the formula bends or jumps.
 */
export interface ExpressionInput {
  /** The formula, such as "max(S - 100, 0)". */
  readonly expression: string;
  /** The spots at which the formula bends or jumps. */
  readonly kinks?: readonly number[] | undefined;
}

/**
 * A trade whose payoff is given by a formula, as a book contains it. Its strike, if any, is a further kink of the
 * payoff.
 */
export interface ExpressionTradeInput extends OnOneUnderlying {
  readonly payoff: ExpressionInput;
  readonly strike?: number | undefined;
}

interface OnSeveralUnderlyings extends TradeInputTerms {
  /** Two names or more. */
  readonly underlyings: readonly string[];
}

/** A basket, best-of, worst-of or spread option, as a book contains it. */
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

/** A trade on several underlyings whose payoff is given by a formula, as a book contains it. */
export interface BasketExpressionInput extends OnSeveralUnderlyings {
  readonly payoff: ExpressionInput;
  readonly strike?: number | undefined;
}

/** A forward, which pays S − strike at expiry, as a book contains it. */
export interface ForwardInput {
  readonly id: string;
  readonly underlying: string;
  /** The strike. */
  readonly forward: number;
  readonly expiry: TimeInput;
  /** The number of units held, negative when sold; 1 by default. */
  readonly quantity?: number | undefined;
  readonly tags?: Tags | undefined;
}

/** A trade, as a book contains it. The types require a strike wherever the payoff has one. @stable */
export type TradeInput =
  | FloatingLookbackInput
  | StrikeTradeInput
  | DigitalInput
  | TouchInput
  | ExpressionTradeInput
  | BasketTradeInput
  | BasketExpressionInput
  | RatesTradeInput
  | ConvertibleInput
  | ForwardInput
  | ScriptedInput
  | LinearTradeInput;

/** The scenarios of a book, as it contains them. All combinations of the four lists are priced. @stable */
export interface ScenariosInput {
  /** The later valuation times. */
  readonly time?: readonly TimeInput[] | undefined;
  /** The relative moves of the spots of all underlyings (0.1 is +10 %), or the moves by underlying. */
  readonly spot?: readonly number[] | { readonly [underlying: string]: readonly number[] } | undefined;
  /** The absolute moves of volatilities. */
  readonly volatility?: readonly number[] | undefined;
  /** The absolute parallel moves of interest rates. */
  readonly rate?: readonly number[] | undefined;
  /** The property that the quotes of a volatility keep when the spot moves; the local volatility by default. */
  readonly quotes?: "sticky-strike" | "sticky-delta" | "sticky-local-volatility" | undefined;
}

/** A book as plain data: the argument of `parseBook` and the content of a book's JSON text. @stable */
export interface BookInput {
  readonly $schema?: string | undefined;
  /** The valuation moment, an ISO date or instant. */
  readonly asOf: string;
  readonly market: MarketInput;
  readonly trades: readonly TradeInput[];
  readonly scenarios?: ScenariosInput | undefined;
  /** The numerical method for all trades; "auto" by default. */
  readonly method?: MethodName | undefined;
  /** The seed of random numbers, a whole number from 0. */
  readonly seed?: number | undefined;
}
