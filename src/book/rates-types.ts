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
  /** The payments [time, amount] with times increasing and > 0, coupons and redemption together. */
  readonly flows: readonly (readonly [time: number, amount: number])[];
  /** The coupons among the payments with their accrual periods; none where the payments are given one by one. */
  readonly coupons: readonly (Period & { readonly amount: number })[];
  /** The notional to which prices refer. */
  readonly notional: number;
}

/**
 * A right to redeem at a clean price plus accrued interest, at one time (`from` = `to`) or throughout a window. A
 * coupon at that time is paid first.
 */
export interface RedemptionRight {
  /** The first time of exercise. */
  readonly from: number;
  readonly to: number;
  /** The years from exercise to redemption. */
  readonly notice: number;
  /** The clean price for the notional. */
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
      /** The kind of strike; a clean one is paid with accrued interest on top. */
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
      /** The rate of the current period, if it has begun. */
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

/** The times at which a right may be exercised: dates (increasing, ≥ 0; a single one is European), or any time. */
export type RatesExercise =
  | { readonly kind: "dates"; readonly times: readonly number[] }
  | { readonly kind: "american"; readonly from: number; readonly to: number };

/** A trade on the rates of one currency, complete and valid. */
export interface RatesTrade {
  readonly kind: "rates";
  readonly id: string;
  readonly currency: string;
  /** The rates, shared by reference among the trades of one currency. */
  readonly rates: RatesModel;
  readonly product: RatesProduct;
  /** The time to the last payment or right in years, > 0. */
  readonly expiry: number;
  /** The clean market price of the bond, for its option-adjusted spread. */
  readonly marketPrice?: number;
  readonly quantity: number;
  readonly tags?: Tags;
}

/** The time of a key rate in years, and ∂V/∂z of its zero rate, per 1.00. */
export type KeyRate = readonly [time: number, value: number];

/** The numbers that only results of trades on rates have. */
export interface RatesFigures {
  /** The price of a bond without accrued interest. */
  readonly clean?: number;
  readonly accrued?: number;
  /** The yield of a bond to maturity, continuously compounded. */
  readonly yield?: number;
  readonly duration?: number;
  readonly convexity?: number;
  /** The parallel move of the rates that reproduces the market price of a bond, if the book has one. */
  readonly optionAdjustedSpread?: number;
  /** The sensitivities to key rates. */
  readonly keyRates?: readonly KeyRate[];
  /** The sensitivities to the parameters of the rates' model, as the book names them, per 1.00. */
  readonly parameters?: Readonly<Record<string, number>>;
}
