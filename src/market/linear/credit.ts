/** Credit default swaps by ISDA's standard model as flows: protection, coupons, and the coupon accrued at default. */
import { type Calendar, creditDates, type Day } from "../conventions/index.ts";
import { fixedFlow, type PaidFlow, timeOf } from "./legs.ts";

/** The terms of a credit default swap on a notional of 1, with a coupon of 1 a year and a loss of 1 at default. */
export interface CreditSwapSpec {
  /** The day of the trade, on which protection begins, and its last day. */
  readonly traded: Day;
  readonly maturity: Day;
  readonly calendar: Calendar;
  /** The number of the discount curve, and of the curve of survival probabilities. */
  readonly discount: number;
  readonly survival: number;
}

/** The flows of a credit default swap after the reference day. */
export interface CreditSwap {
  readonly protection: readonly PaidFlow[];
  readonly premium: readonly PaidFlow[];
}

/** The part of a day that the model adds to the coupon accrued at default. */
const HALF_A_DAY = 0.5;

/** The business days from a trade to the payment of its upfront. */
const SETTLEMENT_DAYS = 3;

/** The days of a coupon's year. */
const YEAR = 360;

/**
 * Returns the flows of a standard credit default swap: coupons on credit dates, Act/360 and one day more for the last
 * one, each if the issuer lives at the end of the day before the period's end; at default the coupon accrued so far and
 * half a day more, and the loss. The hazard rate and the forward rate are constant between coupon dates and the nodes
 * of the curves on which the flows are valued.
 */
export function creditSwapOf(spec: CreditSwapSpec, reference: Day): CreditSwap {
  const { traded, maturity, calendar, discount, survival } = spec;
  const dates = creditDates(traded, maturity, calendar);
  const begin = Math.max(traded, reference);
  /** A payment at default from one day to another: linear from one amount to the other. */
  const atDefault = (first: Day, last: Day, from: number, to: number): PaidFlow => {
    const [start, end] = [timeOf(first, reference), timeOf(last, reference)];
    const payment = { discount, survival, start, end, from, to };
    return { date: last, scale: 1, factors: [], fixed: 0, gearing: 0, atDefault: payment };
  };
  const protection: PaidFlow[] = [];
  const premium: PaidFlow[] = [];
  for (let k = 0; k + 1 < dates.length; k++) {
    const [start, next] = [dates[k], dates[k + 1]];
    const end = k + 2 === dates.length ? next + 1 : next;
    const paid = calendar.adjust(next, "following");
    const alive = end - 1;
    if (paid > reference) {
      const coupon = fixedFlow((end - start) / YEAR, paid, reference, discount);
      const survived = { curve: survival, time: timeOf(alive, reference), power: 1 } as const;
      premium.push(alive > reference ? { ...coupon, factors: [...coupon.factors, survived] } : coupon);
    }
    const from = Math.max(start - 1, begin);
    if (alive <= from) continue;
    const [first, last] = [from, alive].map((day) => (day - start + 1 + HALF_A_DAY) / YEAR);
    premium.push(atDefault(from, alive, first, last));
    protection.push(atDefault(from, alive, 1, 1));
  }
  return { protection, premium };
}

/**
 * Returns the coupon that has accrued until the end of a day, as a fraction of a year, and when it is settled if the
 * swap is traded on that day.
 */
export function creditSettlement(
  { maturity, calendar }: Pick<CreditSwapSpec, "maturity" | "calendar">,
  traded: Day,
): { readonly accrued: number; readonly settled: Day } {
  const [start] = creditDates(traded, maturity, calendar);
  const accrued = (Math.min(traded, maturity) + 1 - start) / YEAR;
  return { accrued, settled: calendar.addBusinessDays(traded, SETTLEMENT_DAYS) };
}

/** Returns flows times a number. */
export const timesOf = (flows: readonly PaidFlow[], by: number): PaidFlow[] =>
  flows.map((flow) => ({ ...flow, scale: flow.scale * by }));
