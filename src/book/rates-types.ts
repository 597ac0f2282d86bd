/** Trades on interest rates after parsing: plain immutable data, times in years from `asOf`. */
import type { RatesModel } from "../market/index.ts";
import type { Tags } from "./tags.ts";

/** A period over which interest accrues: years, `end` > `start`. */
export interface Period {
  readonly start: number;
  readonly end: number;
}

/** The payments of a bond after `asOf`, in amounts for its notional. */
export interface Bond {
  /** [time, amount], times increasing and > 0, coupons and redemption together. */
  readonly flows: readonly (readonly [time: number, amount: number])[];
  /** The coupons among the flows with the periods they accrue over; none where the flows are given one by one. */
  readonly coupons: readonly (Period & { readonly amount: number })[];
  /** The notional that prices are amounts of. */
  readonly notional: number;
}

/**
 * A right to redeem at a clean price, accrued interest on top, at one time (`from` = `to`) or throughout a window. At
 * the time of a coupon, the coupon is paid first.
 */
export interface RedemptionRight {
  /** The times of exercise. */
  readonly from: number;
  readonly to: number;
  /** Years from exercise to redemption. */
  readonly notice: number;
  /** Clean, for the notional. */
  readonly price: number;
}

/** A quoted volatility of a forward or swap rate, which prices without a model of the short rate. */
export type RateQuote =
  /** Lognormal with a displacement: d(F + shift) = σ·(F + shift) dW. Black's model where the shift is 0. */
  | { readonly kind: "displaced"; readonly sigma: number; readonly shift: number }
  /** Bachelier's model: dF = σ dW. */
  | { readonly kind: "normal"; readonly sigma: number };

/** The product of a trade on rates. */
export type RatesProduct =
  /** A bond; the issuer may call it and the holder put it. */
  | {
      readonly kind: "bond";
      readonly bond: Bond;
      readonly calls: readonly RedemptionRight[];
      readonly puts: readonly RedemptionRight[];
    }
  /** The right to buy or sell what a bond pays after exercise. The bond's flows up to `asOf` do not count. */
  | {
      readonly kind: "bondOption";
      readonly right: "call" | "put";
      readonly strike: number;
      /** A clean strike is paid with accrued interest on top. */
      readonly strikeIs: "clean" | "dirty";
      readonly bond: Bond;
      readonly exercise: RatesExercise;
    }
  /** τ·max(φ·(L − strike), 0) at the end of each period, L its simple rate as it is at the start. */
  | {
      readonly kind: "capFloor";
      readonly right: "cap" | "floor";
      readonly strike: number;
      readonly notional: number;
      readonly periods: readonly Period[];
      /** The rate of the period that has begun, where there is one. */
      readonly fixing: number | undefined;
      readonly quote: RateQuote | undefined;
    }
  /** The right to enter a swap: pay (payer) or receive strike·τ at the end of each period that is left. */
  | {
      readonly kind: "swaption";
      readonly right: "payer" | "receiver";
      readonly strike: number;
      readonly notional: number;
      readonly periods: readonly Period[];
      readonly exercise: RatesExercise;
      readonly quote: RateQuote | undefined;
    };

/**
 * The dates on which a right may be exercised: times (increasing, > 0 or 0 for at once; one of them is European), or
 * any time.
 */
export type RatesExercise =
  | { readonly kind: "dates"; readonly times: readonly number[] }
  | { readonly kind: "american"; readonly from: number; readonly to: number };

/** A trade on the rates of one currency, complete and valid. */
export interface RatesTrade {
  readonly kind: "rates";
  readonly id: string;
  readonly currency: string;
  /** Shared by reference among the trades of one currency. */
  readonly rates: RatesModel;
  readonly product: RatesProduct;
  /** Years to the last payment or right, > 0. */
  readonly expiry: number;
  /** The clean price at which the bond trades, for its option-adjusted spread. */
  readonly marketPrice?: number;
  readonly quantity: number;
  readonly tags?: Tags;
}

/** The time of a key rate, in years, and ∂V/∂z of its zero rate, per 1.00. */
export type KeyRate = readonly [time: number, value: number];

/** The numbers of a result that only trades on rates have. */
export interface RatesFigures {
  /** The price of a bond without accrued interest, and that interest. */
  readonly clean?: number;
  readonly accrued?: number;
  /** The yield of a bond to maturity, continuously compounded, with its duration −V′/V and its convexity V″/V. */
  readonly yield?: number;
  readonly duration?: number;
  readonly convexity?: number;
  /** The parallel move of the rates that gives the market price of a bond, where the book has one. */
  readonly optionAdjustedSpread?: number;
  /** The sensitivities of a trade on rates to key rates. */
  readonly keyRates?: readonly KeyRate[];
  /** The sensitivities of a trade on rates to the parameters of their model, as the book names them, per 1.00. */
  readonly parameters?: Readonly<Record<string, number>>;
}
