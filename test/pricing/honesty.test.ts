/**
 * Error estimates out of sample: 1,000 American options from a seed, on which nothing was fitted, at the default
 * accuracy.
 */
import { expect, it } from "vitest";
import { createCpuDevice } from "../../src/device/cpu/index.ts";
import { parseBook, priceBook } from "../../src/index.ts";
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
