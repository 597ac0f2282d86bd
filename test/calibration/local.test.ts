/** Local volatility from quotes by Dupire's formula, and Andreasen and Huge's surface. */
import { describe, expect, it } from "vitest";
import { fitAndreasenHuge } from "../../src/calibration/andreasen-huge.ts";
import { rmseOf, type SurfaceFit } from "../../src/calibration/fit.ts";
import { fitLocal } from "../../src/calibration/local-fit.ts";
import { type LocalSurface, localSurface, surfaceVolatility } from "../../src/market/index.ts";
import { readFixture } from "../support/fixtures.ts";
import { dax, quotesOf } from "./quotes.ts";

interface DupireCase {
  readonly id: string;
  readonly product: string;
  readonly params: Record<"expiries" | "strikes" | "interior_strikes" | "interior_expiries", number[]>;
  readonly expected: Record<"implied_volatilities" | "local_volatility_interior", number[][]>;
}
const covered = (readFixture("reference/calibration.json") as { cases: DupireCase[] }).cases.filter(({ product }) =>
  product.startsWith("dupire"),
);

function surfaceOf({ volatility }: SurfaceFit): LocalSurface {
  if (volatility.kind !== "surface") throw new Error("expected a surface");
  const { times, spots, volatility: rows } = volatility.surface;
  return localSurface(times, spots, rows);
}

describe("local volatility", () => {
  it.each(covered.map((c) => [c.id, c] as const))("%s, in the book's form", (_, { params, expected }) => {
    const k = params.strikes.map((strike) => Math.log(strike / 100));
    const expiries = params.expiries.map((t, e) => quotesOf(t, k, (_at, i) => expected.implied_volatilities[e][i]));
    const fit = fitLocal({ spot: 100, expiries });
    const surface = surfaceOf(fit);
    expect(fit.message).toBeUndefined();
    expect(fit.butterfly.free && fit.calendar.free).toBe(true);
    params.interior_expiries.forEach((t, e) =>
      params.interior_strikes.forEach((strike, i) => {
        const exact = expected.local_volatility_interior[e][i];
        // The reference's own bicubic spline is off by 2.4e-4 at most, and the grid of the book's form by as much.
        expect(Math.abs(surfaceVolatility(surface, strike, t) / exact - 1)).toBeLessThan(5e-4);
      }),
    );
    expect(rmseOf({ spot: 100, expiries }, fit.impliedVolatility)).toBeLessThan(1e-12);
  });

  it("says that quotes have arbitrage, and is that of Andreasen and Huge's surface then", () => {
    const fit = fitLocal(dax());
    expect(fit.message).toContain("the quotes are not free of arbitrage");
    expect(surfaceOf(fit).volatility).toEqual(surfaceOf(fitAndreasenHuge(dax())).volatility);
  });
});

describe("Andreasen and Huge's surface", () => {
  it("CAL-O-12: is free of arbitrage, within 1e-3 of the DAX quotes", () => {
    const fit = fitAndreasenHuge(dax());
    expect(fit.status).toBe("converged");
    expect(fit.butterfly.free && fit.calendar.free).toBe(true);
    // No surface without arbitrage is nearer than 4.3e-4, and the reference's is off by 8.7e-4.
    expect(rmseOf(dax(), fit.impliedVolatility)).toBeLessThan(1e-3);
  });

  it("prices its quotes and increases in total variance between expiries", () => {
    const smile = (k: number, t: number): number => 0.25 - (0.1 * k) / (1 + t) + 0.05 * k * k;
    const k = Array.from({ length: 30 }, (_, i) => -0.45 + 0.03 * i);
    const times = Array.from({ length: 12 }, (_, i) => 0.25 * (i + 1));
    const quotes = { spot: 100, expiries: times.map((t) => quotesOf(t, k, (at) => smile(at, t))) };
    const fit = fitAndreasenHuge(quotes);
    expect(rmseOf(quotes, fit.impliedVolatility)).toBeLessThan(1e-6);
    for (const at of [-0.3, 0, 0.3]) {
      let before = 0;
      for (let t = 0.05; t < 3; t += 0.05) {
        const variance = fit.impliedVolatility(at, t) ** 2 * t;
        expect(variance).toBeGreaterThan(before);
        before = variance;
      }
    }
  });

  it("takes one quote", () => {
    const quotes = { spot: 100, expiries: [quotesOf(1, [0.1], () => 0.2)] };
    const fit = fitAndreasenHuge(quotes);
    expect(fit.impliedVolatility(0.1, 1)).toBeCloseTo(0.2, 8);
    expect(
      surfaceOf(fitLocal(quotes))
        .volatility.flat()
        .every((sigma) => sigma > 0),
    ).toBe(true);
  });
});
