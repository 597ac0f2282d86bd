/** Trades on two lognormal assets against quadrature and Margrabe's formula, where meshes of spots were wrong. */
import { afterAll, expect, test } from "vitest";
import { parseBook } from "../../../src/book/index.ts";
import { type PricedTrade, priceBook } from "../../../src/index.ts";
import { createCpuDevice } from "../../../src/device/cpu/index.ts";

const device = createCpuDevice({ threads: 1 });
afterAll(() => {
  expect(device.liveBuffers).toBe(0);
  device[Symbol.dispose]();
});

interface Pair {
  readonly spots: readonly [number, number];
  readonly volatilities: readonly [number, number];
  readonly yields: readonly [number, number];
  readonly rho: number;
  readonly rate: number;
}

async function price(pair: Pair, trades: readonly object[]): Promise<readonly PricedTrade[]> {
  const { spots, volatilities, yields, rho, rate } = pair;
  const underlying = (i: number) => ({
    spot: spots[i],
    currency: "EUR",
    volatility: volatilities[i],
    dividends: { yield: yields[i] },
  });
  const book = {
    asOf: "2026-01-01",
    market: {
      rates: { EUR: rate },
      underlyings: { A: underlying(0), B: underlying(1) },
      correlations: [["A", "B", rho]],
    },
    trades: trades.map((trade, i) => ({ id: String(i), underlyings: ["A", "B"], ...trade })),
  };
  const { results } = await priceBook(parseBook(JSON.stringify(book)), { device });
  return results.map((result) => {
    if (result.status === "error") throw new Error(result.error.message);
    return result;
  });
}

test("a basket at ρ = −0.9 is within its estimate", async () => {
  const pair: Pair = { spots: [90, 70], volatilities: [0.5, 0.2], yields: [0.02, 0], rho: -0.9, rate: 0.03 };
  const [{ value, errorEstimate }] = await price(pair, [
    { payoff: { basket: "call", weights: [0.5, 0.5] }, strike: 80, expiry: 2 },
  ]);
  // By quadrature.
  expect(Math.abs(value - 10.009411419484058)).toBeLessThan(errorEstimate);
  expect(errorEstimate).toBeLessThan(0.009);
});

test("an exchange over ten years at a volatility of 200 % is within its estimate", async () => {
  const pair: Pair = { spots: [110, 90], volatilities: [2, 0.2], yields: [0.02, 0.05], rho: 0.99, rate: 0.08 };
  const [{ value, errorEstimate }] = await price(pair, [{ payoff: { spread: "put" }, strike: 0, expiry: 10 }]);
  // Margrabe's formula.
  expect(Math.abs(value - 54.281787453809834)).toBeLessThan(errorEstimate);
  expect(errorEstimate).toBeLessThan(0.011);
});

test("at ρ = 0.9 the correlation's sensitivity and the cross gamma are right", async () => {
  const pair: Pair = { spots: [100, 110], volatilities: [0.2, 0.3], yields: [0, 0.05], rho: 0.9, rate: 0.03 };
  const [{ correlation, crossGamma }] = await price(pair, [
    { payoff: { worstOf: "call" }, strike: 100, expiry: 0.0821917808219178 },
  ]);
  // Differences of quadratures; at the accuracy of 1e-4, gammas are within 3 %.
  expect(correlation![0][2] / 0.07069225397704493).toBeCloseTo(1, 1);
  expect(Math.abs(correlation![0][2] / 0.07069225397704493 - 1)).toBeLessThan(0.03);
  expect(Math.abs(crossGamma![0][2] / 0.0013037559643436225 - 1)).toBeLessThan(0.03);
});

test("more rights of exercise are worth no less", async () => {
  const pair: Pair = { spots: [90, 100], volatilities: [0.2, 0.2], yields: [0.03, 0], rho: 0.8, rate: 0.03 };
  const spread = { payoff: { spread: "call" }, strike: 5, expiry: 0.5 };
  const [european, bermudan, american] = await price(pair, [
    spread,
    { ...spread, exercise: [0.125, 0.25, 0.375] },
    { ...spread, exercise: "american" },
  ]);
  // By quadrature.
  expect(Math.abs(european.value - 0.0874418)).toBeLessThan(5e-4);
  expect(bermudan.value).toBeGreaterThan(0.0874418 - 1e-4);
  expect(bermudan.value).toBeGreaterThanOrEqual(european.value);
  expect(american.value).toBeGreaterThanOrEqual(bermudan.value);
});
