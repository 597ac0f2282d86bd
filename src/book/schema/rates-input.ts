/** The TypeScript types of trades on interest rates in the form that users write. */
import type { Tags } from "../types.ts";
import type { TimeInput } from "./market-input.ts";

interface RatesTerms {
  readonly id: string;
  readonly currency: string;
  /** The quantity, 1 by default. */
  readonly quantity?: number | undefined;
  readonly tags?: Tags | undefined;
}

/** A right to redeem a bond at a clean price, as a book contains it: on one date, or throughout a window. */
export type RedemptionInput = ({ readonly date: TimeInput } | { readonly from: TimeInput; readonly to: TimeInput }) & {
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
export interface BondTradeInput extends RatesTerms {
  readonly bond: (CouponBondInput & RightsInput) | (CashflowsInput & RightsInput);
  /** The clean market price, for the option-adjusted spread. */
  readonly marketPrice?: number | undefined;
}

/** Payments listed one by one (time and amount), as a book contains them. */
export interface CashflowsTradeInput extends RatesTerms, CashflowsInput, RightsInput {
  /** The clean market price, for the option-adjusted spread. */
  readonly marketPrice?: number | undefined;
}

interface ExerciseInput {
  readonly expiry?: TimeInput | undefined;
  readonly exercise?: "european" | "american" | readonly TimeInput[] | undefined;
}

/** An option on a bond, as a book contains it. */
export interface BondOptionInput extends RatesTerms, ExerciseInput {
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
export type RateQuoteInput =
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
export type CapFloorInput = OnForwardRates &
  (
    | { readonly cap: LegInput & { readonly fixing?: number | undefined } }
    | { readonly floor: LegInput & { readonly fixing?: number | undefined } }
  );

/** A swaption, as a book contains it. */
export interface SwaptionInput extends OnForwardRates, ExerciseInput {
  readonly swaption: "payer" | "receiver";
  /** The underlying swap, whose fixed rate is the strike. */
  readonly swap: LegInput;
}

/** A trade on the interest rates of one currency, as a book contains it. */
export type RatesTradeInput = BondTradeInput | CashflowsTradeInput | BondOptionInput | CapFloorInput | SwaptionInput;
