/** Averages, extremes and baskets under volatilities of the spot, with dividends on dates. */
import { afterAll, describe, expect, test } from "vitest";
import { type BookInput, parseBook } from "../../../src/book/index.ts";
import { createCpuDevice } from "../../../src/device/cpu/index.ts";
import { priceBook } from "../../../src/pricing/index.ts";

const device = createCpuDevice({ threads: 1 });
afterAll(() => device[Symbol.dispose]());

const discrete = (dividend: object) => ({ discrete: [{ date: 0.5, ...dividend }], yield: 0.01 });
const common = { spot: 100, currency: "EUR" };
const local = { local: "0.2+0.15*exp(-S/50)" };
const MARKET = {
  rates: { EUR: 0.03 },
  underlyings: {
    A: { ...common, volatility: local, dividends: discrete({ cash: 4 }) },
    N: { ...common, volatility: local, dividends: { yield: 0.01 } },
    B: { ...common, volatility: { cev: { sigma: 3, beta: 0.5 } }, dividends: discrete({ proportional: 0.02 }) },
    F: { ...common, volatility: 0.25, dividends: discrete({ cash: 4 }) },
    E: { ...common, volatility: { local: "t < 0.05 ? 0.2 : t < 0.058 ? 1.6 : 0.2 + 0.1*exp(-S/100)" } },
    D: { ...common, volatility: { displaced: { sigma: 0.1, shift: 100 } } },
  },
  correlations: [["A", "B", -0.4] as const],
};

type Priced = { readonly value: number; readonly errorEstimate: number; readonly method: string };

async function priced(trades: readonly object[], options: object = {}): Promise<readonly Priced[]> {
  const all = trades.map((trade, i): object => ({
    id: `T${i}`,
    expiry: 1,
    strike: 100,
    ...trade,
  })) as BookInput["trades"];
  const book = parseBook({ asOf: "2026-11-20", market: MARKET, trades: all });
  const { results } = await priceBook(book, { device, greeks: "none", ...options });
  return results.map((one) => {
    if (one.status !== "ok") throw new Error(JSON.stringify(one.error));
    return one;
  });
}

const dates = [0.25, 0.5, 0.75, 1];
const average = { kind: "arithmetic", dates };
const of = { underlyings: ["A", "B"] };

test("steps begin where a volatility jumps in time, as in an event of three days", async () => {
  const trade = { underlying: "E", payoff: "put" };
  const [[exact], [paths]] = [await priced([trade]), await priced([trade], { method: "montecarlo" })];
  expect(exact.method).toBe("fdm");
  expect(paths.errorEstimate).toBeLessThan(0.1);
  expect(Math.abs(paths.value - exact.value)).toBeLessThan(paths.errorEstimate + exact.errorEstimate);
});

describe("values are those of an independent simulation", () => {
  // NumPy, Milstein's scheme with 200 steps and 800,000 antithetic paths; the standard error is the last number.
  test.each<[string, object, number, number]>([
    ["an average", { underlying: "N", payoff: "call", average }, 6.5218, 0.0072],
    ["an average and a cash dividend", { underlying: "A", payoff: "call", average }, 5.125, 0.007],
    [
      "a maximum on dates",
      { underlying: "A", payoff: "call", lookback: { strike: "fixed", monitoring: dates } },
      11.1059,
      0.0104,
    ],
    ["a put on the worst of two", { ...of, payoff: { worstOf: "put" } }, 19.0723, 0.0157],
    ["a call on a basket", { ...of, payoff: { basket: "call", weights: [0.5, 0.5] } }, 5.2521, 0.0062],
  ])("%s", async (_, trade, value, standardError) => {
    const [one] = await priced([trade], { method: "montecarlo" });
    expect(one.method).toBe("montecarlo");
    expect(one.errorEstimate).toBeLessThan(0.1);
    expect(Math.abs(one.value - value)).toBeLessThan(one.errorEstimate + 3 * standardError);
  });
});

describe("European options have the values of finite differences", () => {
  test("on two underlyings", async () => {
    const trades = [
      { ...of, payoff: { worstOf: "put" } },
      { ...of, payoff: { spread: "call" }, strike: 5 },
    ];
    const [grid, paths] = [await priced(trades), await priced(trades, { method: "montecarlo" })];
    paths.forEach((one, i) => {
      expect(grid[i].method).toBe("adi");
      expect(Math.abs(one.value - grid[i].value)).toBeLessThan(one.errorEstimate + grid[i].errorEstimate);
    });
  });

  test.each(["A", "N", "B", "F", "D"])("on %s", async (underlying) => {
    const trades = [80, 100, 125].map((strike) => ({ underlying, payoff: "put", strike }));
    const [exact, paths] = [await priced(trades), await priced(trades, { method: "montecarlo" })];
    paths.forEach((one, i) => {
      expect(Math.abs(one.value - exact[i].value)).toBeLessThan(one.errorEstimate + exact[i].errorEstimate);
    });
  });
});

test("a volatility is the same however it is written", async () => {
  const market = (volatility: unknown) => ({ rates: { EUR: 0.03 }, underlyings: { A: { ...common, volatility } } });
  const ways = [
    0.25,
    { cev: { sigma: 0.25, beta: 1 } },
    { displaced: { sigma: 0.25, shift: 0 } },
    { local: "0.25 + 0*S" },
    { surface: { times: [1], spots: [50, 100, 200], volatility: [[0.25, 0.25, 0.25]] } },
  ];
  const trade = { id: "T", underlying: "A", payoff: "call", strike: 100, expiry: 1, average };
  const results = [];
  for (const volatility of ways) {
    const book = parseBook({ asOf: "2026-11-20", market: market(volatility), trades: [trade] } as BookInput);
    const [one] = (await priceBook(book, { device, greeks: "none" })).results;
    if (one.status !== "ok") throw new Error(JSON.stringify(one.error));
    results.push(one);
  }
  for (const one of results.slice(1))
    expect(Math.abs(one.value - results[0].value)).toBeLessThan(one.errorEstimate + results[0].errorEstimate);
});
