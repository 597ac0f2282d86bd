/** Estimates under Heston's model where the correction by extrapolation passes through zero: they still cover. */
import { expect, test } from "vitest";
import { openDevice, parseBook, priceBook } from "../../../src/index.ts";

const ordinary = { v0: 0.195 ** 2, kappa: 1.5, theta: 0.06, sigma: 0.5, rho: -0.7 };
const other = { v0: 0.074379, kappa: 0.642, theta: 0.064914, sigma: 0.571, rho: -0.632 };
const market = {
  rates: { EUR: 0.03 },
  underlyings: {
    A: { spot: 100, currency: "EUR", dividends: { yield: 0.01 }, volatility: { heston: ordinary } },
    B: { spot: 100, currency: "EUR", dividends: { yield: 0.01 }, volatility: { heston: other } },
  },
};
const option = (underlying: string, strike: number, expiry: number) =>
  ({ id: `${underlying} ${strike} ${expiry}`, underlying, payoff: "call", strike, expiry }) as const;

test("estimates of alternating directions cover the distance to the Fourier integral", async () => {
  const strikes = [90, 95, 100, 105, 110, 115];
  const trades = [
    // With the correction alone these were off by three times their estimates.
    option("B", 107.12, 1.921),
    ...strikes.flatMap((strike) => [0.25, 0.5, 1].map((expiry) => option("A", strike, expiry))),
  ];
  const book = parseBook({ asOf: "2026-11-20", market, trades });
  using device = await openDevice({ backend: "cpu" });
  const exact = await priceBook(book, { device, greeks: "none" });
  const { results } = await priceBook(book, { device, greeks: "none", method: "adi" });
  const ratios = results.map((result, i) => {
    const { value, errorEstimate } = result as { readonly value: number; readonly errorEstimate: number };
    const error = Math.abs(value - exact.results[i].value!);
    return { id: result.id, ofEstimate: error / errorEstimate, ofAccuracy: Math.max(error, errorEstimate) / 0.01 };
  });
  expect(ratios.filter(({ ofEstimate, ofAccuracy }) => !(ofEstimate <= 1 && ofAccuracy <= 1))).toEqual([]);
});
