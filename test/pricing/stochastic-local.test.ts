/** Stochastic local volatility in books: what lies between local volatility and the variance's own model. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Device, openDevice } from "../../src/device/index.ts";
import { priceBook, readBook } from "../../src/index.ts";
import { everything } from "../support/extent.ts";

const sigma = (S: number): number => 0.12 + 0.15 * Math.exp((70 - S) / 50);
const spots = Array.from({ length: 61 }, (_, i) => 40 + 5 * i);
const surface = { times: [0], spots, volatility: [spots.map(sigma)] };
const heston = { v0: 0.04, kappa: 1.5, theta: 0.06, sigma: 0.7, rho: -0.6 };
const sabr = { alpha: 0.2, beta: 1, nu: 0.8, rho: -0.6 };
const dates = Array.from({ length: 12 }, (_, i) => (i + 1) / 12);
const products = {
  call: { payoff: "call", strike: 100 },
  put: { payoff: "put", strike: 80 },
  out: { payoff: "call", strike: 95, barriers: [{ type: "up-and-out", level: 120, monitoring: dates }] },
  down: { payoff: "put", strike: 105, barriers: [{ type: "down-and-out", level: 85, monitoring: dates }] },
  average: { payoff: "call", strike: 100, average: { kind: "arithmetic", dates } },
} as const;

const OF_EACH = { heston: ["out", "average"], sabr: ["down"] } as const;

/**
 * Prices by 1.6 million paths (SABR: 0.9 million) of Euler's scheme for ln S and the variance, truncated at 0, with 240
 * steps and the conditional means of 100 quantiles, in numpy. The standard errors are at most 0.008.
 */
const SIMULATED = {
  heston: { out: 4.12393, down: 2.1101, average: 5.14659 },
  sabr: { out: 3.93875, down: 2.19362, average: 5.18038 },
};

describe("stochastic local volatility in books", () => {
  let device: Device;
  beforeAll(async () => {
    device = await openDevice({ backend: "cpu", threads: 1 });
  });
  afterAll(() => device[Symbol.dispose]());

  const pricesOf = async (
    volatility: unknown,
    names: readonly (keyof typeof products)[],
    { greeks = "none", relative = 1e-3 }: { readonly greeks?: "none" | "all"; readonly relative?: number } = {},
  ) => {
    const book = readBook({
      asOf: "2026-11-20",
      market: {
        rates: { EUR: 0.02 },
        underlyings: { U: { spot: 100, currency: "EUR", dividends: { yield: 0.01 }, volatility } },
      },
      trades: names.map((id) => ({ id, underlying: "U", expiry: 1, ...products[id] })),
    });
    const { results } = await priceBook(book, { device, greeks, accuracy: { relative } });
    return results.map((result) => {
      if (result.status !== "ok") throw new Error(result.error.message);
      return { ...result, error: result.errorEstimate };
    });
  };

  it.each(["heston", "sabr"] as const)("prices options on paths as a simulation of its own does, %s", async (of) => {
    const variance = of === "heston" ? { heston } : { sabr };
    // Each product under one of the two.
    const names = everything ? (["out", "down", "average"] as const) : OF_EACH[of];
    const found = await pricesOf({ stochasticLocal: { ...variance, surface } }, names, { relative: 5e-4 });
    names.forEach((name, i) => {
      expect(Math.abs(found[i].value - SIMULATED[of][name])).toBeLessThan(found[i].error);
      // The leverage's error is in the estimate, and twice as much with barriers.
      expect(found[i].error).toBeGreaterThan(name === "average" ? 0.16 : 0.32);
      expect(found[i].error).toBeLessThan(name === "average" ? 0.25 : 0.41);
    });
  });

  it("prices vanillas and their Greeks as the local volatility does, and barriers between both models", async () => {
    const stochasticLocal = { heston, surface };
    const names = everything ? (["call", "put"] as const) : (["call"] as const);
    const local = await pricesOf({ surface }, names, { greeks: "all" });
    const mixed = await pricesOf({ stochasticLocal }, names, { greeks: "all" });
    for (const i of names.keys()) {
      expect(Math.abs(mixed[i].value - local[i].value)).toBeLessThan(mixed[i].error);
      expect(Math.abs(mixed[i].vega! / local[i].vega! - 1)).toBeLessThan(0.1);
      expect(Math.abs(mixed[i].rho! / local[i].rho! - 1)).toBeLessThan(0.1);
    }
    const [[lowest], [between], [highest]] = [
      await pricesOf({ surface }, ["out"]),
      await pricesOf({ stochasticLocal }, ["out"]),
      await pricesOf({ heston }, ["out"]),
    ];
    expect(between.value - between.error).toBeGreaterThan(lowest.value);
    expect(between.value + between.error).toBeLessThan(highest.value - highest.error);
  });

  it.each([
    [{ stochasticLocal: { surface } }, 'volatility.stochasticLocal: expected { "heston", "surface" }'],
    [{ stochasticLocal: { heston: { ...heston, v0: 0 }, surface } }, "heston.v0: expected a positive number, got 0"],
    [
      { stochasticLocal: { heston, surface: { ...surface, spots: [100] } } },
      "stochasticLocal.surface.volatility[0]: expected 1 volatilities",
    ],
    [{ quotes: [], fit: { stochasticLocal: { mixing: 2 } } }, "fit.stochasticLocal.mixing: expected a factor"],
    [{ quotes: [], fit: { stochasticLocal: { heston, sabr } } }, "fit.stochasticLocal: expected one variance"],
  ])("refuses %j with the place", async (volatility, message) => {
    await expect(pricesOf(volatility, ["call"])).rejects.toThrow(message);
  });
});
