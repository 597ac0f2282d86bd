/** SSVI against the reference cases, and recovered from its own quotes. */
import { describe, expect, it } from "vitest";
import {
  butterflyCheck,
  butterflyFunction,
  calendarCheck,
  type VarianceSlice,
} from "../../src/calibration/arbitrage.ts";
import { rmseOf } from "../../src/calibration/fit.ts";
import { fitSsvi } from "../../src/calibration/ssvi-fit.ts";
import { ssviConditions, ssviPhi, type SsviPhi } from "../../src/calibration/ssvi.ts";
import { ssviVariance } from "../../src/market/ssvi.ts";
import { readFixture } from "../support/fixtures.ts";
import { dax, quotesOf } from "./quotes.ts";
import { uniform } from "./uniform.ts";

interface SurfaceCase {
  readonly id: string;
  readonly product: string;
  readonly params: {
    readonly phi: "power" | "heston";
    readonly eta: number;
    readonly gamma: number;
    readonly lambda: number;
    readonly rho: number;
    readonly theta: number[];
    readonly times: number[];
  };
  readonly expected: Record<
    "phi" | "theta_phi_1_abs_rho" | "theta_phi2_1_abs_rho" | "d_theta_phi" | "calendar_bound" | "g_min" | "g_argmin",
    number[]
  > & {
    readonly min_calendar_increment: number[];
    readonly butterfly_sufficient: boolean[];
    readonly calendar_free_by_condition: boolean;
    readonly calendar_arbitrage_observed: boolean;
  };
}
const covered = (readFixture("reference/calibration.json") as { cases: SurfaceCase[] }).cases.filter(
  ({ product }) => product === "ssvi_surface",
);

const formOf = ({ phi, eta, gamma, lambda }: SurfaceCase["params"]): SsviPhi =>
  phi === "heston" ? { kind: "heston-like", lambda } : { kind: "plain-power", eta, gamma };

const sliceOf = (form: SsviPhi, rho: number, theta: number, time: number): VarianceSlice => ({
  time,
  forward: 100,
  range: [-3, 3],
  at: (k) => ssviVariance({ theta, phi: ssviPhi(form, theta).phi, rho, k }),
});

describe("SSVI", () => {
  it.each(covered.map((c) => [c.id, c] as const))("%s", (_, { params, expected }) => {
    const form = formOf(params);
    const { rho, theta: thetas, times } = params;
    const slices = thetas.map((theta, i) => sliceOf(form, rho, theta, times[i]));
    thetas.forEach((theta, i) => {
      const conditions = ssviConditions(form, rho, theta);
      expect(ssviPhi(form, theta).phi).toBeCloseTo(expected.phi[i], 9);
      expect(conditions.thetaPhi).toBeCloseTo(expected.theta_phi_1_abs_rho[i], 9);
      expect(conditions.thetaPhiSquared).toBeCloseTo(expected.theta_phi2_1_abs_rho[i], 9);
      expect(conditions.productSlope).toBeCloseTo(expected.d_theta_phi[i], 9);
      expect(conditions.calendarBound / expected.calendar_bound[i]).toBeCloseTo(1, 9);
      expect(conditions.butterflySufficient).toBe(expected.butterfly_sufficient[i]);
      // The case has the smallest g on a grid, and the check finds it between its points.
      const k = expected.g_argmin[i];
      const g = butterflyFunction({ k, ...slices[i].at(k) });
      expect(g).toBeCloseTo(expected.g_min[i], 9);
      const { min } = butterflyCheck([slices[i]]);
      expect(min).toBeLessThanOrEqual(g);
      expect(min).toBeGreaterThan(g - 1e-5);
    });
    expect(thetas.every((theta) => ssviConditions(form, rho, theta).calendarFree)).toBe(
      expected.calendar_free_by_condition,
    );
    const calendar = calendarCheck(slices);
    expect(calendar.free).toBe(!expected.calendar_arbitrage_observed);
    expect(Math.abs(calendar.min - Math.min(...expected.min_calendar_increment))).toBeLessThan(1e-8);
  });

  it("is recovered from its own quotes where it is free of arbitrage", () => {
    const next = uniform(5);
    for (let i = 0; i < 200; i++) {
      const rho = -0.9 + 1.6 * next();
      const gamma = 0.05 + 0.9 * next();
      const times = [0.1, 0.25, 0.5, 1, 2];
      const level = 0.02 + 0.1 * next();
      const thetas = times.map((t) => level * t ** (0.8 + 0.2 * next()));
      const skew = 1 + Math.abs(rho);
      const most = Math.min(
        ...thetas.flatMap((t) => [(4 * t ** (gamma - 1)) / skew, 2 * t ** (gamma - 0.5) * skew ** -0.5]),
      );
      const form: SsviPhi = { kind: "plain-power", eta: most * (0.1 + 0.85 * next()), gamma };
      const sorted = thetas.toSorted((a, b) => a - b);
      const k = Array.from({ length: 15 }, (_, j) => -0.7 + j / 10);
      const expiries = sorted.map((theta, e) =>
        quotesOf(times[e], k, (at) => Math.sqrt(sliceOf(form, rho, theta, 1).at(at).variance / times[e])),
      );
      const fit = fitSsvi({ spot: 100, expiries });
      expect(rmseOf({ spot: 100, expiries }, fit.impliedVolatility)).toBeLessThan(1e-8);
      expect(fit.butterfly.free && fit.calendar.free).toBe(true);
    }
  });

  it("keeps its conditions on quotes that have arbitrage, and says which parameters they hold", () => {
    const fit = fitSsvi(dax());
    expect(fit.status).toBe("converged");
    expect(rmseOf(dax(), fit.impliedVolatility)).toBeLessThan(0.01);
    const { rho, eta, gamma, theta } = fit.parameters as Record<string, number> & { theta: number[] };
    for (const one of theta) {
      const conditions = ssviConditions({ kind: "plain-power", eta, gamma }, rho, one);
      expect(conditions.thetaPhiSquared).toBeLessThanOrEqual(4 * (1 + 1e-12));
      expect(conditions.calendarFree).toBe(true);
    }
    const falling = [0.3, 0.2].map((sigma, i) => quotesOf(0.5 + 0.1 * i, [-0.2, 0, 0.2], () => sigma));
    expect(fitSsvi({ spot: 100, expiries: falling }).calendar.free).toBe(true);
  });
});
