/** The published cases of convertible bonds, as books. */
import type { BookInput, ConvertibleInput, CreditInput } from "../../../src/book/index.ts";
import { readFixture } from "../../support/fixtures.ts";

export interface ReferenceCase {
  readonly id: string;
  readonly params: {
    readonly face: number;
    readonly conversion_ratio: number;
    readonly maturity: number;
    readonly rate: number;
    readonly dividend_yield: number;
    readonly volatility: number;
    readonly spots: readonly number[];
    readonly coupon_amount: number;
    readonly coupon_period: number;
    readonly conversion_start: number;
    readonly conversion: "continuous" | "maturity" | "none" | readonly number[];
    readonly call_windows: readonly (readonly [number, number, number, number])[];
    readonly call_dates: readonly (readonly [number, number, number])[];
    readonly put_dates: readonly (readonly [number, number])[];
    readonly cash_dividends: readonly (readonly [number, number])[];
    readonly credit_spread?: number;
    readonly hazard_rate?: number;
    readonly recovery?: number;
    readonly stock_jump_eta?: number;
    readonly called_cash_component?: "call_price" | "zero";
  };
  readonly expected: { readonly prices: readonly number[] };
  readonly tolerance: { readonly abs: number; readonly rel: number };
}

export const { cases: convertibleCases } = readFixture("reference/convertible-bond.json") as {
  readonly cases: readonly ReferenceCase[];
};

/** A book with an underlying and a trade for each spot. */
export function bookOf({ params: p }: ReferenceCase): BookInput {
  const credit: CreditInput =
    p.hazard_rate === undefined
      ? { spread: p.credit_spread ?? 0 }
      : { hazard: p.hazard_rate, recovery: p.recovery ?? 0, jump: p.stock_jump_eta ?? 0 };
  const frequency = 1 / p.coupon_period;
  const convertible: ConvertibleInput["convertible"] = {
    maturity: p.maturity,
    coupon: (p.coupon_amount * frequency) / p.face,
    frequency,
    notional: p.face,
    ratio: p.conversion_ratio,
    conversion:
      p.conversion === "continuous"
        ? p.conversion_start === 0
          ? "american"
          : { from: p.conversion_start, to: p.maturity }
        : p.conversion === "maturity"
          ? "european"
          : p.conversion,
    calls: [
      ...p.call_windows.map(([from, to, price, trigger]) => ({ from, to, price, trigger })),
      ...p.call_dates.map(([date, price, trigger]) => ({ date, price, trigger })),
    ],
    puts: p.put_dates.map(([date, price]) => ({ date, price })),
    calledCashComponent: p.called_cash_component === "zero" ? "zero" : "callPrice",
  };
  const underlying = (spot: number) => ({
    spot,
    currency: "EUR",
    volatility: p.volatility,
    dividends: { yield: p.dividend_yield, discrete: p.cash_dividends.map(([date, cash]) => ({ date, cash })) },
  });
  return {
    asOf: "2026-11-20",
    market: {
      rates: { EUR: p.rate },
      underlyings: Object.fromEntries(p.spots.map((spot, i) => [`S${i}`, underlying(spot)])),
      credit: Object.fromEntries(p.spots.map((_, i) => [`S${i}`, credit])),
    },
    trades: p.spots.map((_, i) => ({ id: `${i}`, underlying: `S${i}`, convertible })),
  };
}
