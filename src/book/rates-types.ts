/** The types of trades on interest rates after parsing: immutable plain data, with times in years from `asOf`. */
import type { ForwardCurve, RatesModel } from "../market/index.ts";
import type { Tags } from "./tags.ts";

/** A period over which interest accrues. Its start and end are years from `asOf`, with `end` > `start`. */
export interface Period {
  readonly start: number;
  readonly end: number;
}

/** A period of a leg: the fraction of a year for which interest is paid, and when. Times are years from `asOf`. */
export interface LegPeriod extends Period {
  readonly accrual: number;
  /** The time of payment, `end` or later. */
  readonly paid: number;
}

/** A period of a leg with floating rates. */
export interface FloatingPeriod extends LegPeriod {
  /** The time at which the rate is published, `start` or earlier. */
  readonly fixed: number;
  /** The rate, if it is known. */
  readonly rate: number | undefined;
}

/** A period of a cap or floor, with the quoted volatility of its rate, if there is one. */
export interface CapPeriod extends FloatingPeriod {
  readonly quote: RateQuote | undefined;
}

/** The payments of a bond after `asOf`. Amounts are for the bond's notional. */
export interface Bond {
  /** The payments [time, amount] with times increasing and > 0, coupons and redemption together. */
  readonly flows: readonly (readonly [time: number, amount: number])[];
  /**
   * The coupons among the payments, with their accrual periods. The list is empty if the book gives the payments one by
   * one.
   */
  readonly coupons: readonly (Period & { readonly amount: number })[];
  /** The notional to which prices refer. */
  readonly notional: number;
}

/**
 * A right to redeem a bond at a clean price plus accrued interest, at one time (`from` = `to`) or throughout a window.
 * A coupon at the same time is paid first. Times are years from `asOf`.
 */
export interface RedemptionRight {
  /** The first time of exercise. */
  readonly from: number;
  /** The last time of exercise. */
  readonly to: number;
  /** The years from exercise to redemption. */
  readonly notice: number;
  /** The clean price for the notional. */
  readonly price: number;
}

/**
 * A quoted volatility of a forward rate or swap rate, with which a trade is priced without a model of the short rate.
 */
export type RateQuote =
  /** Lognormal with a displacement: d(F + shift) = σ·(F + shift) dW. Black's model where the shift is 0. */
  | { readonly kind: "displaced"; readonly sigma: number; readonly shift: number }
  /** Bachelier's model: dF = σ dW. */
  | { readonly kind: "normal"; readonly sigma: number };

/** The product of a trade on interest rates. */
export type RatesProduct =
  /** A bond, possibly with calls of the issuer and puts of the holder. */
  | {
      readonly kind: "bond";
      readonly bond: Bond;
      readonly calls: readonly RedemptionRight[];
      readonly puts: readonly RedemptionRight[];
    }
  /** An option to buy or sell a bond. The bond's payments after exercise belong to its new owner. */
  | {
      readonly kind: "bondOption";
      readonly right: "call" | "put";
      readonly strike: number;
      /** The kind of strike. With a clean strike, accrued interest is paid in addition. */
      readonly strikeIs: "clean" | "dirty";
      readonly bond: Bond;
      readonly exercise: RatesExercise;
    }
  /** A cap or floor: τ·max(φ·(L − strike), 0) for each period, where L is the simple rate of the period. */
  | {
      readonly kind: "capFloor";
      readonly right: "cap" | "floor";
      readonly strike: number;
      readonly notional: number;
      readonly periods: readonly CapPeriod[];
    }
  /** A swaption: the right to pay (payer) or receive strike·τ for each remaining period of a swap. */
  | {
      readonly kind: "swaption";
      readonly right: "payer" | "receiver";
      readonly strike: number;
      readonly notional: number;
      /** The periods of the fixed leg. */
      readonly periods: readonly LegPeriod[];
      readonly floating: readonly FloatingPeriod[];
      readonly exercise: RatesExercise;
      readonly quote: RateQuote | undefined;
    };

/**
 * The times at which a right may be exercised, in years from `asOf`: on dates (increasing, ≥ 0; a single date is
 * European), or at any time between two.
 */
export type RatesExercise =
  | { readonly kind: "dates"; readonly times: readonly number[] }
  | { readonly kind: "american"; readonly from: number; readonly to: number };

/** A trade on the interest rates of one currency after reading: complete and valid. @stable */
export interface RatesTrade {
  readonly kind: "rates";
  readonly id: string;
  readonly currency: string;
  /** The interest rates. Trades in the same currency share this object. */
  readonly rates: RatesModel;
  /**
   * The curve that projects floating rates; undefined where it is that of `rates`. The ratio of growth along both over
   * a period does not change: a move of the rates moves both.
   */
  readonly projection?: ForwardCurve;
  readonly product: RatesProduct;
  /** The time to the last payment or right in years, > 0. */
  readonly expiry: number;
  /** The clean market price of the bond, for its option-adjusted spread. */
  readonly marketPrice?: number;
  /** The number of units held, negative when sold. Results are per unit. */
  readonly quantity: number;
  /** Texts and numbers by name that the result repeats. */
  readonly tags?: Tags;
}

/**
 * A sensitivity to one node of the zero curve: the time of the node in years, and ∂V/∂z with respect to its zero rate
 * z, per 1.00.
 */
export type KeyRate = readonly [time: number, value: number];

/** The numbers that only results of trades on interest rates have. */
export interface RatesFigures {
  /** The price of a bond without accrued interest. */
  readonly clean?: number;
  /** The accrued interest of a bond. */
  readonly accrued?: number;
  /** The yield of a bond to maturity, continuously compounded. */
  readonly yield?: number;
  /** The duration −P′/P of a bond with respect to its yield, in years. */
  readonly duration?: number;
  /** The convexity P″/P of a bond with respect to its yield, in years². */
  readonly convexity?: number;
  /**
   * The parallel move of interest rates with which the model reproduces the market price of a bond, if the book gives
   * one.
   */
  readonly optionAdjustedSpread?: number;
  /** The sensitivities to the nodes of the zero curve. */
  readonly keyRates?: readonly KeyRate[];
  /** The sensitivities to the parameters of the short rate model, by their names in the book, per 1.00. */
  readonly parameters?: Readonly<Record<string, number>>;
}
