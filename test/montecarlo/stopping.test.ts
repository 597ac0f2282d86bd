/** Longstaff and Schwartz against exact Bermudan prices; bounds on both sides. */
import { afterAll, describe, expect, test } from "vitest";
import { createCpuDevice } from "../../src/device/cpu/index.ts";
import { fn } from "../../src/kernel/index.ts";
import {
  basisFunctionParams,
  basket,
  blackScholes,
  european,
  geometricBrownian,
  heston,
  longstaffSchwartz,
  type LongstaffSchwartzResult,
  type LongstaffSchwartzSettings,
} from "../../src/montecarlo/index.ts";
import { casesOf, equalDates } from "./support.ts";

const device = createCpuDevice({ threads: 2 });
afterAll(() => device[Symbol.dispose]());
const price = (settings: LongstaffSchwartzSettings) =>
  longstaffSchwartz({ device, seed: 3, paths: 2 ** 15, ...settings });

/** Not above the price but for three standard errors, and not below by more than these and the bias of the rule. */
function expectLower({ value, standardError }: LongstaffSchwartzResult, exact: number, bias: number): void {
  expect(value[0] - exact).toBeLessThan(3 * standardError[0]);
  expect(exact - value[0]).toBeLessThan(3 * standardError[0] + bias);
}

describe("the paper's puts", () => {
  test.each(casesOf("lsm-table").map((one) => [one.id, one] as const))("%s", async (_, one) => {
    const { params: p, expected } = one;
    const model = blackScholes({ spot: p.spot, rate: p.rate, volatility: p.volatility });
    const product = european({ payoff: p.option_type, strike: p.strike });
    const dates = equalDates(p.n_exercise, p.maturity);
    const estimates = await price({ model, product, dates, paths: 2 ** 14, regressionPaths: 2 ** 12 });
    expect(estimates.condition[0]).toBeLessThan(1e3);
    expectLower(estimates, expected.price, 0.01);
  });
});

describe("several assets", () => {
  const calls = casesOf("american-multi-asset").filter(({ product }) => product === "bermudan_max_call");
  test.each(calls.map((one) => [one.id, one] as const))("%s, a call on the largest", async (_, one) => {
    const { params: p, expected } = one;
    const d = p.n_assets as number;
    const each = (x: number): number[] => new Array<number>(d).fill(x);
    const model = geometricBrownian({
      spots: each(p.spot_each),
      rate: p.rate,
      yields: each(p.dividend_yield_each),
      volatilities: each(p.volatility_each),
    });
    const product = basket({ payoff: "call", kind: "best-of", strike: p.strike, weights: each(1) });
    const dates = equalDates(p.n_exercise, p.maturity);
    const basis = { kind: "monomials", degree: d > 3 ? 2 : 3, order: "descending" } as const;
    const upper = d === 2 ? { outer: 128, inner: 256 } : false;
    const estimates = await price({ model, product, dates, basis, paths: 2 ** 16, upper });
    expectLower(estimates, expected.price, 0.005 * expected.price);
    if (estimates.upper === undefined) return;
    const { value, standardError } = estimates.upper;
    // What the price does not know the bound does not know either.
    expect(standardError[0]).toBeGreaterThan(estimates.standardError[0]);
    expect(value[0]).toBeGreaterThan(expected.price - 3 * standardError[0]);
    expect(value[0]).toBeLessThan(expected.price + 3 * standardError[0] + 0.01 * expected.price);
    expect(value[0]).toBeGreaterThan(estimates.value[0]);
  });

  const puts = casesOf("american-multi-asset").filter(({ product }) => product === "bermudan_basket_put");
  test.each(puts.map((one) => [one.id, one] as const))("%s, a put on a basket", async (_, one) => {
    const { params: p, expected } = one;
    const model = geometricBrownian({
      spots: p.spots,
      rate: p.rate,
      yields: p.dividend_yields,
      volatilities: p.volatilities,
      correlation: p.correlation_matrix,
    });
    const product = basket({ payoff: "put", strike: p.strike, weights: p.weights });
    const estimates = await price({
      model,
      product,
      dates: equalDates(p.n_exercise, p.maturity),
      basis: { kind: "monomials", degree: 2 },
    });
    expectLower(estimates, expected.price, 0.005 * expected.price);
  });
});

const put = { product: european({ payoff: "put", strike: 40 }), dates: equalDates(10, 1) };
const model = blackScholes({ spot: 36, rate: 0.06, volatility: 0.2 });

test("bases: Laguerre's, one of one's own; without the payoff", async () => {
  const own = fn({
    name: "parabola",
    params: basisFunctionParams,
    body({ x, basis }) {
      basis[0] = 1;
      basis[1] = x[0];
      basis[2] = x[0] * x[0];
    },
  });
  const quadratic = { kind: "monomials", degree: 2, payoff: false } as const;
  const standard = await price({ model, ...put, basis: quadratic });
  expect((await price({ model, ...put, basis: { kind: "function", count: 3, function: own } })).value).toEqual(
    standard.value,
  );
  const laguerre = await price({ model, ...put, basis: { kind: "laguerre", degree: 3 } });
  expect(Math.abs(laguerre.value[0] - standard.value[0])).toBeLessThan(0.02);
  expect(laguerre.condition[0]).toBeGreaterThan(standard.condition[0]);
});

test("functions that depend on others are left out", async () => {
  const twice = fn({
    name: "twice",
    params: basisFunctionParams,
    body({ x, basis }) {
      basis[0] = 1;
      basis[1] = x[0];
      basis[2] = 2 * x[0];
      basis[3] = 0;
      basis[4] = x[0] * x[0];
    },
  });
  const dependent = await price({ model, ...put, basis: { kind: "function", count: 5, function: twice } });
  const standard = await price({ model, ...put, basis: { kind: "monomials", degree: 2, payoff: false } });
  expect(Math.abs(dependent.value[0] - standard.value[0])).toBeLessThan(1e-9);
});

test("coefficients are those of least squares", async () => {
  // With two dates and every path in the money the rule does not matter: E[cash | S] is linear in S, and known.
  const deep = european({ payoff: "put", strike: 1000 });
  const estimates = await price({
    model,
    product: deep,
    dates: [0.5, 1],
    basis: { kind: "monomials", degree: 1, payoff: false },
  });
  // Exercise at once: (1000 − S)·e^(−r/2) against 1000·e^(−r) − S.
  const exact = 1000 * Math.exp(-0.03) - 36;
  expect(Math.abs(estimates.value[0] - exact)).toBeLessThan(3 * estimates.standardError[0]);
});

test("a batch is its instances one by one, to the bit", async () => {
  const spots = [34, 36, 40];
  const batch = await price({
    model: blackScholes({ spot: spots, rate: 0.06, volatility: 0.2 }),
    ...put,
    paths: 4096,
    upper: { outer: 8, inner: 8 },
  });
  for (const [i, spot] of spots.entries()) {
    const alone = await price({
      model: blackScholes({ spot, rate: 0.06, volatility: 0.2 }),
      ...put,
      paths: 4096,
      streams: [i],
      upper: { outer: 8, inner: 8 },
    });
    expect(batch.value[i]).toBe(alone.value[0]);
    expect(batch.regression.value[i]).toBe(alone.regression.value[0]);
    expect(batch.upper!.value[i]).toBe(alone.upper!.value[0]);
  }
});

test("Heston's American puts: HES-O-10", async () => {
  const one = casesOf("heston").find(({ id }) => id === "HES-O-10")!;
  const { params: p } = one;
  const { prices } = one.expected as unknown as { readonly prices: readonly number[] };
  const settings = {
    rate: p.rate,
    yield: p.dividend_yield,
    v0: p.v0,
    kappa: p.kappa,
    theta: p.theta,
    sigma: p.sigma,
    rho: p.rho,
  };
  const estimates = await price({
    model: heston({ spot: p.spots, ...settings }),
    product: european({ payoff: "put", strike: p.strike }),
    dates: equalDates(25, p.maturity),
  });
  prices.forEach((exact, i) => {
    const { value, standardError } = { value: estimates.value[i], standardError: estimates.standardError[i] };
    expect(value - exact).toBeLessThan(3 * standardError);
    // 25 dates instead of all.
    expect(exact - value).toBeLessThan(3 * standardError + 0.02);
  });
});

test("a rule that sees the variance earns more than one by the spot alone", async () => {
  const model = heston({ spot: 100, rate: 0.05, v0: 0.04, kappa: 1.5, theta: 0.04, sigma: 0.6, rho: -0.7 });
  const put100 = european({ payoff: "put", strike: 100 });
  const settings = { model, product: put100, dates: equalDates(25, 1), paths: 2 ** 17, antithetic: true };
  const [blind, seeing] = await Promise.all(
    [false, true].map((hidden) => price({ ...settings, basis: { kind: "monomials", degree: 3, hidden } })),
  );
  const error = Math.hypot(blind.standardError[0], seeing.standardError[0]);
  // 0.2 of the price of 5.49 that finite differences give.
  expect(seeing.value[0] - blind.value[0]).toBeGreaterThan(3 * error);
});

test("errors say what was expected", async () => {
  await expect(price({ model, ...put, dates: [1] })).rejects.toThrow(/dates: got 1, expected at least two/);
  await expect(price({ model, ...put, basis: { kind: "monomials", degree: 11 } })).rejects.toThrow(
    /basis.degree: got 11/,
  );
  await expect(price({ model, ...put, basis: { kind: "chebyshev" as never, degree: 2 } })).rejects.toThrow(
    /basis.kind: got "chebyshev"/,
  );
  const misspelt = { kind: "monomials", degre: 2 } as never;
  await expect(price({ model, ...put, basis: misspelt })).rejects.toThrow(/basis\.degre: unknown/);
  await expect(price({ model, ...put, basis: "monomials" as never })).rejects.toThrow(/basis: got a string/);
  await expect(price({ model, ...put, upper: { outter: 9 } as never })).rejects.toThrow(/^upper\.outter: unknown/);
  await expect(price({ model, ...put, upper: { outer: 1 } })).rejects.toThrow(/upper.outer: got 1/);
  await expect(price({ model, ...put, regressionPaths: 0 })).rejects.toThrow(/regressionPaths: got 0/);
  await expect(price({ model, ...put, signal: AbortSignal.abort() })).rejects.toThrow(/abort/);
});
