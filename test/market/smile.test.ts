/** Total variances of a smile between its expiries, and their derivatives by differences. */
import { describe, expect, test } from "vitest";
import { type SmileSurface, smileVariance, smileVolatility, splineThrough } from "../../src/market/index.ts";

const curve = (level: number): SmileSurface["slices"][number]["curve"] => ({
  kind: "svi",
  parameters: { a: 0.5 * level, b: 0.3 * level, rho: -0.4, m: 0.02, sigma: 0.2 },
});
const slices = [0.5, 1.25, 3].map((time) => ({ time, curve: curve(0.05 * time ** 0.8) }));
const hagan = {
  kind: "sabr",
  model: { alpha: 0.3, beta: 0.7, rho: -0.3, nu: 0.6 },
  forward: 1.1,
  time: 0.5,
} as const;
const cubics = slices.map((_, i) =>
  splineThrough(
    slices.map(({ time }) => Math.log(time)),
    slices.map((__, j) => (i === j ? 1 : 0)),
  ),
);
const clock = [
  { until: 0.4, share: 0.05 },
  { until: 1.1, share: 0.02 },
  { until: 3, share: 0 },
];
const surfaces: readonly (readonly [string, SmileSurface])[] = [
  ["linear in time", { slices }],
  ["SABR first", { slices: [{ time: 0.5, curve: hagan }, ...slices.slice(1)] }],
  ["cubic in time", { slices, cubics }],
  ["by the clock of dividends", { slices, clock }],
];

describe.each(surfaces)("a smile %s", (_, surface) => {
  test("has its slices' variances at their times, and the volatility is their root by the time", () => {
    for (const { time, curve: own } of slices.slice(1)) {
      if (own.kind !== "svi") throw new Error("no SVI");
      const { a, b, rho, m, sigma } = own.parameters;
      for (const k of [-0.5, 0, 0.3]) {
        const raw = a + b * (rho * (k - m) + Math.sqrt((k - m) ** 2 + sigma ** 2));
        expect(smileVariance(surface, k, time).variance).toBeCloseTo(raw, 12);
        expect(smileVolatility(surface, k, time)).toBeCloseTo(Math.sqrt(raw / time), 12);
      }
    }
  });

  test("has the derivatives of its variance", () => {
    for (const t of [0.2, 0.8, 1.2, 2, 3.5]) {
      // A smile by a clock is one up to its last time.
      if (surface.clock !== undefined && t > 3) continue;
      for (const k of [-0.4, 0.05, 0.35]) {
        const at = (dk: number, dt: number): number => smileVariance(surface, k + dk, t + dt).variance;
        const { slope, curvature, byTime } = smileVariance(surface, k, t);
        const [h, s] = [1e-3, 1e-4];
        expect(slope).toBeCloseTo((at(h, 0) - at(-h, 0)) / (2 * h), 5);
        expect(curvature).toBeCloseTo((at(h, 0) - 2 * at(0, 0) + at(-h, 0)) / (h * h), 3);
        expect(byTime).toBeCloseTo((at(0, s) - at(0, -s)) / (2 * s), 6);
      }
    }
  });
});

test("between two expiries total variance is linear in time, and before the first volatility is constant", () => {
  const w = (t: number): number => smileVariance({ slices }, 0.2, t).variance;
  expect(w(0.8)).toBeCloseTo(w(0.5) + (0.3 / 0.75) * (w(1.25) - w(0.5)), 14);
  expect(w(0.1)).toBeCloseTo(w(0.5) / 5, 14);
  expect(w(6)).toBeCloseTo(2 * w(3), 14);
});
