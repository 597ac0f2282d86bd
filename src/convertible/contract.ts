import type { Dividends, ForwardCurve, PiecewiseConstant } from "../market/index.ts";

/** A coupon; interest accrues linearly from the coupon date before, which may lie in the past. */
export interface Coupon {
  readonly time: number;
  readonly amount: number;
  readonly accruesFrom: number;
}

/** A right from a date to another, or on one date (`from` = `to`), in years. */
export interface Period {
  readonly from: number;
  readonly to: number;
}

/** A right to call, at a clean price, at spots from the trigger on; accrued interest is paid on top. */
export interface Call extends Period {
  readonly price: number;
  /** 0 without one. */
  readonly trigger: number;
}

/** A right to put, at a clean price; accrued interest is paid on top. */
export interface Put extends Period {
  readonly price: number;
}

/** The right to convert into `ratio` shares. */
export interface Conversion extends Period {
  readonly ratio: number;
}

/** A convertible bond, in the currency; times in years. */
export interface Convertible {
  readonly notional: number;
  /** > 0. */
  readonly maturity: number;
  /** The coupons by time, from after now to maturity. */
  readonly coupons: readonly Coupon[];
  /** Continuous periods and dates; they do not overlap. */
  readonly conversions: readonly Conversion[];
  readonly calls: readonly Call[];
  readonly puts: readonly Put[];
  /** The value of the cash-only part where the bond is called for cash: the price (1), or 0. */
  readonly calledCash: number;
}

/** The issuer's credit: Tsiveriotis and Fernandes' spread on what is paid in cash, or default by a hazard rate. */
export type Credit =
  | { readonly kind: "spread"; readonly spread: PiecewiseConstant }
  | {
      readonly kind: "hazard";
      /** Per year, at the reference spot. */
      readonly hazard: PiecewiseConstant;
      /** The hazard rate is proportional to (S/reference)^exponent. */
      readonly exponent: number;
      readonly reference: number;
      /** The part of the notional that is paid at default. */
      readonly recovery: number;
      /** η: the stock falls to (1 − η)·S. */
      readonly jump: number;
    };

/** σ(t), or σ(S, t). */
export type ConvertibleVolatility = PiecewiseConstant | ((spot: number, t: number) => number);

/** The market that a convertible is priced with. */
export interface ConvertibleMarket {
  readonly rates: ForwardCurve;
  readonly dividends: Dividends;
  readonly volatility: ConvertibleVolatility;
  readonly credit: Credit;
}

/** Times that differ by less are one date. */
export const SAME_TIME = 1e-9;

export const isDate = ({ from, to }: Period): boolean => to - from <= SAME_TIME;

/** Tells whether a period has the whole of an interval inside, or the date of a right is the time. */
export const covers = ({ from, to }: Period, start: number, end: number): boolean =>
  from <= start + SAME_TIME && to >= end - SAME_TIME;

/** Interest accrued at a time; just before a coupon the whole of it, `after` it none. */
export function accruedInterest(coupons: readonly Coupon[], t: number, after: boolean): number {
  const coupon = coupons.find(({ time }) => (after ? time > t + SAME_TIME : time > t - SAME_TIME));
  if (coupon === undefined) return 0;
  const { time, amount, accruesFrom } = coupon;
  return amount * Math.min(Math.max((t - accruesFrom) / (time - accruesFrom), 0), 1);
}

/** The ratio at which the bond is converted at maturity; 0 if it cannot be. */
export function ratioAtMaturity({ conversions, maturity }: Convertible): number {
  return conversions.find(({ from, to }) => from <= maturity + SAME_TIME && to >= maturity - SAME_TIME)?.ratio ?? 0;
}
