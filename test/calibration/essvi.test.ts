/** eSSVI and repaired surfaces: round trips, and no arbitrage far beyond the quotes. */
import { describe, expect, it } from "vitest";
import { butterflyFunction } from "../../src/calibration/arbitrage.ts";
import { fitEssvi } from "../../src/calibration/essvi-fit.ts";
import { rmseOf, type SurfaceFit, type UnderlyingQuotes } from "../../src/calibration/fit.ts";
import { withoutArbitrage } from "../../src/calibration/repair.ts";
import { ssviVariance } from "../../src/market/ssvi.ts";
import { fitSvi } from "../../src/calibration/svi-surface.ts";
import { dax, quotesOf } from "./quotes.ts";
import { uniform } from "./uniform.ts";

const k = [-0.4, -0.3, -0.2, -0.1, -0.05, 0, 0.05, 0.1, 0.2, 0.3];

/** Slices whose u, d and θ increase, with ψ² ≤ 2θ and ψ growing by less than √θ does. */
function randomSurface(random: () => number): UnderlyingQuotes {
  let theta = 0.005 + 0.03 * random();
  let [psi, rho] = [(0.1 + 0.8 * random()) * Math.sqrt(2 * theta), -0.8 + 1.2 * random()];
  const expiries = [0.25, 0.5, 1, 2].map((time) => {
    const slice = { theta, phi: psi / theta, rho };
    const [up, down] = [psi * (1 + rho), psi * (1 - rho)];
    const growth = 1.2 + random();
    theta *= growth;
    const step = 0.8 * random() * 2 * psi * (Math.sqrt(growth) - 1);
    const part = random();
    psi = 0.5 * (up + down + step);
    rho = (up + step * part - down - step * (1 - part)) / (2 * psi);
    return quotesOf(time, k, (at) => Math.sqrt(ssviVariance({ ...slice, k: at }).variance / time));
  });
  return { spot: 100, expiries };
}

/** The smallest g, and the smallest increase of w from slice to slice, for |k| ≤ 5. */
function smallest({ parameters }: SurfaceFit): { butterfly: number; calendar: number } {
  const [theta, rho, psi] = ["theta", "rho", "psi"].map((name) => parameters[name] as readonly number[]);
  let [butterfly, calendar] = [Infinity, Infinity];
  for (let at = -5; at <= 5; at += 0.01) {
    const slices = theta.map((_, i) => ssviVariance({ theta: theta[i], phi: psi[i] / theta[i], rho: rho[i], k: at }));
    for (const [i, slice] of slices.entries()) {
      butterfly = Math.min(butterfly, butterflyFunction({ k: at, ...slice }));
      if (i > 0) calendar = Math.min(calendar, slice.variance - slices[i - 1].variance);
    }
  }
  return { butterfly, calendar };
}

describe("eSSVI", () => {
  it("is recovered from its own quotes", () => {
    const random = uniform(7);
    for (let n = 0; n < 15; n++) {
      const quotes = randomSurface(random);
      const fit = fitEssvi(quotes);
      expect(fit.status).toBe("converged");
      expect(rmseOf(quotes, fit.impliedVolatility)).toBeLessThan(1e-7);
    }
  });

  it("is free of arbitrage everywhere, whatever the quotes are", () => {
    const random = uniform(11);
    for (let n = 0; n < 15; n++) {
      const expiries = [0.1, 0.5, 1, 3].map((t) => quotesOf(t, k, () => 0.05 + 0.6 * random()));
      const { butterfly, calendar } = smallest(fitEssvi({ spot: 100, expiries }));
      expect(butterfly).toBeGreaterThan(-1e-10);
      expect(calendar).toBeGreaterThan(-1e-12);
    }
  });

  it("fits the DAX within a volatility point", () => {
    const fit = fitEssvi(dax());
    expect(fit.butterfly.free && fit.calendar.free).toBe(true);
    expect(rmseOf(dax(), fit.impliedVolatility)).toBeLessThan(0.01);
  });
});

describe("a repaired surface", () => {
  it("is free of arbitrage, near to the fit, and says so", () => {
    const expiries = [0.5, 1].map((t, i) => quotesOf(t, k, (at) => 0.3 - 0.14 * i + 0.3 * at * at));
    const quotes = { spot: 100, expiries };
    const fit = fitSvi(quotes);
    expect(fit.calendar.free).toBe(false);
    const mended = withoutArbitrage(quotes, fit);
    expect(mended.butterfly.free && mended.calendar.free).toBe(true);
    expect(mended.message).toContain("repaired, because total variance falls");
    expect(mended.volatility.kind).toBe("surface");
  });

  it("is the surface itself where that has no arbitrage", () => {
    const quotes = { spot: 100, expiries: [quotesOf(1, k, () => 0.2)] };
    const fit = fitSvi(quotes);
    expect(withoutArbitrage(quotes, fit)).toBe(fit);
  });
});

it("the error of a fit weighs its quotes: √(Σwe²/Σw)", () => {
  const quotes = quotesOf(1, [-0.1, 0.1], (at) => (at < 0 ? 0.21 : 0.24));
  const weighed = { spot: 100, expiries: [{ ...quotes, weights: Float64Array.of(1, 3) }] };
  expect(rmseOf(weighed, () => 0.2)).toBeCloseTo(Math.sqrt((1 * 0.01 ** 2 + 3 * 0.04 ** 2) / 4), 14);
});

it("is recovered where one wing is steep and the other one has grown", () => {
  // ψ = 0.9, ρ = −0.9 and θ = 0.5; then θ = 0.8, and nine tenths of a step of 1 are the rising wing's: within the
  // limits u, d ≤ 4 and ψ·max(u, d) ≤ 4θ, and within 2ψ(0.8/0.5 − 1) = 1.08. In the falling wing it would be beyond.
  const [up, down] = [0.09 + 0.9, 1.71 + 0.1];
  const psi = 0.5 * (up + down);
  const slices = [
    { theta: 0.5, phi: 0.9 / 0.5, rho: -0.9 },
    { theta: 0.8, phi: psi / 0.8, rho: (up - down) / (2 * psi) },
  ];
  const expiries = slices.map((slice, i) =>
    quotesOf(i + 1, k, (at) => Math.sqrt(ssviVariance({ ...slice, k: at }).variance / (i + 1))),
  );
  const quotes = { spot: 100, expiries };
  expect(rmseOf(quotes, fitEssvi(quotes).impliedVolatility)).toBeLessThan(1e-6);
});
