/** Trades on assets that are perfectly correlated, or nearly so, against integrals over one factor and one asset. */
import { afterAll, expect, test } from "vitest";
import { parseBook } from "../../../src/book/index.ts";
import { createCpuDevice } from "../../../src/device/cpu/index.ts";
import { type PricedTrade, priceBook } from "../../../src/index.ts";
import { Random } from "../../../tools/properties/random.ts";

const device = createCpuDevice({ threads: 1 });
afterAll(() => {
  expect(device.liveBuffers).toBe(0);
  device[Symbol.dispose]();
});

const NAMES = ["A", "B", "C", "D"];

interface Market {
  readonly spots: readonly number[];
  readonly volatilities: readonly number[];
  readonly rate: number;
  readonly rho: number;
  readonly dividends?: object;
}

async function price(
  { spots, volatilities, rate, rho, dividends = {} }: Market,
  trades: readonly object[],
  greeks: "all" | "none",
) {
  const names = spots.map((_, i) => NAMES[i]);
  const book = {
    asOf: "2026-01-01",
    market: {
      rates: { EUR: rate },
      underlyings: Object.fromEntries(
        names.map((name, i) => [name, { spot: spots[i], currency: "EUR", volatility: volatilities[i], dividends }]),
      ),
      correlations: names.flatMap((one, i) => names.slice(i + 1).map((other) => [one, other, rho])),
    },
    trades: trades.map((trade, i) => ({ id: String(i), underlyings: names, ...trade })),
  };
  const { results } = await priceBook(parseBook(JSON.stringify(book)), { device, greeks });
  return results.map((result): PricedTrade => {
    if (result.status === "error") throw new Error(result.error.message);
    return result;
  });
}

const INDEX = {
  bestOf: (a: number, b: number) => Math.max(a, b),
  worstOf: (a: number, b: number) => Math.min(a, b),
  spread: (a: number, b: number) => a - b,
};

/** The mean of a payoff of two lognormal spots driven by one normal number z and by ±z, by the midpoint rule. */
function integral(
  { spots, volatilities, rate, rho }: Market,
  expiry: number,
  payoff: (a: number, b: number) => number,
) {
  const points = 20_000;
  let sum = 0;
  for (let k = 0; k < points; k++) {
    const z = 18 * ((k + 0.5) / points - 0.5);
    const [a, b] = spots.map((spot, i) => {
      const width = volatilities[i] * Math.sqrt(expiry);
      return spot * Math.exp(rate * expiry - 0.5 * width * width + width * z * (i === 0 ? 1 : rho));
    });
    sum += payoff(a, b) * Math.exp(-0.5 * z * z);
  }
  return (Math.exp(-rate * expiry) * sum * 18) / points / Math.sqrt(2 * Math.PI);
}

test("random European options on two assets with a correlation of ±1 are integrals over one factor", async () => {
  const random = new Random(5);
  for (let n = 0; n < 4; n++) {
    const market: Market = {
      spots: random.choice([
        [100, 100],
        [100, 103],
      ]),
      volatilities: random.choice([
        [0.1, 0.1],
        [0.2, 0.2],
        [0.2, 0.3],
      ]),
      rate: random.choice([0, 0.03]),
      rho: random.choice([1, 1, -1]),
    };
    const expiry = random.choice([0.1, 0.5, 2]);
    const of = random.choice(["bestOf", "worstOf", "spread"] as const);
    const right = random.choice(["call", "put"]);
    const strike = of === "spread" ? 5 : random.choice([90, 100, 105]);
    const [result] = await price(market, [{ payoff: { [of]: right }, strike, expiry }], "none");
    const known = integral(market, expiry, (a, b) =>
      Math.max((right === "call" ? 1 : -1) * (INDEX[of](a, b) - strike), 0),
    );
    expect(result.method).toBe("adi");
    expect(result.errorEstimate).toBeLessThan(0.01);
    // 1e-5: the integral's own error at kinks.
    expect(Math.abs(result.value - known)).toBeLessThan(result.errorEstimate + 1e-5);
  }
});

test("assets that are one have the value and the Greeks of one, whatever the method", async () => {
  const market = { rate: 0.03, rho: 1 };
  const payoff = { payoff: { worstOf: "call" }, strike: 100, expiry: 1 };
  const [one] = await price(
    { ...market, spots: [100], volatilities: [0.2] },
    [{ ...payoff, underlyings: undefined, underlying: "A", payoff: "call" }],
    "all",
  );
  for (const count of [2, 4]) {
    const all = Array.from({ length: count });
    const [worst] = await price(
      { ...market, spots: all.map(() => 100), volatilities: all.map(() => 0.2) },
      [payoff],
      "all",
    );
    expect(worst.method).toBe(count === 2 ? "adi" : "montecarlo");
    expect(Math.abs(worst.value - one.value)).toBeLessThan(worst.errorEstimate);
    // Sums of moves of one asset after the other are count/2 times as large.
    expect(worst.delta! / one.delta!).toBeCloseTo(1, 1);
    expect(worst.vega! / one.vega!).toBeCloseTo(1, 1);
  }
});

test("barriers and cash dividends on assets that are one are left to Monte Carlo, whose bounds hold", async () => {
  const knockOuts = [
    { type: "up-and-out", level: 130, underlying: "A" },
    { type: "down-and-out", level: 80, underlying: "B" },
  ];
  const call = { payoff: { worstOf: "call" }, strike: 90, expiry: 0.5, barriers: knockOuts };
  const put = { payoff: { worstOf: "put" }, strike: 105, expiry: 0.5 };
  const paying = {
    discrete: [
      { date: 0.15, cash: 2 },
      { date: 0.4, cash: 3 },
    ],
  };
  for (const [trade, dividends] of [
    [call, {}],
    [put, paying],
  ] as const) {
    const market = { rate: 0.02, rho: 1, dividends };
    const alone = { ...trade, underlyings: undefined, underlying: "A", payoff: trade === call ? "call" : "put" };
    const bare = trade === call ? { barriers: knockOuts.map(({ type, level }) => ({ type, level })) } : {};
    const [one] = await price({ ...market, spots: [100], volatilities: [0.2] }, [{ ...alone, ...bare }], "none");
    const [two] = await price({ ...market, spots: [100, 100], volatilities: [0.2, 0.2] }, [trade], "none");
    expect(two.method).toBe("montecarlo");
    expect(Math.abs(two.value - one.value)).toBeLessThan(two.errorEstimate + one.errorEstimate);
  }
});
