/** Intervals of Monte Carlo cover: payoffs that jump, that are rare, that have heavy tails; controls that fail. */
import { afterAll, describe, expect, test } from "vitest";
import { type BookInput, readBook } from "../../../src/book/index.ts";
import { createCpuDevice } from "../../../src/device/cpu/index.ts";
import { priceBook } from "../../../src/pricing/index.ts";
import { normalCdf } from "../../support/normal.ts";

const device = createCpuDevice({ threads: 1 });
afterAll(() => device[Symbol.dispose]());

type Trade = BookInput["trades"][number];
type Volatility = NonNullable<BookInput["market"]["underlyings"]>[string]["volatility"];

async function priced(
  volatility: Volatility,
  trade: object,
  seed: number,
  greeks: "all" | "none" = "none",
  rate = 0.03,
) {
  const market = { rates: { EUR: rate }, underlyings: { A: { spot: 100, currency: "EUR", volatility } } };
  const trades = [{ id: "1", underlying: "A", ...trade } as Trade];
  const book = readBook({ asOf: "2026-01-01", method: "montecarlo", seed, market, trades });
  const [result] = (await priceBook(book, { device, greeks })).results;
  if (result.status === "error") throw new Error(result.error.message);
  return result;
}

/** Black's formula with a total variance. */
function exact(payoff: "call" | "put" | "digital", strike: number, variance: number, expiry: number): number {
  const discount = Math.exp(-0.03 * expiry);
  const d1 = (Math.log(100 / (strike * discount)) + 0.5 * variance) / Math.sqrt(variance);
  const d2 = d1 - Math.sqrt(variance);
  if (payoff === "digital") return 100 * discount * normalCdf(d2);
  const sign = payoff === "call" ? 1 : -1;
  return sign * (100 * normalCdf(sign * d1) - strike * discount * normalCdf(sign * d2));
}

const RUNS = 40;
/** The fewest covered runs of forty at 95 %: one set in a thousand has fewer. */
const MIN_COVERED = 33;

const factor = { gaussianFactors: { alpha: [2], sigma: [0.6] } };
const walk = { gaussianFactors: { alpha: [0], sigma: [1] } };
const cases = [
  ["a digital whose scramblings count alike", factor, "digital", 110, 1, (0.36 * (1 - Math.exp(-4))) / 4],
  ["a call far out of the money", 0.2, "call", 250, 1, 0.04],
  ["a put deep in the money, which the underlying nearly is", 0.2, "put", 250, 1, 0.04],
  ["a digital that is nearly never paid", 0.2, "digital", 400, 1, 0.04],
  ["a call with heavy tails", walk, "call", 100, 10, 10],
] as const;

describe("intervals cover", () => {
  test.each(cases)("%s", async (_, volatility, kind, strike, expiry, variance) => {
    const payoff = kind === "digital" ? { digital: "call", cash: 100 } : kind;
    const right = exact(kind, strike, variance, expiry);
    let covered = 0;
    for (let seed = 1; seed <= RUNS; seed++) {
      const { value, errorEstimate } = await priced(volatility, { payoff, strike, expiry }, seed);
      expect(errorEstimate).toBeGreaterThan(0);
      if (Math.abs(value - right) <= errorEstimate) covered += 1;
    }
    expect(covered).toBeGreaterThanOrEqual(MIN_COVERED);
  });

  test("a rare payoff has digits, too", async () => {
    const { value, errorEstimate } = await priced(0.2, { payoff: "call", strike: 250, expiry: 1 }, 1);
    expect(Math.abs(value / exact("call", 250, 0.04, 1) - 1)).toBeLessThan(0.01);
    expect(errorEstimate).toBeLessThan(0.03 * value);
  });

  test("the largest spot of ten years under a volatility of 100 %", async () => {
    const lookback = { strike: "fixed", monitoring: "continuous" };
    const market = {
      rates: { EUR: 0 },
      underlyings: { X: { spot: 100, currency: "EUR", volatility: 1, dividends: { yield: 0.02 } } },
    };
    const trade = { id: "1", underlying: "X", payoff: "call", strike: 100, expiry: 10, lookback } as Trade;
    const book = readBook({ asOf: "2026-01-01", market, trades: [trade] });
    const [result] = (await priceBook(book, { device, greeks: "none" })).results;
    // 5.317 times the spot by the law of the maximum.
    expect(Math.abs(result.value! - 531.7)).toBeLessThan(result.errorEstimate! + 0.05);
  });
});

test("a control that does not move with a parameter leaves the derivative by it alone", async () => {
  // Discounted, the underlying does not depend on the rate but for rounding, by which a coefficient must not divide.
  const heston = { v0: 0.04, kappa: 1.5, theta: 0.04, sigma: 0.5, rho: -0.7 };
  const trade = { payoff: "put", strike: 100, expiry: 1, average: { kind: "arithmetic", dates: [0.25, 0.5, 0.75, 1] } };
  const { rho } = await priced({ heston }, trade, 1, "all");
  // The same paths with other rates: differences of values, and of both their noise.
  const slopes: number[] = [];
  for (const seed of [1, 2, 3, 4]) {
    const [up, down] = [
      await priced({ heston }, trade, seed, "none", 0.035),
      await priced({ heston }, trade, seed, "none", 0.025),
    ];
    slopes.push((up.value - down.value) / 0.01);
  }
  const mean = slopes.reduce((sum, one) => sum + one, 0) / slopes.length;
  const scatter = Math.max(...slopes) - Math.min(...slopes);
  expect(scatter).toBeLessThan(1);
  expect(Math.abs(rho! - mean)).toBeLessThan(scatter + 0.1);
});

test("sensitivities have errors of their own, which cover", async () => {
  // A European call: Black's formula by the derivatives that it has.
  const market = { rates: { EUR: 0.03 }, underlyings: { A: { spot: 100, currency: "EUR", volatility: 0.2 } } };
  const trades = [100, 90, 115].map((strike) => ({
    id: `${strike}`,
    underlying: "A",
    payoff: "call",
    strike,
    expiry: 1,
  }));
  const book = { asOf: "2026-01-01", market, trades } as BookInput;
  const { results: right } = await priceBook(readBook(book), { device });
  const sampled = readBook({ ...book, method: "montecarlo" });
  const { results } = await priceBook(sampled, { device, sensitivityErrorEstimates: true });
  for (const [i, result] of results.entries()) {
    const other = right[i];
    if (result.status === "error" || other.status === "error") throw new Error("no price");
    for (const name of ["delta", "gamma", "theta", "vega", "rho"] as const) {
      const error = result.sensitivityErrorEstimates![name]!;
      expect(Math.abs(result[name]! - other[name]!)).toBeLessThan(error);
      expect(error).toBeLessThan(0.2 * Math.abs(other[name]!));
    }
  }
});
