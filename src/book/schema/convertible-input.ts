/** The TypeScript types of convertible bonds and issuer credit in the form that users write. */
import type { Tags } from "../types.ts";
import type { TimeInput, VolatilityInput } from "./market-input.ts";

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
      | readonly TimeInput[]
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
