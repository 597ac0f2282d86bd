/** Trades on rates by finite differences, from the book to the result. */
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { readBook } from "../../src/book/index.ts";
import type { PricedTrade } from "../../src/book/index.ts";
import { createCpuDevice } from "../../src/device/cpu/index.ts";
import { priceBook, type PricingOptions } from "../../src/pricing/index.ts";
import { counted } from "../support/extent.ts";
import { readFixture } from "../support/fixtures.ts";

const device = createCpuDevice({ threads: 1 });
afterAll(() => {
  expect(device.liveBuffers).toBe(0);
  device[Symbol.dispose]();
});

type Terms = Readonly<Record<string, unknown>>;

async function priced(
  rates: Terms,
  trades: readonly Terms[],
  options: Partial<PricingOptions> = {},
  scenarios?: Terms,
): Promise<readonly PricedTrade[]> {
  const named = trades.map((trade, i) => ({ id: String(i), currency: "EUR", ...trade }));
  const market = { rates: { EUR: rates } };
  const book = readBook({ asOf: "2026-01-01", market, trades: named, ...(scenarios && { scenarios }) });
  const { results } = await priceBook(book, { device, ...options });
  return results.map((result) => {
    if (result.status !== "ok") throw new Error(JSON.stringify(result.error));
    return result;
  });
}

interface Reference {
  readonly id: string;
  readonly product: string;
  readonly params: {
    readonly curve_times: readonly number[];
    readonly curve_zero_rates: readonly number[];
    readonly mean_reversion: number;
    readonly volatility: number;
    readonly kind: string;
    readonly fixed_rate: number;
    readonly exercise_times: readonly number[];
    readonly last_payment: number;
    readonly accrual: number;
  };
  readonly expected: { readonly price: number };
  readonly uncertainty_abs: number;
}

const { cases } = readFixture("reference/rates-products.json") as { readonly cases: readonly Reference[] };

describe("Black and Karasinski's model", () => {
  const blackKarasinski = { meanReversion: 0.1, volatility: 0.25, curve: 0.03 };
  const rates = { blackKarasinski };

  test.each(cases.filter(({ product }) => product.startsWith("black_karasinski")))(
    "$id, $product: the reference value",
    async ({ params, expected, uncertainty_abs: uncertainty }) => {
      const curve = params.curve_times.map((date, i) => ({ date, zero: params.curve_zero_rates[i] }));
      const model = { meanReversion: params.mean_reversion, volatility: params.volatility, curve };
      const { exercise_times: exercise, last_payment: end, accrual, kind, fixed_rate: strike } = params;
      const swap = { start: exercise[0], end, frequency: 1 / accrual, notional: 1 };
      const trade = { swaption: kind, strike, exercise, swap };
      const [{ value, method, errorEstimate }] = await priced({ blackKarasinski: model }, [trade]);
      expect(method).toBe("fdm");
      expect(Math.abs(value - expected.price)).toBeLessThan(uncertainty);
      expect(errorEstimate).toBeLessThan(1e-7);
    },
  );

  const swap = { start: 2, end: 6, frequency: 2, notional: 100 };
  const leg = { start: 0.5, end: 5, frequency: 2, notional: 100 };
  const bond = { maturity: 6, coupon: 0.04, frequency: 2, notional: 100 };
  const discount = (t: number): number => Math.exp(-0.03 * t);
  const annuity = (from: number, to: number): number => {
    return Array.from({ length: 2 * (to - from) }, (_, i) => 0.5 * discount(from + 0.5 * (i + 1))).reduce(
      (a, b) => a + b,
    );
  };

  test("parities: swaps, caps less floors, callable and puttable bonds", async () => {
    const strike = 0.031;
    const on = { strike: 101, strikeIs: "clean", expiry: 2.25, on: { bond } };
    const right = [{ date: 2.25, price: 101 }];
    const [payer, receiver, cap, floor, call, put, straight, callable, puttable] = await priced(rates, [
      { swaption: "payer", strike, expiry: 2, swap },
      { swaption: "receiver", strike, expiry: 2, swap },
      { cap: leg, strike },
      { floor: leg, strike },
      { payoff: "call", ...on },
      { payoff: "put", ...on },
      { bond },
      { bond: { ...bond, calls: right } },
      { bond: { ...bond, puts: right } },
    ]);
    const forward = 100 * (discount(2) - discount(6) - strike * annuity(2, 6));
    expect(payer.value - receiver.value).toBeCloseTo(forward, 5);
    expect(cap.value - floor.value).toBeCloseTo(100 * (discount(0.5) - discount(5) - strike * annuity(0.5, 5)), 5);
    expect(callable.value).toBeCloseTo(straight.value - call.value, 5);
    expect(puttable.value).toBeCloseTo(straight.value + put.value, 5);
  });

  test("sensitivities are those of repriced books, and moves below 0 have no value", async () => {
    const trades = [
      { swaption: "receiver", strike: 0.03, exercise: [1, 2, 3], swap: { ...swap, start: 1 } },
      { floor: leg, strike: 0.03 },
      { bond: { ...bond, calls: [{ from: 2, to: 5, price: 100 }] } },
    ];
    const moves = { rate: [-0.04, -1e-3, 0, 1e-3], volatility: [-0.01, 0, 0.01] };
    const results = await priced(rates, trades, {}, moves);
    const up = await priced({ blackKarasinski: { ...blackKarasinski, meanReversion: 0.105 } }, trades, {
      greeks: "none",
    });
    const low = await priced({ blackKarasinski: { ...blackKarasinski, meanReversion: 0.095 } }, trades, {
      greeks: "none",
    });
    results.forEach(({ rho, vega, keyRates = [], parameters, scenarios, value }, i) => {
      const at = (v: number, r: number): number => scenarios?.[0]?.[0]?.[v]?.[r] ?? Number.NaN;
      expect(at(1, 0)).toBeNaN();
      expect(at(1, 2)).toBe(value);
      expect(rho! / ((at(1, 3) - at(1, 1)) / 2e-3)).toBeCloseTo(1, 2);
      expect(vega! / ((at(2, 2) - at(0, 2)) / 0.02)).toBeCloseTo(1, 2);
      expect(keyRates.reduce((sum, [, one]) => sum + one, 0) / rho!).toBeCloseTo(1, 3);
      expect(parameters!.meanReversion / ((up[i].value - low[i].value) / 0.01)).toBeCloseTo(1, 2);
    });
  });
});

test("option-adjusted spreads give bonds with rights their market prices in every model", async () => {
  const bond = { maturity: 7, coupon: 0.04, frequency: 2, notional: 100, calls: [{ date: 3, price: 100 }] };
  for (const rates of [
    { hullWhite: { meanReversion: 0.1, volatility: 0.01, curve: 0.03 } },
    { blackKarasinski: { meanReversion: 0.1, volatility: 0.25, curve: 0.03 } },
    { cir: { r0: 0.02, kappa: 0.3, theta: 0.03, sigma: 0.1 } },
  ]) {
    const [{ value, scenarios }] = await priced(rates, [{ bond }], { greeks: "none" }, { rate: [0.0123] });
    const marketPrice = scenarios?.[0]?.[0]?.[0]?.[0] ?? Number.NaN;
    const [{ optionAdjustedSpread }] = await priced(rates, [{ bond, marketPrice }], { greeks: "none" });
    expect(marketPrice).toBeLessThan(value);
    expect(optionAdjustedSpread).toBeCloseTo(0.0123, 7);
  }
});

describe("other short rates", () => {
  const bond = { maturity: 7, coupon: 0.04, frequency: 2, notional: 100 };
  const european = [
    { payoff: "put", strike: 101, strikeIs: "clean", expiry: 1.3, on: { bond } },
    { floor: { start: -0.25, end: 4.75, frequency: 2, notional: 100, fixing: 0.02 }, strike: 0.03 },
    { swaption: "payer", strike: 0.03, expiry: 1, swap: { start: 1, end: 6, frequency: 2, notional: 100 } },
  ];

  test.each([
    ["cir", { r0: 0.04, kappa: 0.25, theta: 0.05, sigma: 0.09 }],
    ["cir", { r0: 0.02, kappa: 0.3, theta: 0.03, sigma: 0.25 }],
    ["hullWhite", { meanReversion: 0.1, volatility: 0.01, curve: 0.03 }],
    ["vasicek", { r0: 0.03, kappa: 0.2, theta: 0.04, sigma: 0.01 }],
  ] as const)("%s: European trades have their closed forms", async (name, model) => {
    const exact = await priced({ [name]: model }, european);
    const found = await priced({ [name]: model }, european, { method: "fdm" });
    found.forEach(({ value, errorEstimate, rho, vega, theta, method }, i) => {
      expect(method).toBe("fdm");
      expect(Math.abs(value - exact[i].value)).toBeLessThan(Math.min(errorEstimate, 2e-4));
      expect(rho! / exact[i].rho!).toBeCloseTo(1, 3);
      expect(vega! / exact[i].vega!).toBeCloseTo(1, 2);
      expect(theta!).toBeCloseTo(exact[i].theta!, 2);
    });
  });

  test("early exercise under CIR is worth its part, and a swaption on one date is European", async () => {
    const cir = { r0: 0.02, kappa: 0.3, theta: 0.03, sigma: 0.25 };
    const swap = { start: 1, end: 6, frequency: 2, notional: 100 };
    const [one, three, straight, called, window] = await priced({ cir }, [
      { swaption: "receiver", strike: 0.03, expiry: 1, swap },
      { swaption: "receiver", strike: 0.03, exercise: [1, 2, 3], swap },
      { bond },
      { bond: { ...bond, calls: [{ date: 3, price: 100 }] } },
      { bond: { ...bond, calls: [{ from: 3, to: 7, price: 100 }] } },
    ]);
    expect(one.method).toBe("closed-form");
    expect(three.value).toBeGreaterThan(one.value);
    expect(called.value).toBeLessThan(straight.value);
    expect(window.value).toBeLessThan(called.value);
  });

  test("a volatility that is too small for a mesh is refused with the reason", async () => {
    const cir = { r0: 0.04, kappa: 0.3, theta: 0.03, sigma: 1e-5 };
    const trade = { bond: { ...bond, calls: [{ date: 3, price: 100 }] } };
    await expect(priced({ cir }, [trade])).rejects.toThrow(/cir.sigma: 0.00001 is too small/);
  });
});

describe("Hull and White's model whose volatility falls", () => {
  /** The drift outweighs what volatility is left: differences to one side were off by 2e-3. */
  test("has the values of the recursion from date to date", async () => {
    const drawn = fc.record({
      meanReversion: fc.double({ min: 0.01, max: 0.5, noNaN: true }),
      high: fc.double({ min: 0.005, max: 0.02, noNaN: true }),
      fall: fc.double({ min: 2, max: 50, noNaN: true }),
      end: fc.double({ min: 0.4, max: 4, noNaN: true }),
      start: fc.integer({ min: 1, max: 5 }),
    });
    const property = fc.asyncProperty(drawn, async ({ meanReversion, high, fall, end, start }) => {
      const volatility = [
        { date: end, volatility: high },
        { date: 50, volatility: high / fall },
      ];
      const rates = { hullWhite: { meanReversion, volatility, curve: 0.03 } };
      const swap = { start, end: start + 8, frequency: 1, notional: 100 };
      const trades = [{ swaption: "receiver", strike: 0.031, exercise: [start, start + 2], swap }];
      const [exact] = await priced(rates, trades, { greeks: "none" });
      const [found] = await priced(rates, trades, { greeks: "none", method: "fdm" });
      expect(exact.method).not.toBe("fdm");
      expect(Math.abs(found.value - exact.value)).toBeLessThan(found.errorEstimate + exact.errorEstimate);
      expect(Math.abs(found.value - exact.value)).toBeLessThan(2e-5);
    });
    await fc.assert(property, {
      numRuns: counted("FEYNKAC_FALLING_VOLATILITIES", 3, 6),
      seed: 20261128,
      endOnFailure: true,
    });
  });
});
