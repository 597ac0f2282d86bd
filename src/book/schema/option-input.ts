/** The TypeScript types of options on underlyings in the form that users write. */
import type { CalendarName } from "../../market/conventions/index.ts";
import type { BarrierType, Tags } from "../types.ts";
import type { TimeInput, VolatilityInput } from "./market-input.ts";
import type { DatesInput } from "./schedule.ts";

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
