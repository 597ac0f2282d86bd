/** Claims with rights on dates under two Gaussian factors, against independent quadrature and the closed form. */
import { afterAll, describe, expect, test } from "vitest";
import { type PricedTrade, readBook } from "../../../src/book/index.ts";
import { createCpuDevice } from "../../../src/device/cpu/index.ts";
import { priceBook, type PricingOptions } from "../../../src/pricing/index.ts";
import {
  type PlaneMarket,
  BackwardInductionEngine,
  type ShortRateTrade,
  twoFactorInduction,
} from "../../../src/quadrature/rates/index.ts";
import { openCudaForTests } from "../../support/cuda.ts";
import { readFixture } from "../../support/fixtures.ts";

/** Random claims and their values by two_factors.py, which agree with finer grids to 1e-5. */
interface Case extends ShortRateTrade {
  readonly a: number;
  readonly sigma: number;
  readonly b: number;
  readonly eta: number;
  readonly rho: number;
  readonly rate: number;
  readonly value: number;
}

const cases = (readFixture("rates/two-factors.json") as readonly Case[]).map((one): Case => {
  return { ...one, dates: one.dates.map((date) => ({ ...date, settlement: date.time })) };
});
const markets = cases.map(({ a, sigma, b, eta, rho, rate }): PlaneMarket => {
  return { parameters: [a, sigma, b, eta, rho], logDiscount: (t) => -rate * t };
});

const device = createCpuDevice({ threads: 1 });
afterAll(() => {
  expect(device.liveBuffers).toBe(0);
  device[Symbol.dispose]();
});

const g2 = { a: 0.5, sigma: 0.01, b: 0.05, eta: 0.008, rho: -0.7, curve: 0.03 };
const swap = { start: 1, end: 6, frequency: 1, notional: 100 };
const bond = { maturity: 7, coupon: 0.03, frequency: 2, notional: 100 };

async function priced(
  trades: readonly object[],
  options: Partial<PricingOptions> = {},
  model: object = { g2 },
): Promise<readonly PricedTrade[]> {
  const named = trades.map((trade, i) => ({ id: `${i}`, currency: "EUR", ...trade }));
  const book = readBook({ asOf: "2026-01-01", market: { rates: { EUR: model } }, trades: named });
  const { results } = await priceBook(book, { device, ...options });
  return results.map((result) => {
    if (result.status !== "ok") throw new Error(JSON.stringify(result.error));
    return result;
  });
}

describe("claims under two Gaussian factors", () => {
  test("agree with independent quadrature, on the CPU and on a GPU", async () => {
    using cuda = await openCudaForTests();
    const instances = cases.map((_, k) => ({ trade: k, market: k }));
    for (const on of [device, cuda]) {
      if (on === undefined) continue;
      using engine = new BackwardInductionEngine(twoFactorInduction, on);
      const [coarse, fine] = [
        await engine.values(cases, markets, instances, { density: 2, reach: 6 }),
        await engine.values(cases, markets, instances, { density: 3, reach: 7 }),
      ];
      cases.forEach(({ value }, k) => {
        expect(Math.abs(fine[k] - value)).toBeLessThan(2e-5);
        expect(Math.abs(fine[k] - coarse[k])).toBeLessThan(2e-5);
      });
    }
  });

  test("are the closed form where there is one date, with all sensitivities", async () => {
    const trades = [
      { swaption: "payer", strike: 0.03, expiry: 1, swap },
      { payoff: "put", strike: 98, expiry: 2, on: { bond } },
    ];
    const exact = await priced(trades);
    const own = await priced(trades, { method: "convolution" });
    exact.forEach((formula, i) => {
      expect(Math.abs(own[i].value - formula.value)).toBeLessThan(own[i].errorEstimate);
      for (const name of ["vega", "rho", "theta"] as const) expect(own[i][name]! / formula[name]!).toBeCloseTo(1, 3);
      for (const [name, value] of Object.entries(formula.parameters!))
        expect(own[i].parameters![name] / value).toBeCloseTo(1, 3);
    });
  });

  test.each([{ g2 }, { hullWhite: { meanReversion: 0.05, volatility: 0.01, curve: 0.03 } }])(
    "a call with notice is a swaption that expires before its swap starts, %o",
    async (model) => {
      const calls = [{ date: 2, price: 100, notice: 0.25 }];
      const straight = { ...bond, frequency: 1, calls: [] };
      const later = { start: 2, end: 7, frequency: 1, notional: 100 };
      const [callable, puttable, whole, receiver, payer] = await priced(
        [
          { bond: { ...straight, calls } },
          { bond: { ...straight, puts: calls } },
          { bond: straight },
          { swaption: "receiver", strike: 0.03, expiry: 1.75, swap: later },
          { swaption: "payer", strike: 0.03, expiry: 1.75, swap: later },
        ],
        {},
        model,
      );
      expect(callable.value).toBeCloseTo(whole.value - receiver.value, 5);
      expect(puttable.value).toBeCloseTo(whole.value + payer.value, 5);
      expect(callable.vega! / -receiver.vega!).toBeCloseTo(1, 3);
    },
  );

  test("are those of one factor where the other has no volatility", async () => {
    const trades = [
      { swaption: "receiver", strike: 0.03, exercise: [1, 2, 3, 4], swap },
      { bond: { ...bond, calls: [2, 3, 4].map((date) => ({ date, price: 100 })) } },
    ];
    const one = await priced(trades, {}, { hullWhite: { meanReversion: 0.05, volatility: 0.008, curve: 0.03 } });
    const two = await priced(trades, {}, { g2: { ...g2, sigma: 0 } });
    one.forEach(({ value }, i) => expect(Math.abs(two[i].value - value)).toBeLessThan(1e-5));
  });

  test("rights at any time are worth more than on dates, and the estimate covers the distance to finer dates", async () => {
    const every = (perYear: number): number[] => Array.from({ length: perYear + 1 }, (_, k) => k / perYear);
    const on = { bond: { maturity: 3, coupon: 0.03, frequency: 1, notional: 100 } };
    const terms = { payoff: "put", strike: 101, strikeIs: "clean", on };
    const [any, few, some, many] = await priced(
      [
        { ...terms, exercise: "american", expiry: 1 },
        { ...terms, exercise: [0.5, 1] },
        { ...terms, exercise: every(6) },
        { ...terms, exercise: every(12) },
      ],
      { greeks: "none" },
    );
    expect(any.value).toBeGreaterThan(few.value - few.errorEstimate);
    // Dates converge to first order: their limit is as far from 12 a year as these are from 6.
    const limit = 2 * many.value - some.value;
    expect(Math.abs(any.value - limit)).toBeLessThan(any.errorEstimate + 0.5 * Math.abs(many.value - some.value));
    expect(any.errorEstimate).toBeLessThan(0.05);
  });
});
