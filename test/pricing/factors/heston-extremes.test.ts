/**
 * Parameters of Heston's model far from Feller's condition: markets give them (fitted to quotes of the DAX, κ is 15.6
 * and σ 3.3), and explicit mixed derivatives grew without bound there.
 */
import { afterAll, describe, expect, test } from "vitest";
import { type PricedTrade, priceBook, readBook } from "../../../src/index.ts";
import { createCpuDevice } from "../../../src/device/cpu/index.ts";

const device = createCpuDevice({ threads: 1 });
afterAll(() => device[Symbol.dispose]());

const SPOT = 100;

async function price(
  heston: object,
  expiry: number,
  exercise: "european" | "american",
  method: "adi" | "auto",
  accuracy = 1e-3,
): Promise<PricedTrade> {
  const book = readBook({
    asOf: "2026-01-01",
    market: {
      rates: { EUR: 0.03 },
      underlyings: { X: { spot: SPOT, currency: "EUR", volatility: { heston: heston as never } } },
    },
    trades: [{ id: "1", underlying: "X", payoff: "put", strike: SPOT, expiry, exercise }],
  });
  const { results } = await priceBook(book, { device, method, greeks: "none", accuracy: { relative: accuracy } });
  const [result] = results;
  if (result.status === "error") throw new Error(result.error.message);
  return result;
}

const SETS = [
  { v0: 0.04, kappa: 10, theta: 0.04, sigma: 2, rho: -0.9, expiry: 5 },
  { v0: 0.04, kappa: 5, theta: 0.04, sigma: 3, rho: 0.5, expiry: 1 },
  { v0: 0.04, kappa: 100, theta: 0.04, sigma: 5.656854249492381, rho: -0.9, expiry: 1 },
  { v0: 0.04, kappa: 50, theta: 0.04, sigma: 5, rho: -0.7, expiry: 10 },
  { v0: 0.04, kappa: 20, theta: 0.01, sigma: 1.2649110640673518, rho: 0.5, expiry: 10 },
  { v0: 0.01, kappa: 100, theta: 0.2, sigma: 3.1622776601683795, rho: -0.9, expiry: 5 },
  { v0: 0.04, kappa: 15.6, theta: 0.04, sigma: 3.3, rho: -0.51, expiry: 2 },
];

describe.each(SETS)("κ $kappa, σ $sigma, ρ $rho, $expiry years", ({ expiry, ...heston }) => {
  test("alternating directions come to the Fourier integral", async () => {
    const [fourier, got] = [
      await price(heston, expiry, "european", "auto"),
      await price(heston, expiry, "european", "adi"),
    ];
    expect(Math.abs(got.value - fourier.value)).toBeLessThan(got.errorEstimate);
    // What was asked for, 1e-3 of the spot.
    expect(got.errorEstimate).toBeLessThan(1e-3 * SPOT);
  });

  test("an American put is worth its European one or more, and its strike at most", async () => {
    const european = await price(heston, expiry, "european", "auto");
    // Fine grids showed the growth.
    for (const accuracy of [1e-3, 3e-4]) {
      const american = await price(heston, expiry, "american", "auto", accuracy);
      expect(american.value).toBeGreaterThan(european.value - american.errorEstimate);
      expect(american.value).toBeLessThan(1.6 * european.value + 3);
      expect(american.errorEstimate).toBeLessThan(1e-3 * SPOT);
    }
  });
});
