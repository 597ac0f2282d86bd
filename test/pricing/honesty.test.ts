/**
 * Error estimates out of sample, on trades from a seed on which nothing was fitted: 1,000 American options at the
 * default accuracy, and 1,000 knock-outs at all.
 */
import { expect, it } from "vitest";
import { createCpuDevice } from "../../src/device/cpu/index.ts";
import { parseBook, priceBook, readBook } from "../../src/index.ts";
import { reinerRubinstein } from "../market/models/reiner-rubinstein.ts";
import { Random } from "../../tools/properties/random.ts";
import { quantLibCases } from "./quantlib-cases.ts";

/** An underlying and a currency for each option, since each has a spot and a rate of its own. */
function bookOf(cases: ReturnType<typeof quantLibCases>) {
  const name = (i: number): string => `U${i}`;
  const underlyings = cases.map(({ spot, yield: y, vol }, i) => {
    return [name(i), { spot, currency: name(i), dividends: { yield: y }, volatility: vol }] as const;
  });
  const rates = cases.map(({ rate }, i) => [name(i), rate] as const);
  return {
    asOf: "2026-11-20T16:00:00Z",
    market: { rates: Object.fromEntries(rates), underlyings: Object.fromEntries(underlyings) },
    trades: cases.map(({ type, strike, maturity, exercise }, i) => ({
      id: String(i),
      underlying: name(i),
      payoff: type,
      strike,
      expiry: maturity,
      exercise,
    })),
  };
}

it.each(["integral", "fdm"] as const)(
  "%s covers 98 % of the errors, and is never three times too small",
  async (method) => {
    const cases = quantLibCases("american-random");
    expect(cases).toHaveLength(1000);
    using device = createCpuDevice({ threads: 1 });
    const { results } = await priceBook(parseBook(JSON.stringify(bookOf(cases))), { device, greeks: "none", method });
    const ratios = cases.map(({ price, moved = 0, spot }, i) => {
      const result = results[i];
      if (result.status === "error") throw new Error(`${result.id}: ${result.error.message}`);
      // What the reference itself is good to counts for neither side.
      const error = Math.abs(result.value - price) - moved - 1e-9 * spot;
      return { case: i, ratio: error <= 0 ? 0 : error / result.errorEstimate };
    });
    const worst = ratios.toSorted((a, b) => b.ratio - a.ratio).slice(0, 10);
    const covered = ratios.filter(({ ratio }) => ratio <= 1).length / cases.length;
    const found = worst.map(({ case: i, ratio }) => `${i}: ${ratio.toFixed(2)}`).join(", ");
    console.log(`covered: ${(100 * covered).toFixed(1)} %; largest ratios of error to estimate, by case: ${found}`);
    expect.soft(covered, found).toBeGreaterThanOrEqual(0.98);
    expect.soft(worst[0].ratio, found).toBeLessThanOrEqual(3);
  },
);

it.each([
  ["none", 1e-3],
  ["none", 1e-5],
  ["all", 1e-5],
] as const)("fdm covers 99 %% of the errors of knock-outs, Greeks: %s, accuracy %s", async (greeks, relative) => {
  const random = new Random(2024);
  const rate = 0.03;
  const cases = Array.from({ length: 1000 }, () => {
    const [spot, volatility, expiry] = [random.logUniform(5, 500), random.uniform(0.05, 1), random.logUniform(0.01, 3)];
    const deviation = volatility * Math.sqrt(expiry);
    const [up, call, near] = [random.chance(0.5), random.chance(0.5), random.chance(0.5)];
    const level = spot * Math.exp((up ? 1 : -1) * deviation * random.uniform(0.2, 5));
    const strike = spot * Math.exp(random.uniform(-1, 1) * (near ? 3 * deviation : 0.6));
    return { spot, volatility, expiry, up, call, level, strike, dividendYield: random.uniform(0, 0.05) };
  });
  const underlyings = cases.map(({ spot, volatility, dividendYield }, i) => {
    return [`U${i}`, { spot, currency: "EUR", volatility, dividends: { yield: dividendYield } }] as const;
  });
  const book = readBook({
    asOf: "2026-11-20T16:00:00Z",
    market: { rates: { EUR: rate }, underlyings: Object.fromEntries(underlyings) },
    trades: cases.map(({ up, call, level, strike, expiry }, i) => ({
      id: String(i),
      underlying: `U${i}`,
      payoff: call ? "call" : "put",
      strike,
      expiry,
      barriers: [{ type: up ? "up-and-out" : "down-and-out", level }],
    })),
  });
  using device = createCpuDevice({ threads: 1 });
  const { results } = await priceBook(book, { device, greeks, accuracy: { relative }, method: "fdm" });
  const ratios = cases.map(({ spot, strike, level, dividendYield, volatility, expiry, call, up }, i) => {
    const result = results[i];
    if (result.status === "error") throw new Error(`${result.id}: ${result.error.message}`);
    const exact = reinerRubinstein(
      spot,
      strike,
      level,
      0,
      rate,
      dividendYield,
      volatility,
      expiry,
      call,
      up,
      true,
      true,
    );
    return Math.abs(result.value - exact) / result.errorEstimate;
  });
  const covered = ratios.filter((ratio) => ratio <= 1).length / ratios.length;
  expect.soft(covered).toBeGreaterThanOrEqual(0.99);
  expect.soft(Math.max(...ratios)).toBeLessThanOrEqual(3);
});
