import type { Dividends, ForwardCurve, PiecewiseConstant } from "../../market/index.ts";

/**
 * A coupon of a bond. Interest accrues linearly from the previous coupon date (`accruesFrom`), which may lie in the
 * past. Times are in years from now.
 */
export interface Coupon {
  readonly time: number;
  readonly amount: number;
  readonly accruesFrom: number;
}

/** The period of a right in years from now, or its date (`from` = `to`). */
export interface Period {
  readonly from: number;
  readonly to: number;
}

/**
 * A right of the issuer to call the bond at a clean price plus accrued interest, while the spot is at the trigger or
 * above.
 */
export interface Call extends Period {
  readonly price: number;
  /** The lowest spot at which the bond may be called; 0 if there is no trigger. */
  readonly trigger: number;
}

/** A right of the holder to sell the bond back at a clean price plus accrued interest. */
export interface Put extends Period {
  readonly price: number;
}

/** A right of the holder to convert the bond into `ratio` shares. */
export interface Conversion extends Period {
  readonly ratio: number;
}

/** A convertible bond. Amounts are in the currency, times in years from now. */
export interface Convertible {
  readonly notional: number;
  /** The maturity, > 0. */
  readonly maturity: number;
  /** The coupons in order of time, after now and up to maturity. */
  readonly coupons: readonly Coupon[];
  /** The conversion rights, in periods or on dates; they do not overlap. */
  readonly conversions: readonly Conversion[];
  readonly calls: readonly Call[];
  readonly puts: readonly Put[];
  /** The fraction of the call price that belongs to the cash-only part, which is discounted with the spread: 1 or 0. */
  readonly calledCash: number;
}

/**
 * The issuer's credit risk: a spread on cash payments (Tsiveriotis and Fernandes), or default at a hazard rate (Ayache,
 * Forsyth and Vetzal). Spread and hazard rate are per year.
 */
export type Credit =
  | { readonly kind: "spread"; readonly spread: PiecewiseConstant }
  | {
      readonly kind: "hazard";
      /** The hazard rate per year at the reference spot. */
      readonly hazard: PiecewiseConstant;
      /** The exponent of the hazard rate, which is proportional to (S/reference)^exponent. */
      readonly exponent: number;
      readonly reference: number;
      /** The fraction of the notional paid at default. */
      readonly recovery: number;
      /** The fraction η of the stock price lost at default: the stock falls to (1 − η)·S. */
      readonly jump: number;
    };

/** The volatility per √year: σ(t) piecewise constant, or a function σ(S, t). */
export type ConvertibleVolatility = PiecewiseConstant | ((spot: number, t: number) => number);

/** The market in which a convertible is priced. */
export interface ConvertibleMarket {
  readonly rates: ForwardCurve;
  readonly dividends: Dividends;
  readonly volatility: ConvertibleVolatility;
  readonly credit: Credit;
}

/** The difference in years below which two times are the same date. */
export const SAME_TIME = 1e-9;

/** Tells whether the period of a right is a single date. */
export const isDate = ({ from, to }: Period): boolean => to - from <= SAME_TIME;

/**
 * Tells whether a period contains the whole interval from `start` to `end`; for a right on a date, whether both are
 * that date.
 */
export const covers = ({ from, to }: Period, start: number, end: number): boolean =>
  from <= start + SAME_TIME && to >= end - SAME_TIME;

/**
 * Returns the interest accrued at time t, in the currency. On a coupon date it is the whole coupon, or with `after`
 * zero.
 */
export function accruedInterest(coupons: readonly Coupon[], t: number, after: boolean): number {
  const coupon = coupons.find(({ time }) => (after ? time > t + SAME_TIME : time > t - SAME_TIME));
  if (coupon === undefined) return 0;
  const { time, amount, accruesFrom } = coupon;
  return amount * Math.min(Math.max((t - accruesFrom) / (time - accruesFrom), 0), 1);
}

/** Returns the conversion ratio at maturity; 0 if the bond cannot be converted then. */
export function ratioAtMaturity({ conversions, maturity }: Convertible): number {
  return conversions.find(({ from, to }) => from <= maturity + SAME_TIME && to >= maturity - SAME_TIME)?.ratio ?? 0;
}
