/** Greeks in several factors that are not read from a mesh, against closed forms that share nothing with them. */
import { afterAll, expect, test } from "vitest";
import { type PricedTrade, readBook } from "../../../src/book/index.ts";
import { createCpuDevice } from "../../../src/device/cpu/index.ts";
import { priceBook, type PricingOptions } from "../../../src/pricing/index.ts";
import { piecesOf, survivingValue } from "../../../tools/properties/closed-forms.ts";
import { Random } from "../../../tools/properties/random.ts";

const device = createCpuDevice({ threads: 1 });
afterAll(() => device[Symbol.dispose]());

async function priced(book: object, options: Partial<PricingOptions> = {}): Promise<PricedTrade> {
  const { results } = await priceBook(readBook(book), { device, sensitivityErrorEstimates: true, ...options });
  const [result] = results;
  if (result.status !== "ok") throw new Error(JSON.stringify(result.error));
  return result;
}

/** A fourth-order difference. */
const slope = (f: (by: number) => number, h: number): number =>
  (8 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12 * h);

/** A Greek, its estimate and the exact one. */
interface Checked {
  readonly of: string;
  readonly value: number;
  readonly estimate: number;
  readonly exact: number;
}

/** Expects estimates that cover, and that say something: most are within a hundredth of a unit. */
function expectCovered(all: readonly Checked[], unit: number): void {
  expect(all.filter(({ value, estimate, exact }) => !(Math.abs(value - exact) <= estimate))).toEqual([]);
  const estimates = all.map(({ estimate }) => estimate).toSorted((a, b) => a - b);
  expect(estimates[estimates.length >> 1]).toBeLessThan(0.01 * unit);
}

/** Steps of Simpson's rule over a variance. */
const STEPS = 200;

/** Under Hull and White's rates the forward is lognormal: Black's formula with its variance. */
function underHullWhite(
  model: Readonly<Record<"rate" | "a" | "sigma" | "rho" | "volatility", number>>,
  expiry: number,
) {
  const { a, sigma, rho, volatility, rate } = model;
  let variance = 0;
  for (let k = 0; k <= STEPS; k++) {
    const bond = (sigma * -Math.expm1(-a * (expiry - (k * expiry) / STEPS))) / a;
    const weight = k === 0 || k === STEPS ? 1 : k % 2 === 0 ? 2 : 4;
    variance += (weight * expiry * (volatility ** 2 + 2 * rho * volatility * bond + bond ** 2)) / (3 * STEPS);
  }
  const effective = { spot: 100, rate, yield: 0.01, volatility: Math.sqrt(variance / expiry), expiry };
  return survivingValue(effective, piecesOf("call", 105));
}

test("vega, rho and correlation under Hull and White's rates, against Black's formula", async () => {
  const random = new Random(41);
  const checked: Checked[] = [];
  for (let i = 0; i < 8; i++) {
    const expiry = random.uniform(0.2, 4);
    const model = {
      rate: random.uniform(-0.01, 0.05),
      a: random.uniform(0.02, 0.3),
      sigma: random.uniform(0.005, 0.02),
      rho: random.uniform(-0.6, 0.6),
      volatility: random.logUniform(0.1, 0.6),
    };
    const { volatility, rate: curve, a: meanReversion, sigma, rho } = model;
    const got = await priced({
      asOf: "2026-01-01",
      market: {
        rates: { EUR: { hullWhite: { meanReversion, volatility: sigma, curve } } },
        underlyings: { A: { spot: 100, currency: "EUR", volatility, dividends: { yield: 0.01 } } },
        correlations: [["A", "EUR", rho]],
      },
      trades: [{ id: "1", underlying: "A", payoff: "call", strike: 105, expiry }],
    });
    const { sensitivityErrorEstimates: estimates } = got;
    const exact = (name: keyof typeof model): number =>
      slope((by) => underHullWhite({ ...model, [name]: model[name] + by }, expiry), 1e-3);
    checked.push(
      { of: `vega ${i}`, value: got.vega!, estimate: estimates!.vega!, exact: exact("volatility") },
      { of: `rho ${i}`, value: got.rho!, estimate: estimates!.rho!, exact: exact("rate") },
      {
        of: `correlation ${i}`,
        value: got.correlation![0][2],
        estimate: estimates!.correlation![0][2],
        exact: exact("rho"),
      },
    );
  }
  expectCovered(checked, 100);
});

test("rho under Heston's model, against the Fourier integral", async () => {
  const random = new Random(42);
  const checked: Checked[] = [];
  for (let i = 0; i < 12; i++) {
    const [v0, theta] = [random.logUniform(0.01, 0.2), random.logUniform(0.01, 0.2)];
    const moves = {
      kappa: random.logUniform(0.5, 5),
      sigma: random.logUniform(0.1, 0.8),
      rho: random.uniform(-0.9, 0.3),
    };
    const strike = 100 * random.logUniform(0.8, 1.25);
    const expiry = random.logUniform(0.1, 3);
    const volatility = { heston: { v0, theta, ...moves } };
    const at = (rate: number) => ({
      asOf: "2026-01-01",
      market: {
        rates: { EUR: rate },
        underlyings: { A: { spot: 100, currency: "EUR", volatility, dividends: { yield: 0.01 } } },
      },
      trades: [{ id: "1", underlying: "A", payoff: "put", strike, expiry }],
    });
    const got = await priced(at(0.02), { method: "adi" });
    const values = await Promise.all(
      [-2, -1, 1, 2].map(async (k) => (await priced(at(0.02 + 1e-3 * k), { greeks: "none" })).value),
    );
    const exact = (8 * (values[2] - values[1]) - (values[3] - values[0])) / (12 * 1e-3);
    checked.push({ of: `rho ${i}`, value: got.rho!, estimate: got.sensitivityErrorEstimates!.rho!, exact });
  }
  expectCovered(checked, 100);
});

/** A trade on two underlyings that pays on the first alone. */
const onFirst = (rate: number, volatilities: readonly [number, number], trade: object) => ({
  asOf: "2026-01-01",
  market: {
    rates: { EUR: rate },
    underlyings: {
      A: { spot: 100, currency: "EUR", volatility: volatilities[0], dividends: { yield: 0.01 } },
      B: { spot: 100, currency: "EUR", volatility: volatilities[1], dividends: { yield: 0.01 } },
    },
    correlations: [["A", "B", 0.4]],
  },
  trades: [{ id: "1", underlyings: ["A", "B"], ...trade }],
});

test("barriers on one of two underlyings, against the method of images", async () => {
  const random = new Random(43);
  const checked: Checked[] = [];
  for (let i = 0; i < 8; i++) {
    const [rate, volatility, expiry] = [
      random.uniform(-0.01, 0.05),
      random.logUniform(0.1, 0.5),
      random.uniform(0.2, 2),
    ];
    const level = 100 * Math.exp(-random.uniform(0.2, 1.5) * volatility * Math.sqrt(expiry));
    const book = onFirst(rate, [volatility, 0.2], {
      payoff: { basket: "call", weights: [1, 0] },
      strike: 100,
      expiry,
      barriers: [{ type: "down-and-out", level, underlying: "A" }],
    });
    const got = await priced(book, { method: "adi" });
    const estimates = got.sensitivityErrorEstimates!;
    const at = (more: { rate?: number; volatility?: number }): number =>
      survivingValue({ spot: 100, rate, yield: 0.01, volatility, expiry, ...more }, piecesOf("call", 100), level);
    const vegas = { got: got.sensitivities!, estimates: estimates.sensitivities! };
    checked.push(
      {
        of: `vega ${i}`,
        value: vegas.got["A"].vega!,
        estimate: vegas.estimates["A"].vega!,
        exact: slope((by) => at({ volatility: volatility + by }), 1e-3),
      },
      { of: `no vega ${i}`, value: vegas.got["B"].vega!, estimate: vegas.estimates["B"].vega!, exact: 0 },
      {
        of: `rho ${i}`,
        value: got.rho!,
        estimate: estimates.rho!,
        exact: slope((by) => at({ rate: rate + by }), 1e-3),
      },
      {
        of: `correlation ${i}`,
        value: got.correlation![0][2],
        estimate: estimates.correlation![0][2],
        exact: 0,
      },
    );
  }
  expectCovered(checked, 100);
});

test("rho of early exercise next to a rate of zero, against the integral equation", async () => {
  const checked: Checked[] = [];
  for (const rate of [2e-4, 6e-4]) {
    const trade = { strike: 130, expiry: 1, exercise: "american" };
    const book = onFirst(rate, [0.15, 0.2], { ...trade, payoff: { basket: "put", weights: [1, 0] } });
    const got = await priced(book, { method: "adi" });
    const { market } = book;
    const alone = { asOf: book.asOf, market, trades: [{ id: "1", underlying: "A", payoff: "put", ...trade }] };
    const { rho: exact } = await priced(alone, { method: "integral" });
    checked.push({
      of: `rho at ${rate}`,
      value: got.rho!,
      estimate: got.sensitivityErrorEstimates!.rho!,
      exact: exact!,
    });
  }
  expectCovered(checked, 500);
});
