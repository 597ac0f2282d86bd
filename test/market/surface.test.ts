import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  rollSurface,
  localSurface,
  rowMean,
  rowRootMeanSquare,
  rowVolatility,
  surfaceVolatility,
} from "../../src/market/index.ts";

const surface = localSurface(
  [0.5, 1, 2],
  [80, 100, 110],
  [
    [0.4, 0.3, 0.2],
    [0.3, 0.2, 0.24],
    [0.2, 0.2, 0.2],
  ],
);

describe("a surface of local volatility", () => {
  it("has its volatilities at its nodes, and stays flat outside", () => {
    surface.times.forEach((t, i) =>
      surface.spots.forEach((spot, j) =>
        expect(surfaceVolatility(surface, spot, t)).toBeCloseTo(surface.volatility[i][j], 15),
      ),
    );
    expect(surfaceVolatility(surface, 1, 0)).toBe(0.4);
    expect(surfaceVolatility(surface, 1e6, 99)).toBeCloseTo(0.2, 15);
  });

  it("is linear in time", () => {
    expect(surfaceVolatility(surface, 100, 0.75)).toBeCloseTo(0.25, 15);
    expect(surfaceVolatility(surface, 110, 1.25)).toBeCloseTo(0.23, 15);
  });

  // By hand: secants −0.005 and −0.01, α = 1/3, so 1/d = ((4/3)/−0.005 + (5/3)/−0.01)/3, d = −9/1300.
  it("has Fritsch and Butland's slopes, and 0 at the ends and where secants differ in sign", () => {
    expect(surface.slopes[0][1]).toBeCloseTo(-9 / 1300, 15);
    expect([surface.slopes[0][0], surface.slopes[0][2], surface.slopes[1][1]]).toEqual([0, 0, 0]);
    // Halfway between two nodes the cubic is the mean, and (width/8)·(d₀ − d₁) more.
    expect(surfaceVolatility(surface, 90, 0.5)).toBeCloseTo(0.35 + (20 / 8) * (9 / 1300), 15);
  });

  it("is the same at the same dates, seen later", () => {
    for (const t of [0.2, 0.5, 0.7, 1.5, 2, 5]) {
      const later = rollSurface(surface, t);
      for (const time of [0, 0.1, 0.4, 1.1, 3])
        for (const spot of [70, 91, 104, 120])
          expect(surfaceVolatility(later, spot, time)).toBeCloseTo(surfaceVolatility(surface, spot, t + time), 14);
    }
  });

  it("averages over time exactly", () => {
    const mean = (from: number, to: number, spot: number): number =>
      rowVolatility(surface, rowMean(surface, from, to), spot);
    // Trapezia: 0.3 up to 0.5, then down to 0.2 at 1.
    expect(mean(0, 1, 100)).toBeCloseTo(0.5 * 0.3 + 0.5 * 0.25, 15);
    expect(mean(0.75, 3, 110)).toBeCloseTo((0.25 * 0.23 + 1 * 0.22 + 1 * 0.2) / 2.25, 15);
    expect(mean(5, 6, 100)).toBeCloseTo(0.2, 15);
  });

  it("is shifted as a whole, whatever was asked before", () => {
    const flat = localSurface([1], [80, 120], [[0.2, 0.3]]);
    for (const shift of [0, 0.05, -0.1, 0.05]) {
      const row = rowRootMeanSquare(flat, 0, 1, shift);
      for (const [spot, sigma] of [
        [80, 0.2],
        [120, 0.3],
      ])
        expect(rowVolatility(flat, row, spot)).toBeCloseTo(sigma + shift, 14);
    }
  });

  it("never leaves the volatilities of its neighbours, and moves with them", () => {
    const row = fc.array(fc.double({ min: 0.01, max: 3, noNaN: true }), { minLength: 6, maxLength: 6 });
    const spots = [60, 80, 95, 100, 130, 200];
    fc.assert(
      fc.property(row, fc.double({ min: 60, max: 199, noNaN: true }), (volatility, spot) => {
        const made = localSurface([1], spots, [volatility]);
        const moved = localSurface([1], spots, [volatility.map((sigma) => sigma + 0.05)]);
        const i = spots.findLastIndex((node) => node <= spot);
        const [low, high] = [volatility[i], volatility[i + 1]].sort((a, b) => a - b);
        const sigma = surfaceVolatility(made, spot, 1);
        expect(sigma).toBeGreaterThanOrEqual(low - 1e-12);
        expect(sigma).toBeLessThanOrEqual(high + 1e-12);
        expect(surfaceVolatility(moved, spot, 1)).toBeCloseTo(sigma + 0.05, 10);
      }),
    );
  });
});
