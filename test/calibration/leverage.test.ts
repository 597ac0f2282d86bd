/** Stochastic local volatility by particles: vanillas are worth what they are under the local volatility. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fitAdjoint } from "../../src/calibration/adjoint-fit.ts";
import { hestonSlice } from "../../src/calibration/heston-slices.ts";
import { fitLeverage } from "../../src/calibration/index.ts";
import { type Device, openDevice } from "../../src/device/index.ts";
import { hostNormalCdf } from "../../src/market/models/index.ts";
import { european, monteCarlo } from "../../src/montecarlo/index.ts";
import { quotesOf } from "./quotes.ts";

const backbone = { spot: 100, rate: 0.02, yield: 0, v0: 0.04, kappa: 1.5, theta: 0.06, sigma: 0.6, rho: -0.3 };

/** A call by Black's formula. */
function blackCall(strike: number, t: number, volatility: number): number {
  const forward = 100 * Math.exp(0.02 * t);
  const deviation = volatility * Math.sqrt(t);
  const d1 = Math.log(forward / strike) / deviation + 0.5 * deviation;
  return Math.exp(-0.02 * t) * (forward * hostNormalCdf(d1) - strike * hostNormalCdf(d1 - deviation));
}

describe("stochastic local volatility", () => {
  let device: Device;
  beforeAll(async () => {
    device = await openDevice({ backend: "cpu", threads: 1 });
  });
  afterAll(() => device[Symbol.dispose]());

  const skewed = [0.05, 2, 0.05, 0.4, -0.7];
  it.each([
    ["a flat local volatility, on Heston's variance", { heston: backbone }, undefined],
    ["a skewed local volatility, on Heston's variance", { heston: backbone }, skewed],
    ["a skewed local volatility, on SABR's", { sabr: { spot: 100, rate: 0.02, nu: 0.7, rho: -0.4 } }, skewed],
  ])("prices vanillas as %s does", async (_, variance, other) => {
    const times = [0.1, 0.25, 0.5, 1];
    const smileAt = (t: number): ((k: number) => number) =>
      other === undefined ? () => 0.2 : hestonSlice(other, t, 1).volatility;
    const quotes = times.map((t) => {
      const k = Array.from({ length: 11 }, (_, i) => 0.5 * Math.sqrt(t) * (i / 5 - 1));
      return quotesOf(t, k, smileAt(t), 100 * Math.exp(0.02 * t));
    });
    const { volatility } = fitAdjoint({ spot: 100, expiries: quotes });
    if (volatility.kind !== "surface") throw new Error("expected a surface");
    const fit = await fitLeverage({ device, ...variance, surface: volatility.surface, expiry: 1 });
    const strike = [80, 90, 100, 110, 125];
    const product = european({ payoff: "call", strike });
    const model = fit.model({ dates: [1], substeps: 50 });
    const settings = { device, model, product, dates: [1], substeps: 50, paths: 2 ** 14, antithetic: true, seed: 7 };
    const { value, standardError } = await monteCarlo(settings);
    strike.forEach((K, i) => {
      const implied = smileAt(1)(Math.log(K / 100) - 0.02);
      // The particles, the steps and the grid leave 3e-3 of volatility.
      const exact = blackCall(K, 1, implied);
      const bias = blackCall(K, 1, implied + 3e-3) - exact;
      expect(Math.abs(value[i] - exact)).toBeLessThan(3 * standardError[i] + bias);
    });
  });

  it("is the ratio of volatilities where the variance hardly moves", async () => {
    const heston = { ...backbone, theta: 0.04, sigma: 1e-4 };
    const surface = { times: [0], spots: [100], volatility: [[0.3]] };
    const { rows } = await fitLeverage({ device, heston, surface, expiry: 0.5, particles: 1000 });
    for (const { values } of rows) for (const one of values) expect(one).toBeCloseTo(1.5, 3);
  });

  it("refuses what makes no problem", async () => {
    const surface = { times: [0], spots: [100], volatility: [[0.3]] };
    const of = (more: object): Promise<unknown> =>
      fitLeverage({ device, heston: backbone, surface, expiry: 1, ...more });
    await expect(of({ expiry: 0 })).rejects.toThrow("expiry: got 0, expected years above 0");
    await expect(of({ particles: 10 })).rejects.toThrow("particles: got 10, expected a whole number from 1000 on");
  });
});
