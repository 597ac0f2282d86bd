/** Models against closed forms; orders of convergence of those that are not exact. */
import { afterAll, describe, expect, test } from "vitest";
import { createCpuDevice } from "../../src/device/cpu/index.ts";
import { fn, kernelFromSource, lower, real, write } from "../../src/kernel/index.ts";
import { interpret } from "../../src/kernel/interpret/index.ts";
import {
  blackScholes,
  european,
  gaussianFactors,
  heston,
  hullWhite,
  hullWhiteBond,
  localVolatility,
  lookback,
  terminalPayoff,
  modelParams,
  monteCarlo,
  type MonteCarloSettings,
  pathModel,
  type PathProduct,
  pathProduct,
  productParams,
  stochasticLocal,
} from "../../src/montecarlo/index.ts";
import { hestonPrice } from "../../tools/coverage/references/heston.ts";
import { Random } from "../../tools/properties/random.ts";
import { normalCdf } from "../support/normal.ts";
import { casesOf, equalDates, expectWithin } from "./support.ts";

const device = createCpuDevice({ threads: 2 });
afterAll(() => device[Symbol.dispose]());
const price = (settings: MonteCarloSettings) => monteCarlo({ device, paths: 2 ** 15, seed: 7, ...settings });

const black = (forward: number, strike: number, variance: number, discount: number): number => {
  const width = Math.sqrt(variance);
  const d = Math.log(forward / strike) / width + 0.5 * width;
  return discount * (forward * normalCdf(d) - strike * normalCdf(d - width));
};

/** The last spot itself, whose mean is the forward. */
const forwardOf = pathProduct({
  name: "forward",
  running: 0,
  parameters: {},
  payoff: fn({ name: "forward", params: productParams.payoff, body: ({ spots }) => spots[0] }),
});

describe("Black and Scholes", () => {
  test("rates and volatilities that are piecewise constant: LVL-O-11", async () => {
    const one = casesOf("local-volatility").find(({ id }) => id === "LVL-O-11")!;
    const { params: p } = one;
    const pieces = p.pieces as { rate: number; dividend_yield: number; volatility: number; until: number }[];
    const model = blackScholes({
      spot: p.spot,
      rate: { byStep: pieces.map(({ rate }) => rate) },
      yield: { byStep: pieces.map((piece) => piece.dividend_yield) },
      volatility: { byStep: pieces.map(({ volatility }) => volatility) },
    });
    const product = european({ payoff: p.option_type, strike: p.strike });
    const dates = pieces.map(({ until }) => until);
    expectWithin(await price({ model, product, dates, sampling: "sobol" }), one.expected.price);
  });
});

describe("local volatility", () => {
  test.each(["LVL-O-05", "LVL-O-07"])("constant elasticity of variance: %s", async (id) => {
    const one = casesOf("local-volatility").find((some) => some.id === id)!;
    const { params: p } = one;
    const volatility = `${p.alpha ?? p.sigma}*S^(${p.beta - 1})`;
    const carry = p.dividend_yield ?? p.rate;
    const model = localVolatility({ spot: p.forward ?? p.spot, rate: p.rate, yield: carry, volatility });
    const product = european({ payoff: p.option_type, strike: p.strike });
    const estimate = await price({ model, product, dates: [p.maturity], substeps: 32, sampling: "sobol" });
    // Euler's bias with one step is below 10 % of these values, and of first order.
    expectWithin(estimate, one.expected.price, (0.1 * one.expected.price) / 32);
  });

  test("Euler's bias halves with the step, and a function is what the formula is", async () => {
    const settings = { spot: 100, rate: 0.02, yield: 0.02 };
    const model = localVolatility({ ...settings, volatility: "0.1 + 0.4*t" });
    const product = european({ payoff: "call", strike: 100 });
    // ∫ (0.1 + 0.4·t)² dt
    const exact = black(100, 100, 0.01 + 0.04 + 0.16 / 3, Math.exp(-0.02));
    const errors: number[] = [];
    for (const substeps of [4, 8, 16]) {
      const { value, standardError } = await price({ model, product, dates: [1], substeps, sampling: "sobol" });
      errors.push(value[0] - exact);
      expect(standardError[0]).toBeLessThan(0.02 * Math.abs(errors.at(-1)!));
    }
    for (const ratio of [errors[0] / errors[1], errors[1] / errors[2]]) {
      expect(ratio).toBeGreaterThan(1.8);
      expect(ratio).toBeLessThan(2.2);
    }
    const other = localVolatility({ ...settings, volatility: ({ t }) => 0.1 + 0.4 * t });
    const few = { product, dates: [1], substeps: 2, paths: 1024 };
    const { value } = await price({ ...few, model });
    expect((await price({ ...few, model: other })).value).toEqual(value);
    // By functions of your own, in a formula, in a function, and in a payoff.
    const functions = { lineOf: (t: number, at: number) => at + 0.4 * t, positive: (x: number) => Math.max(x, 0) };
    const byFormula = localVolatility({ ...settings, functions, volatility: "lineOf(t, 0.1)" });
    const byFunction = localVolatility({
      ...settings,
      functions,
      volatility: ({ t }, _, { lineOf }) => lineOf(t, 0.1),
    });
    expect((await price({ ...few, model: byFormula })).value).toEqual(value);
    expect((await price({ ...few, model: byFunction })).value).toEqual(value);
    const payoffs = ["max(S1 - 100, 0)", "positive(S1 - 100)"].map((payoff) =>
      terminalPayoff({ payoff, functions, assets: 1 }),
    );
    const [plain, own] = await Promise.all(payoffs.map((of) => price({ ...few, product: of, model })));
    expect(own.value).toEqual(plain.value);
  });
});

describe("Heston by QE-M", () => {
  const cases = casesOf("heston").filter(
    ({ params: p, product }) => product === "heston_european" && p.spot !== undefined,
  );
  const modelOf = (p: (typeof cases)[number]["params"]) =>
    heston({
      spot: p.spot,
      rate: p.rate,
      yield: p.dividend_yield,
      v0: p.v0,
      kappa: p.kappa,
      theta: p.theta,
      sigma: p.sigma,
      rho: p.rho,
    });

  test.each(cases.map((one) => [one.id, one] as const))("%s", async (_, one) => {
    const { params: p } = one;
    const substeps = Math.ceil(32 * Math.min(p.maturity, 4));
    const product = european({ payoff: p.option_type, strike: p.strike });
    const estimate = await price({ model: modelOf(p), product, dates: [p.maturity], substeps });
    expectWithin(estimate, one.expected.price, 1e-3 * one.expected.price);
  });

  test("steps of many times 1/κ have the variance of ln S", async () => {
    const random = new Random(3);
    const sets = Array.from({ length: 32 }, () => {
      const [kappa, theta] = [random.logUniform(50, 500), random.logUniform(0.01, 0.2)];
      const [sigma, rho] = [random.uniform(0.1, 1), random.uniform(-0.99, 0.99)];
      return {
        heston: { v0: theta * random.uniform(0.5, 2), kappa, theta, sigma, rho },
        strike: random.uniform(80, 120),
      };
    });
    const column = (of: (one: (typeof sets)[number]) => number): Float64Array => Float64Array.from(sets, of);
    const parameter = (name: keyof (typeof sets)[number]["heston"]) => column(({ heston: own }) => own[name]);
    const model = heston({
      spot: 100,
      v0: parameter("v0"),
      kappa: parameter("kappa"),
      theta: parameter("theta"),
      sigma: parameter("sigma"),
      rho: parameter("rho"),
    });
    const product = european({ payoff: "put", strike: column(({ strike }) => strike) });
    const { value, standardError } = await price({ model, product, dates: [4], substeps: 8, sampling: "sobol" });
    sets.forEach(({ heston: own, strike }, i) => {
      const right = hestonPrice({ spot: 100, rate: 0, yield: 0, expiry: 4, heston: own }, "put", strike);
      // What is left is the skewness between the ends of steps, σ/κ times as large.
      const skewness = (100 * 0.5 * own.sigma) / own.kappa;
      expect(Math.abs(value[i] - right), `set ${i}`).toBeLessThan(4 * standardError[i] + 0.5 * skewness);
    });
  });

  test("the forward is exact with the martingale correction, even with long steps", async () => {
    const { params: p } = cases[0];
    const estimate = await price({ model: modelOf(p), product: forwardOf, dates: [p.maturity], substeps: 2 });
    expectWithin(estimate, p.spot * Math.exp(-p.dividend_yield * p.maturity));
  });
});

test("a variance that is as good as certain: Black's formula with what it is in the mean", async () => {
  const [v0, kappa, theta, maturity, leverage] = [0.01, 4, 0.09, 1, 1.2];
  const model = stochasticLocal({
    variance: "heston",
    spot: 100,
    v0,
    kappa,
    theta,
    sigma: 1e-4,
    rho: 0,
    center: Math.log(100),
    width: 1,
    leverage: [leverage, leverage, leverage],
  });
  const variance = theta * maturity + ((v0 - theta) * (1 - Math.exp(-kappa * maturity))) / kappa;
  const product = european({ payoff: "call", strike: 100 });
  const estimate = await price({ model, product, dates: [maturity], substeps: 32, sampling: "sobol" });
  const exact = black(100, 100, leverage ** 2 * variance, 1);
  // The trapezoidal rule takes 2·10⁻⁴ of the value.
  expectWithin(estimate, exact, 3e-4 * exact);
  expect(estimate.errorEstimate[0]).toBeLessThan(2e-3 * exact);
});

describe("two Gaussian factors", () => {
  const [alpha, sigma, rho] = [[0.21, 5.4] as const, [0.36, 1.11] as const, -0.11];
  const decay = (a: number, t: number): number => (a === 0 ? t : (1 - Math.exp(-a * t)) / a);
  const variance = (a: readonly [number, number], t: number): number =>
    sigma[0] ** 2 * decay(2 * a[0], t) +
    2 * rho * sigma[0] * sigma[1] * decay(a[0] + a[1], t) +
    sigma[1] ** 2 * decay(2 * a[1], t);

  test.each([[alpha], [[0, 1.5]]] as const)("alpha %s: Black's formula, exact in steps of any length", async (a) => {
    const model = gaussianFactors({ spot: 20, rate: 0.03, yield: 0.01, alpha: a, sigma, rho });
    const exact = black(20 * Math.exp(0.02 * 1.5), 21, variance(a, 1.5), Math.exp(-0.03 * 1.5));
    const product = european({ payoff: "call", strike: 21 });
    for (const dates of [[1.5], [0.1, 0.5, 1.5]])
      expectWithin(await price({ model, product, dates, sampling: "sobol" }), exact);
  });
});

describe("Hull and White", () => {
  const bondOption = (p: Record<string, any>): PathProduct => {
    const [f, a, s, t, end] = [
      p.flat_rate,
      p.mean_reversion,
      p.volatility,
      p.option_expiry,
      p.bond_maturity,
    ] as number[];
    return pathProduct({
      name: "option on a bond",
      running: 0,
      parameters: { strike: p.strike },
      payoff: fn({
        name: "bondOption",
        params: productParams.payoff,
        env: {
          hullWhiteBond,
          RATIO: Math.exp(-f * (end - t)),
          SPAN: end - t,
          A: a,
          S: s,
          SIGN: p.option_type === "call" ? 1 : -1,
        },
        body({ spots, p, t }, _gpu, { hullWhiteBond, RATIO, SPAN, A, S, SIGN }) {
          const bond = hullWhiteBond({ x: spots[0], ratio: RATIO, t, span: SPAN, meanReversion: A, volatility: S });
          return Math.max(SIGN * (bond - p[0]), 0);
        },
      }),
    });
  };
  const cases = casesOf("short-rate").filter(({ product }) => product === "hull_white_bond_option");

  test.each(cases.map((one) => [one.id, one] as const))("%s, discounted by the path", async (_, one) => {
    const { params: p } = one;
    const model = hullWhite({ forward: p.flat_rate, meanReversion: p.mean_reversion, volatility: p.volatility });
    const expiry = p.option_expiry as number;
    for (const dates of [[expiry], [expiry / 3, expiry]])
      expectWithin(await price({ model, product: bondOption(p), dates, sampling: "sobol" }), one.expected.option);
  });

  test("the mean discount factor is today's, also without mean reversion", async () => {
    const one = pathProduct({
      name: "1",
      running: 0,
      parameters: {},
      payoff: fn({ name: "one", params: productParams.payoff, body: ({ t }) => t / t }),
    });
    for (const meanReversion of [0, 0.004, 0.3]) {
      const model = hullWhite({ forward: 0.03, meanReversion, volatility: 0.02 });
      expectWithin(await price({ model, product: one, dates: [2, 5], sampling: "sobol" }), Math.exp(-0.15));
    }
  });
});

test("a model of your own: the spot of Bachelier, LVL-O-10", async () => {
  const one = casesOf("local-volatility").find(({ id }) => id === "LVL-O-10")!;
  const { params: p } = one;
  const model = pathModel({
    name: "Bachelier",
    assets: 1,
    state: 1,
    normals: 1,
    uniforms: 0,
    parameters: { spot: p.forward, rate: p.rate, sigma: p.normal_vol },
    start: fn({
      params: modelParams.start,
      body({ p, state }) {
        state[0] = p[0];
      },
    }),
    step: fn({
      params: modelParams.step,
      body({ state, normals, c, dt }) {
        state[0] = state[0] + c[2] * Math.sqrt(dt) * normals[0];
      },
    }),
    observe: fn({
      params: modelParams.observe,
      body({ state, spots }) {
        spots[0] = state[0];
      },
    }),
  });
  const product = european({ payoff: p.option_type, strike: p.strike });
  expectWithin(
    await price({ model, product, dates: equalDates(3, p.maturity), sampling: "sobol" }),
    one.expected.price,
  );
});

test("a bond of Hull and White's model at a later time, by the variances of the integrated rate", () => {
  const [a, sigma, x, t, span, ratio] = [0.12, 0.015, 0.01, 2.5, 4, Math.exp(-0.03 * 4)];
  // (3.39) with V(s) = σ²/a²·(s − 2·B(a, s) + B(2a, s)), B(c, s) = (1 − e^(−cs))/c.
  const b = (c: number, s: number): number => (1 - Math.exp(-c * s)) / c;
  const v = (s: number): number => (sigma / a) ** 2 * (s - 2 * b(a, s) + b(2 * a, s));
  const expected = ratio * Math.exp(-b(a, span) * x + 0.5 * (v(span) - v(t + span) + v(t)));
  const source = `({ out }, gpu, { hullWhiteBond }) => {
    out[0] = hullWhiteBond({ x: ${x}, ratio: ${ratio}, t: ${t}, span: ${span}, meanReversion: ${a}, volatility: ${sigma} });
  }`;
  const out = new Float64Array(1);
  const params = { out: write(real) };
  interpret(lower(kernelFromSource({ params, env: { hullWhiteBond }, source }), "f64"), { out }, { items: 1 });
  expect(out[0]).toBeCloseTo(expected, 14);
});

test("an extreme that is watched from a date on leaves out what was before", async () => {
  // Next to no volatility: the spot falls from 100 on, and from half a year on it is at most 100·e^(−0.1).
  const model = blackScholes({ spot: 100, rate: 0.03, yield: 0.23, volatility: 1e-6 });
  for (const monitoring of ["dates", "continuous"] as const) {
    const product = lookback({ payoff: "call", strike: 60, from: 0.5, monitoring });
    const { value } = await price({ model, product, dates: [0.5, 1] });
    expect(value[0]).toBeCloseTo((100 * Math.exp(-0.1) - 60) * Math.exp(-0.03), 2);
  }
});
