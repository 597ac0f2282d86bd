/** Local volatility from quotes by Dupire's formula, and Andreasen and Huge's surface. */
import { describe, expect, it, test } from "vitest";
import { fitAndreasenHuge } from "../../src/calibration/andreasen-huge.ts";
import { rmseOf, type SurfaceFit } from "../../src/calibration/fit.ts";
import { fitLocal } from "../../src/calibration/local-fit.ts";
import { localVolatility, sliceOf } from "../../src/calibration/variance-surface.ts";
import { type LocalSurface, localSurface, surfaceVolatility } from "../../src/market/index.ts";
import { readFixture } from "../support/fixtures.ts";
import { dax, quotesOf } from "./quotes.ts";
import { uniform } from "./uniform.ts";

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

test("nodes without a local volatility are counted as far as there are quotes, and not beyond them", () => {
  // w = 0.04 + 2.5·(√(k² + 1) − 1) has arbitrage from |k| = 0.42 on.
  const curve = { kind: "svi", parameters: { a: 0.04 - 2.5, b: 2.5, rho: 0, m: 0, sigma: 1 } } as const;
  const limitedWith = (reach: number): number => {
    const slice = sliceOf({ time: 1, forward: 100, range: [-reach, reach] }, curve);
    return localVolatility([slice], 100, { slices: [slice] }).limited;
  };
  expect(limitedWith(0.1)).toBe(0);
  expect(limitedWith(0.8)).toBeGreaterThan(0);
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

describe("between the quotes", () => {
  it("flat quotes give a flat smile, however far apart strikes and expiries are", () => {
    const random = uniform(41);
    for (let round = 0; round < 6; round++) {
      const level = 0.05 * 24 ** random();
      const [width, half, ratio] = [1 + 2 * random(), 2 + Math.floor(5 * random()), 1.5 + 3 * random()];
      const times = Array.from({ length: 5 }, (_, e) => 0.02 * ratio ** e);
      const expiries = times.map((t) => {
        const k = Array.from({ length: 2 * half + 1 }, (_, i) => width * level * Math.sqrt(t) * (i / half - 1));
        return quotesOf(t, k, () => level);
      });
      for (const fit of [fitAndreasenHuge({ spot: 100, expiries }), fitLocal({ spot: 100, expiries })]) {
        for (let i = 0; i < 50; i++) {
          const t = times[0] + (times[4] - times[0]) * random() ** 2;
          const [deviation, h] = [level * Math.sqrt(t), 1e-3];
          const at = (z: number): number => fit.impliedVolatility(z * deviation, t);
          const z = width * (2 * random() - 1) * Math.sqrt(times[0] / t);
          expect(Math.abs(at(z) / level - 1)).toBeLessThan(1e-6);
          // The value of a digital depends on this slope.
          expect(Math.abs(at(z + h) - at(z - h)) / (2 * h * level)).toBeLessThan(1e-5);
        }
      }
    }
  });

  it("smooth quotes are met between strikes by Andreasen and Huge's surface, and by its slope", () => {
    const random = uniform(42);
    for (let round = 0; round < 6; round++) {
      const [level, skew, bend] = [0.15 + 0.3 * random(), 0.15 * (random() - 0.7), 0.05 * random()];
      const smile = (z: number): number => level * (1 + skew * z + bend * z * z);
      const times = [0.1, 0.4, 1.5];
      const expiries = times.map((t) => {
        const k = [-2, -1.5, -1, -0.5, 0, 0.5, 1, 1.5, 2].map((z) => z * level * Math.sqrt(t));
        return quotesOf(t, k, (at) => smile(at / (level * Math.sqrt(t))));
      });
      const fit = fitAndreasenHuge({ spot: 100, expiries });
      for (const t of times) {
        const at = (z: number): number => fit.impliedVolatility(z * level * Math.sqrt(t), t);
        for (let z = -1.9; z < 1.9; z += 0.13) {
          expect(Math.abs(at(z) - smile(z))).toBeLessThan(1e-4);
          const slope = (at(z + 1e-3) - at(z - 1e-3)) / 2e-3;
          expect(Math.abs(slope / level - skew - 2 * bend * z)).toBeLessThan(1e-3);
        }
      }
    }
  });

  it("a variance that reverts to its mean is met by cubics in time between expiries that are near", () => {
    const random = uniform(43);
    let nearer = 0;
    for (let round = 0; round < 24; round++) {
      const [now, mean, speed] = [0.02 + 0.1 * random(), 0.02 + 0.1 * random(), 0.3 * 20 ** random()];
      const isNear = round % 2 === 0;
      const ratio = isNear ? 1.3 + 0.1 * random() : 1.5 + 3 * random();
      const times = Array.from({ length: 8 }, (_, e) => 0.1 * ratio ** e);
      const exact = (t: number): number => mean * t + ((now - mean) * (1 - Math.exp(-speed * t))) / speed;
      const volatility = (t: number): number => Math.sqrt(exact(t) / t);
      const expiries = times.map((t) => quotesOf(t, [-0.1, 0, 0.1], () => volatility(t)));
      const fit = fitLocal({ spot: 100, expiries });
      times.slice(1).forEach((late, e) => {
        for (let u = 0.1; u < 1; u += 0.2) {
          const t = times[e] + u * (late - times[e]);
          const linear = Math.sqrt((exact(times[e]) + u * (exact(late) - exact(times[e]))) / t);
          const own = fit.impliedVolatility(0.05, t);
          // Wherever the expiries are, the rule of all other fits is near.
          expect(Math.abs(own - linear)).toBeLessThan(2e-3);
          if (!isNear) continue;
          expect(Math.abs(own - volatility(t))).toBeLessThan(5e-5);
          if (Math.abs(linear - volatility(t)) > 2e-4) nearer++;
        }
      });
    }
    expect(nearer).toBeGreaterThan(20);
  });
});
