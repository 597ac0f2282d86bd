/** Swings by convolution: published cases, two dates, one right, bounds and orders, Greeks, against other methods. */
import { afterAll, describe, expect, test } from "vitest";
import { type BookInput, type PricedTrade, readBook } from "../../../src/book/index.ts";
import { createCpuDevice } from "../../../src/device/cpu/index.ts";
import { blackScholes } from "../../../tools/properties/closed-forms.ts";
import { priceBook } from "../../../src/pricing/index.ts";
import { readFixture } from "../../support/fixtures.ts";

const device = createCpuDevice({ threads: 1 });
afterAll(() => {
  expect(device.liveBuffers).toBe(0);
  device[Symbol.dispose]();
});

type Options = Omit<Parameters<typeof priceBook>[1], "device">;

async function priced(book: BookInput, options: Options = {}): Promise<PricedTrade[]> {
  const { results } = await priceBook(readBook(book), { device, ...options });
  return results.map((result) => {
    if (result.status === "error") throw new Error(result.error.message);
    return result;
  });
}

interface Case {
  readonly id: string;
  readonly product: string;
  readonly params: {
    readonly model: string;
    readonly option_type: string;
    readonly s0: number;
    readonly strike: number;
    readonly rate: number;
    readonly dividend_yield?: number;
    readonly sigma: number;
    readonly alpha: number;
    readonly alpha1: number;
    readonly alpha2: number;
    readonly sigma1: number;
    readonly sigma2: number;
    readonly rho: number;
    readonly exercise_times: string | readonly number[];
    readonly q_min: number;
    readonly q_max: number;
  };
  readonly expected: { readonly price: number };
  readonly uncertainty_abs: number;
}
const { cases } = readFixture("reference/swing.json") as { readonly cases: readonly Case[] };

interface SwingTerms {
  readonly spot?: number;
  readonly rate?: number;
  readonly yield?: number;
  readonly volatility: unknown;
  readonly payoff?: string;
  readonly strike: number;
  readonly dates: readonly number[];
  readonly min?: number;
  readonly max: number;
}

function bookOf(terms: SwingTerms, rest: object = {}): BookInput {
  const { spot = 100, rate = 0, yield: q = 0, volatility, payoff = "call", strike, dates, min = 0, max } = terms;
  const expiry = dates[dates.length - 1];
  return {
    asOf: "2026-01-01",
    market: {
      rates: { EUR: rate },
      underlyings: { A: { spot, currency: "EUR", volatility, dividends: { yield: q } } },
    },
    trades: [{ id: "1", underlying: "A", payoff, strike, expiry, swing: { dates, min, max }, ...rest }],
  } as unknown as BookInput;
}

const factors = (alpha: readonly number[], sigma: readonly number[], rho = 0) => ({
  gaussianFactors: { alpha, sigma, rho },
});
const months = Array.from({ length: 12 }, (_, k) => k / 12);

describe("published cases", () => {
  test.each(cases.map((one) => [one.id, one] as const))(
    "%s",
    async (_id, { product, params: p, expected, uncertainty_abs: uncertainty }) => {
      const dates =
        typeof p.exercise_times === "string" ? Array.from({ length: 365 }, (_, k) => k / 365) : p.exercise_times;
      const two = factors([p.alpha1, p.alpha2], [p.sigma1, p.sigma2], p.rho);
      const volatility = p.model === "gbm" ? p.sigma : p.model === "gauss_2f" ? two : factors([p.alpha], [p.sigma]);
      const { s0: spot, rate, strike, option_type: payoff, q_min: min, q_max: max } = p;
      // The forward curve is flat where the yield equals the rate.
      const terms = { spot, rate, yield: p.dividend_yield ?? rate, volatility, payoff, strike, dates, min, max };
      const [{ value, errorEstimate, method }] = await priced(bookOf(terms), { greeks: "none" });
      const error = Math.abs(value - expected.price);
      expect(error).toBeLessThan(errorEstimate + uncertainty);
      expect(error).toBeLessThan(1e-10 + (product === "swing_degenerate" ? 0 : 1e-5 * Math.abs(value)) + uncertainty);
      expect(method).toMatch(product === "swing_degenerate" ? /^(black-scholes|deterministic)$/ : /^convolution$/);
    },
  );
});

describe("two dates", () => {
  test("a call without dividends is never taken early", async () => {
    const dates = [1, 2];
    const exact = blackScholes({ spot: 100, rate: 0.03, yield: 0, volatility: 0.2, expiry: 2 }, "call", 100);
    let before = Infinity;
    for (const accuracy of [1e-3, 1e-7, 1e-8]) {
      const book = bookOf({ rate: 0.03, volatility: 0.2, strike: 100, dates, max: 1 });
      const [{ value, errorEstimate }] = await priced(book, { greeks: "none", accuracy: { relative: accuracy } });
      expect(Math.abs(value - exact)).toBeLessThan(errorEstimate);
      expect(errorEstimate).toBeLessThan(Math.min(before, accuracy * 100));
      before = errorEstimate;
    }
  });

  test("a factor that reverts: the integral of the larger of payoff and continuation", async () => {
    const terms = { rate: 0.03, volatility: factors([5], [1]), strike: 110, dates: [1, 2], max: 1 };
    // The integral by 400,001 points.
    const exact = 17.587992;
    for (const accuracy of [1e-3, 1e-7]) {
      const [{ value, errorEstimate }] = await priced(bookOf(terms), {
        greeks: "none",
        accuracy: { relative: accuracy },
      });
      expect(Math.abs(value - exact)).toBeLessThan(errorEstimate + 5e-7);
      expect(errorEstimate).toBeLessThan(accuracy * 100);
    }
  });
});

describe("two factors", () => {
  const gas = factors([0.21, 5.4], [0.36, 1.11], -0.11);
  const terms = { spot: 20, strike: 20, dates: months, min: 2, max: 5 };

  test("the order of the factors does not matter, and one factor may be given as two", async () => {
    const swapped = factors([5.4, 0.21], [1.11, 0.36], -0.11);
    const [one] = await priced(bookOf({ ...terms, volatility: gas }));
    const [other] = await priced(bookOf({ ...terms, volatility: swapped }));
    expect(Math.abs(one.value - other.value)).toBeLessThan(one.errorEstimate + other.errorEstimate);
    for (const name of ["delta", "gamma", "theta", "vega", "rho"] as const)
      expect(Math.abs(one[name]! - other[name]!)).toBeLessThan(2e-4 * Math.abs(one[name]!) + 1e-4);
    // A factor that hardly moves changes nothing.
    const [single] = await priced(bookOf({ ...terms, volatility: factors([4], [0.7]) }), { greeks: "none" });
    const [double] = await priced(bookOf({ ...terms, volatility: factors([4, 1], [0.7, 1e-6]) }), { greeks: "none" });
    expect(Math.abs(single.value - double.value)).toBeLessThan(single.errorEstimate + double.errorEstimate + 1e-4);
  });

  test("values do not depend on the book", async () => {
    const book = bookOf({ ...terms, volatility: gas });
    const [alone] = await priced(book, { greeks: "none" });
    const [trade] = book.trades as object[];
    const together = { ...book, trades: [trade, { ...trade, id: "2", strike: 25 }] } as BookInput;
    const [first, second] = await priced(together, { greeks: "none" });
    expect(first.value).toBe(alone.value);
    expect(second.value).toBeLessThan(first.value);
  });
});

test("Greeks of a strip whose bounds bind just not are nearly those of options", async () => {
  // Of twelve dates eleven may be taken, deep out of the money: a twelfth right is worth nothing.
  const terms = { volatility: factors([4], [0.7]), strike: 160, dates: months, max: 11 };
  const [swing] = await priced(bookOf(terms));
  const [strip] = await priced(bookOf({ ...terms, max: 12 }));
  expect([swing.method, strip.method]).toEqual(["convolution", "black-scholes"]);
  for (const name of ["value", "delta", "gamma", "theta", "vega", "rho"] as const)
    expect(Math.abs(swing[name]! - strip[name]!)).toBeLessThan(2e-3 * Math.abs(strip[name]!) + 1e-5);
});
