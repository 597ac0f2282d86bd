/** Derivatives along paths where parameters are 0 or small, and where a model may jump. */
import { afterAll, describe, expect, test } from "vitest";
import { createCpuDevice } from "../../src/device/cpu/index.ts";
import { fn } from "../../src/kernel/index.ts";
import {
  asian,
  blackScholes,
  european,
  gaussianFactors,
  heston,
  hullWhite,
  localVolatility,
  modelParams,
  monteCarlo,
  pathModel,
  pathProduct,
  productParams,
} from "../../src/montecarlo/index.ts";
import { normalCdf } from "../support/normal.ts";

const device = createCpuDevice({ threads: 2 });
afterAll(() => device[Symbol.dispose]());

const call = european({ payoff: "call", strike: 20 });

describe("mean reversions and volatilities of 0", () => {
  const base = { alpha1: 0.4, alpha2: 1.3, sigma1: 0.36, sigma2: 0.5 };
  const RHO = 0.3;
  const T = 2;
  /** Black's formula with the variance of both factors; expansions of (1 − e^(−aT))/a are not needed off 0. */
  const price = ({ alpha1, alpha2, sigma1, sigma2 }: typeof base): number => {
    const decay = (a: number): number => (Math.abs(a) < 1e-9 ? T : -Math.expm1(-a * T) / a);
    const both = 2 * RHO * sigma1 * sigma2 * decay(alpha1 + alpha2);
    const deviation = Math.sqrt(sigma1 ** 2 * decay(2 * alpha1) + both + sigma2 ** 2 * decay(2 * alpha2));
    return 20 * (2 * normalCdf(0.5 * deviation) - 1);
  };

  test.each([
    {},
    { alpha1: 0 },
    { alpha2: 0 },
    { alpha1: 0, alpha2: 0 },
    { alpha1: 1e-7 },
    { sigma1: 0 },
    { sigma2: 0 },
  ])("two factors: Black's formula, with %o", async (moved) => {
    const at = { ...base, ...moved };
    const { alpha1, alpha2, sigma1, sigma2 } = at;
    const model = gaussianFactors({ spot: 20, alpha: [alpha1, alpha2], sigma: [sigma1, sigma2], rho: RHO });
    const names = Object.keys(base) as (keyof typeof base)[];
    const settings = { device, model, product: call, dates: [0.5, T], paths: 2 ** 16, sensitivities: names };
    const { sensitivities } = await monteCarlo(settings);
    for (const name of names) {
      const { value, standardError, method } = sensitivities[name];
      const f = (by: number): number => price({ ...at, [name]: at[name] + by });
      const exact = (8 * (f(1e-3) - f(-1e-3)) - (f(2e-3) - f(-2e-3))) / 12e-3;
      expect(method).toBe("pathwise");
      expect(Math.abs(value[0] - exact)).toBeLessThanOrEqual(3.5 * standardError[0] + 1e-6);
    }
  });

  test.each(["f64", "f32"] as const)("Hull and White's rate: slopes are continuous at 0, in %s", async (precision) => {
    const slopesAt = async (meanReversion: readonly number[], volatility: readonly number[]) => {
      const model = hullWhite({ forward: 0.03, meanReversion, volatility });
      const product = european({ payoff: "call", strike: -0.01 });
      const names = ["vega", "meanReversion"];
      const settings = { device, model, product, dates: [1, 5], paths: 2 ** 12, streams: [0, 0], precision };
      const { sensitivities } = await monteCarlo({ ...settings, sensitivities: names });
      return names.map((name) => [...sensitivities[name].value]);
    };
    const digits = precision === "f64" ? 6 : 4;
    const [, byReversion] = await slopesAt([0, 1e-6], [0.01, 0.01]);
    expect(byReversion[0] / byReversion[1]).toBeCloseTo(1, digits - 2);
    const [vega] = await slopesAt([0.1, 0.1], [0, 1e-7]);
    expect(vega[0]).toBeCloseTo(vega[1], digits - 1);
  });
});

describe("amounts and volatilities of any size", () => {
  test.each([1e-8, 1e-4, 0.0065, 1, 1e7])("an average of spots near %d is a multiple of another", async (spot) => {
    const settings = { device, dates: [0.01, 0.02], paths: 2 ** 12, sensitivities: ["delta", "strike", "vega"] };
    for (const volatility of [0.001, 0.02, 0.3]) {
      const at = (size: number) =>
        monteCarlo({
          ...settings,
          model: blackScholes({ spot: size, rate: 0.02, yield: 0.02, volatility }),
          product: asian({ payoff: "call", strike: 1.0001 * size }),
        });
      const [small, unit] = [await at(spot), await at(1)];
      expect(small.control).toBe("geometric average");
      // Each path is homogeneous of degree 1, and coefficients of the control differ by the errors that they leave.
      const { delta, strike, vega } = small.sensitivities;
      const sum = delta.value[0] + 1.0001 * strike.value[0];
      const errors = delta.standardError[0] + strike.standardError[0] + small.standardError[0] / spot;
      expect(Math.abs(sum - small.value[0] / spot)).toBeLessThan(3.5 * errors + 1e-9);
      // Differences of the control's mean keep six digits.
      expect(delta.value[0] / unit.sensitivities["delta"].value[0]).toBeCloseTo(1, 5);
      expect(strike.value[0] / unit.sensitivities["strike"].value[0]).toBeCloseTo(1, 5);
      expect(vega.value[0] / spot / unit.sensitivities["vega"].value[0]).toBeCloseTo(1, 5);
    }
  });

  test("differences by a small strike are differences of small amounts", async () => {
    const product = pathProduct({
      name: "call without a word on jumps",
      running: 0,
      parameters: { strike: 1e-4 },
      payoff: fn({ params: productParams.payoff, body: ({ spots, p }) => Math.max(spots[0] - p[0], 0) }),
    });
    const model = blackScholes({ spot: 1e-4, volatility: 0.2 });
    const settings = { device, model, product, dates: [1], paths: 2 ** 14, sensitivities: ["strike"] };
    const { value, standardError, method } = (await monteCarlo(settings)).sensitivities["strike"];
    expect(method).toBe("bump");
    expect(Math.abs(value[0] + normalCdf(-0.1))).toBeLessThan(3.5 * standardError[0]);
  });
});

describe("points of Sobol' on one side of a kink", () => {
  const RUNS = 200;
  // As many as 95 % intervals cover, less four standard deviations.
  const LEAST = 0.95 * RUNS - 4 * Math.sqrt(0.95 * 0.05 * RUNS);

  test.each([0.5, 2, 8, 22, 31, 40])("intervals cover the probability of a payoff: %d of 64", async (of64) => {
    for (const antithetic of [false, true]) {
      // P(S > K) is a little more than a multiple of a point's share, which few scramblings show.
      const exact = (of64 + 0.12) / 64;
      let d = -4;
      for (let step = 4; step > 1e-12; step /= 2) if (normalCdf(d + step) < exact) d += step;
      const model = blackScholes({ spot: 100, volatility: 0.2 });
      const product = european({ payoff: "call", strike: 100 * Math.exp(-0.2 * d - 0.02) });
      const streams = Float64Array.from({ length: RUNS }, (_, i) => i);
      const points = { sampling: "sobol", scramblings: 8, antithetic, paths: 64 * 8 * (antithetic ? 2 : 1) } as const;
      const asked = { device, model, product, dates: [1], ...points, streams, sensitivities: ["strike"] };
      const { value, errorEstimate } = (await monteCarlo(asked)).sensitivities["strike"];
      const covered = value.filter((x, i) => Math.abs(x + exact) <= errorEstimate[i]).length;
      expect(covered).toBeGreaterThanOrEqual(LEAST);
    }
  });
});

describe("models that may jump", () => {
  /** ln S = 0.2·√dt·Z, and a fall by a third with the probability of an intensity. */
  const falling = {
    name: "falls",
    assets: 1,
    state: 1,
    normals: 1,
    uniforms: 1,
    parameters: { spot: 100, intensity: 0.1, gammaOfFalls: 1 / 3 },
    start: fn({
      params: modelParams.start,
      body({ p, state }) {
        state[0] = p[0];
      },
    }),
    step: fn({
      params: modelParams.step,
      body({ state, normals, uniforms, c, dt }) {
        state[0] = state[0] * Math.exp(0.2 * Math.sqrt(dt) * normals[0] - 0.02 * dt);
        if (uniforms[0] < c[1] * dt) state[0] = state[0] * (1 - c[2]);
      },
    }),
    observe: fn({
      params: modelParams.observe,
      body({ state, spots }) {
        spots[0] = state[0];
      },
    }),
  };
  const forward = european({ payoff: "call", strike: 0 });
  // E S = 100·(1 − λ/3): the slope by λ is in the jumps alone.
  const exact = { spot: 1 - 0.1 / 3, intensity: -100 / 3, gammaOfFalls: -10 };
  const settings = { device, product: forward, dates: [1], paths: 2 ** 18, sensitivities: Object.keys(exact) };

  test.each([undefined, ["intensity"]])("a model of one's own that jumps with %o", async (jumpsWith) => {
    const model = pathModel(jumpsWith === undefined ? falling : { ...falling, jumpsWith });
    const { sensitivities } = await monteCarlo({ ...settings, model });
    for (const [name, expected] of Object.entries(exact)) {
      const { value, standardError, method } = sensitivities[name];
      expect(method).toBe(jumpsWith === undefined || name === "intensity" ? "bump" : "pathwise");
      expect(Math.abs(value[0] - expected)).toBeLessThan(3.5 * standardError[0]);
    }
  });

  test("a parameter whose name begins with gamma has a first derivative", async () => {
    const model = pathModel({ ...falling, jumpsWith: ["intensity"] });
    const asked = { sensitivities: ["gammaOfFalls"], sensitivityMethod: "pathwise" } as const;
    const { sensitivities } = await monteCarlo({ ...settings, ...asked, model });
    expect(sensitivities["gammaOfFalls"].method).toBe("pathwise");
  });

  test("a local volatility says whether it jumps", async () => {
    const at = { spot: 103, rate: 0.03, volatility: "S > 100 ? 0.15 : 0.4" };
    const asked = { device, product: call, dates: [0.5, 1], paths: 2 ** 8, sensitivities: ["delta", "strike"] };
    for (const isDiscontinuous of [undefined, true, false]) {
      const model = localVolatility(isDiscontinuous === undefined ? at : { ...at, isDiscontinuous });
      const { sensitivities } = await monteCarlo({ ...asked, model });
      expect(sensitivities["delta"].method).toBe(isDiscontinuous === false ? "pathwise" : "bump");
      expect(sensitivities["strike"].method).toBe("pathwise");
    }
    const model = localVolatility({ ...at, isDiscontinuous: true });
    await expect(monteCarlo({ ...asked, model, sensitivityMethod: "pathwise" })).rejects.toThrow(/jump with spot/);
  });
});

test("bumps in f32 agree with those in f64, and a small variance stays positive", async () => {
  const dates = Array.from({ length: 50 }, (_, k) => (k + 1) / 50);
  const variance = { kappa: 1.5, theta: 0.04, sigma: 0.5, rho: -0.7 };
  const asked = { device, product: european({ payoff: "call", strike: 100 }), dates, paths: 2 ** 12 };
  const model = heston({ spot: 100, rate: 0.03, v0: 0.04, ...variance });
  const bumped = { ...asked, model, sensitivities: ["rho"], sensitivityMethod: "bump" } as const;
  const [exact, rounded] = [await monteCarlo(bumped), await monteCarlo({ ...bumped, precision: "f32" })];
  expect(rounded.sensitivities["rho"].value[0] / exact.sensitivities["rho"].value[0]).toBeCloseTo(1, 2);
  const small = heston({ spot: 100, rate: 0.03, v0: 1e-5, ...variance });
  const { sensitivities, status } = await monteCarlo({ ...asked, model: small, sensitivities: ["v0"] });
  expect(status[0]).toBe("fixed");
  expect(sensitivities["v0"].value[0]).toSatisfy(Number.isFinite);
});
