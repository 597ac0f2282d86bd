import type { Dividends, ForwardCurve, PiecewiseConstant } from "../market/index.ts";

/** A coupon; interest accrues linearly from the previous coupon date, which may lie in the past. */
export interface Coupon {
  readonly time: number;
  readonly amount: number;
  readonly accruesFrom: number;
}

/** A right between two dates, or on one date (`from` = `to`), in years. */
export interface Period {
  readonly from: number;
  readonly to: number;
}

/** A right to call at a clean price plus accrued interest, at spots from the trigger on. */
export interface Call extends Period {
  readonly price: number;
  /** The trigger; 0 for none. */
  readonly trigger: number;
}

/** A right to put at a clean price plus accrued interest. */
export interface Put extends Period {
  readonly price: number;
}

/** The right to convert into `ratio` shares. */
export interface Conversion extends Period {
  readonly ratio: number;
}

/** A convertible bond; amounts are in the currency, times in years. */
export interface Convertible {
  readonly notional: number;
  /** The maturity, > 0. */
  readonly maturity: number;
  /** The coupons by time, after now and up to maturity. */
  readonly coupons: readonly Coupon[];
  /** The conversion rights, in periods and on dates, which do not overlap. */
  readonly conversions: readonly Conversion[];
  readonly calls: readonly Call[];
  readonly puts: readonly Put[];
  /** The cash-only part where the bond is called for cash: the price (1), or 0. */
  readonly calledCash: number;
}

/** The issuer's credit: Tsiveriotis and Fernandes' spread on cash payments, or default at a hazard rate. */
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

/** The volatility σ(t), or σ(S, t). */
export type ConvertibleVolatility = PiecewiseConstant | ((spot: number, t: number) => number);

/** The market in which a convertible is priced. */
export interface ConvertibleMarket {
  readonly rates: ForwardCurve;
  readonly dividends: Dividends;
  readonly volatility: ConvertibleVolatility;
  readonly credit: Credit;
}

/** The difference below which two times are one date. */
export const SAME_TIME = 1e-9;

/** Tells whether a right is on one date. */
export const isDate = ({ from, to }: Period): boolean => to - from <= SAME_TIME;

/** Tells whether a period contains a whole interval, or a right's date is the time. */
export const covers = ({ from, to }: Period, start: number, end: number): boolean =>
  from <= start + SAME_TIME && to >= end - SAME_TIME;

/** Returns the interest accrued at a time; just before a coupon all of it, `after` it none. */
export function accruedInterest(coupons: readonly Coupon[], t: number, after: boolean): number {
  const coupon = coupons.find(({ time }) => (after ? time > t + SAME_TIME : time > t - SAME_TIME));
  if (coupon === undefined) return 0;
  const { time, amount, accruesFrom } = coupon;
  return amount * Math.min(Math.max((t - accruesFrom) / (time - accruesFrom), 0), 1);
}

/** Returns the conversion ratio at maturity; 0 without a right. */
export function ratioAtMaturity({ conversions, maturity }: Convertible): number {
  return conversions.find(({ from, to }) => from <= maturity + SAME_TIME && to >= maturity - SAME_TIME)?.ratio ?? 0;
}
