/** Dividend yields by time: options of all methods, forwards, scripts, scenarios, explanations and refusals. */
import { describe, expect, test } from "vitest";
import type { PricedTrade } from "../../src/book/index.ts";
import { explainBook, priceBook, readBook } from "../../src/index.ts";
import { normalCdf } from "../support/normal.ts";

/** Forward rates and yields up to half a year, up to a year, and from then on. */
const STEPS = { ends: [0.5, 1, Infinity], rates: [0.01, 0.04, 0.02], yields: [0.06, 0, 0.03] } as const;

const over = (values: readonly number[], to: number): number =>
  STEPS.ends.reduce((sum, end, k) => {
    const from = k === 0 ? 0 : STEPS.ends[k - 1];
    return sum + values[k] * Math.max(Math.min(end, to) - from, 0);
  }, 0);
const zeros = (values: readonly number[]) => [0.5, 1, 2].map((date) => ({ date, zero: over(values, date) / date }));

const ACME = { spot: 100, currency: "EUR", dividends: { yield: zeros(STEPS.yields) }, volatility: 0.2 };
const MARKET = {
  rates: { EUR: zeros(STEPS.rates) },
  underlyings: { ACME, BETA: { spot: 90, currency: "EUR", volatility: 0.3 } },
  correlations: [["ACME", "BETA", 0.5]],
};

type Options = Parameters<typeof priceBook>[1];

async function resultsOf(trades: readonly object[], more: object = {}, market: object = {}, options: Options = {}) {
  const given = trades.map((trade, i) => ({ id: String(i), ...trade }));
  const book = readBook({ asOf: "2026-11-20", market: { ...MARKET, ...market }, trades: given, ...more });
  return (await priceBook(book, options)).results;
}

async function pricedOf(...given: Parameters<typeof resultsOf>): Promise<readonly PricedTrade[]> {
  return (await resultsOf(...given)).map((result) => {
    if (result.status === "error") throw new Error(result.error.message);
    return result;
  });
}

/** Black and Scholes' call on any market of one underlying, `moved` by a parallel move of the rates. */
function call({ spot = 100, strike = 100, expiry = 1.5, from = 0, sigma = 0.2, moved = 0 } = {}): number {
  const between = (values: readonly number[]) => over(values, expiry) - over(values, from);
  const owed = between(STEPS.rates) + moved * (expiry - from);
  const forward = spot * Math.exp(owed - between(STEPS.yields));
  const deviation = sigma * Math.sqrt(expiry - from);
  const d = Math.log(forward / strike) / deviation + deviation / 2;
  return Math.exp(-owed) * (forward * normalCdf(d) - strike * normalCdf(d - deviation));
}

const slope = (of: (by: number) => number, by = 1e-4): number => (of(by) - of(-by)) / (2 * by);

const CALL = { underlying: "ACME", payoff: "call", strike: 100, expiry: 1.5 };

/** A binomial tree of many steps with the rates and yields of each, from a time on. */
function tree(
  { strike, expiry, sign, from = 0 }: { strike: number; expiry: number; sign: 1 | -1; from?: number },
  { mayExercise, alive = () => true }: { mayExercise(t: number): boolean; alive?(spot: number, t: number): boolean },
  steps = 1500,
): number {
  const dt = (expiry - from) / steps;
  const up = Math.exp(0.2 * Math.sqrt(dt));
  const spotAt = (step: number, ups: number): number => 100 * up ** (2 * ups - step);
  const pays = (spot: number): number => Math.max(sign * (spot - strike), 0);
  let values = Array.from({ length: steps + 1 }, (_, ups) => {
    const spot = spotAt(steps, ups);
    return alive(spot, expiry) ? pays(spot) : 0;
  });
  for (let step = steps - 1; step >= 0; step--) {
    const t = from + step * dt;
    const between = (of: readonly number[]) => over(of, t + dt) - over(of, t);
    const [discount, growth] = [
      Math.exp(-between(STEPS.rates)),
      Math.exp(between(STEPS.rates) - between(STEPS.yields)),
    ];
    const p = (growth - 1 / up) / (up - 1 / up);
    values = Array.from({ length: step + 1 }, (_, ups) => {
      const spot = spotAt(step, ups);
      const later = discount * (p * values[ups + 1] + (1 - p) * values[ups]);
      if (!alive(spot, t)) return 0;
      return mayExercise(t) ? Math.max(later, pays(spot)) : later;
    });
  }
  return values[0];
}

describe("options", () => {
  test("of one date have Black and Scholes' value and its slopes, by any method", async () => {
    const methods = ["closed-form", "fdm", "sparse-grid", "montecarlo"] as const;
    const results = (await Promise.all(methods.map((method) => pricedOf([CALL], {}, {}, { method })))).flat();
    const exact = {
      value: call(),
      delta: slope((by) => call({ spot: 100 + by })),
      vega: slope((by) => call({ sigma: 0.2 + by })),
      rho: slope((by) => call({ moved: by })),
      theta: (call({ from: 1e-5 }) - call()) / 1e-5,
    };
    for (const result of results) {
      expect(Math.abs(result.value - exact.value), `by ${result.method}`).toBeLessThanOrEqual(
        result.errorEstimate + 1e-10,
      );
      const isSampled = result.method === "montecarlo";
      for (const name of ["delta", "vega", "rho", "theta"] as const)
        if (result[name] !== null)
          expect(Math.abs(result[name] - exact[name]), `${result.method} ${name}`).toBeLessThan(
            (isSampled ? 0.02 : 2e-3) * Math.max(1, Math.abs(exact[name])),
          );
    }
  });

  test("in scenarios are worth what they are in the moved market", async () => {
    const scenarios = { time: [0, 0.7], spot: [-0.1, 0], volatility: [0, 0.05], rate: [0, 0.01] };
    const [{ scenarios: values }] = await pricedOf([CALL], { scenarios });
    scenarios.time.forEach((from, t) =>
      scenarios.spot.forEach((by, s) =>
        scenarios.volatility.forEach((more, v) =>
          scenarios.rate.forEach((moved, r) =>
            expect(values![t][s][v][r]).toBeCloseTo(call({ from, spot: 100 * (1 + by), sigma: 0.2 + more, moved }), 10),
          ),
        ),
      ),
    );
  });

  test("with rights and barriers agree with a binomial tree within their estimates", { timeout: 60_000 }, async () => {
    const times = [0.3, 0.6, 0.9, 1.2];
    // In the middle between two nodes of the tree, which on these dates are 35 ± 1 steps above the spot.
    const level = 100 * Math.exp(35 * 0.2 * Math.sqrt(0.001));
    const near = (t: number): boolean => times.some((time) => Math.abs(time - t) < 1e-6);
    const bermudan = { ...CALL, exercise: times };
    const methods = ["fdm", "montecarlo", "sparse-grid"] as const;
    const bermudans = (await Promise.all(methods.map((method) => pricedOf([bermudan], {}, {}, { method })))).flat();
    const others = await pricedOf([
      { ...CALL, exercise: "american" },
      { ...CALL, payoff: "put", exercise: "american" },
      { ...CALL, barriers: [{ type: "up-and-out", level, monitoring: times }] },
    ]);
    const terms = { strike: 100, expiry: 1.5 } as const;
    const ofBermudan = tree({ ...terms, sign: 1 }, { mayExercise: near });
    const exact = [
      ...bermudans.map(() => ofBermudan),
      tree({ ...terms, sign: 1 }, { mayExercise: () => true }),
      tree({ ...terms, sign: -1 }, { mayExercise: () => true }),
      tree({ ...terms, sign: 1 }, { mayExercise: () => false, alive: (spot, t) => !near(t) || spot < level }),
    ];
    // The tree's own error is of the order of 1/steps.
    const own = 10 / 1500;
    const [american] = others;
    const later = tree({ ...terms, sign: 1, from: 0.02 }, { mayExercise: () => true });
    expect(american.theta).toBeCloseTo((later - exact[bermudans.length]) / 0.02, 1);
    for (const [i, result] of [...bermudans, ...others].entries())
      expect(Math.abs(result.value - exact[i]), `${i} ${result.method}`).toBeLessThanOrEqual(
        result.errorEstimate + own,
      );
  });

  test("on two underlyings have Margrabe's value; paths of them are refused with the way out", async () => {
    const spread = { underlyings: ["ACME", "BETA"], payoff: { bestOf: "call" }, strike: 1e-9, expiry: 1.5 };
    const [best] = await pricedOf([spread]);
    const [a, b] = [100 * Math.exp(-over(STEPS.yields, 1.5)), 90];
    const deviation = Math.sqrt((0.04 + 0.09 - 2 * 0.5 * 0.2 * 0.3) * 1.5);
    const d = Math.log(a / b) / deviation + deviation / 2;
    const exchange = a * normalCdf(d) - b * normalCdf(d - deviation);
    expect(Math.abs(best.value - (b + exchange))).toBeLessThanOrEqual(best.errorEstimate + 1e-6);
    const [refused] = await resultsOf([{ ...spread, exercise: "american" }]);
    expect(refused.status === "error" && refused.error.message).toMatch(/yields by time.*write it as a "script"/);
  });

  test("paid in another currency have the quanto drift", async () => {
    const market = {
      rates: { ...MARKET.rates, USD: 0.05 },
      fx: { EURUSD: 1.1 },
      underlyings: { ...MARKET.underlyings, EURUSD: { fx: "EURUSD", volatility: 0.1 } },
      correlations: [["ACME", "EURUSD", 0.4]],
    };
    const [quanto, composite] = await pricedOf(
      [
        { ...CALL, payoff: { expression: "S" }, strike: undefined, quanto: { currency: "USD" } },
        { ...CALL, payoff: { expression: "S" }, strike: undefined, composite: { currency: "USD" } },
      ],
      {},
      market,
    );
    const drift = over(STEPS.rates, 1.5) - over(STEPS.yields, 1.5) - 0.4 * 0.2 * 0.1 * 1.5;
    const exact = Math.exp(-0.05 * 1.5) * 100 * Math.exp(drift);
    expect(Math.abs(quanto.value - exact)).toBeLessThanOrEqual(quanto.errorEstimate);
    const days = composite.value / (110 * Math.exp(-over(STEPS.yields, 1.5)));
    // The spot of the pair is delivered two business days later, at both rates.
    expect(Math.abs(days - 1)).toBeLessThan(0.04 * (5 / 365));
  });
});

test("forwards pay dividends of both kinds on the way", async () => {
  const dividends = { ...ACME.dividends, discrete: [{ date: 0.75, cash: 3, proportional: 0.01 }] };
  const market = { underlyings: { ...MARKET.underlyings, ACME: { ...ACME, dividends } } };
  const valueAt = (from: number): number => {
    const [owed, left] = [STEPS.rates, STEPS.yields].map((of) => (a: number, b: number) => {
      return Math.exp(over(of, a) - over(of, b));
    });
    return 99 * left(from, 1.5) - 3 * left(0.75, 1.5) * owed(from, 0.75) - 95 * owed(from, 1.5);
  };
  const exact = valueAt(0);
  const scripted = {
    underlying: "ACME",
    script: { events: [{ on: "maturity", do: "pay(S - 95)" }] },
    data: { maturity: 1.5 },
  };
  const [forward] = await pricedOf([{ underlying: "ACME", forward: 95, expiry: 1.5 }], {}, market);
  expect(forward.value).toBeCloseTo(exact, 10);
  expect(forward.theta).toBeCloseTo((valueAt(1e-6) - exact) / 1e-6, 4);
  // Without dividends on dates paths need no steps.
  const [plain, script] = await pricedOf([{ underlying: "ACME", forward: 95, expiry: 1.5 }, scripted]);
  expect(Math.abs(script.value - plain.value)).toBeLessThanOrEqual(script.errorEstimate);
  expect(script.delta).toBeCloseTo(plain.delta!, 3);
  expect(script.rho).toBeCloseTo(plain.rho!, 1);
});

test("prices that quotes are fitted to are on the forwards of the yields", async () => {
  const quotes = [0.75, 1.5].flatMap((expiry) =>
    [85, 100, 115].map((strike) => ({ expiry, strike, price: call({ expiry, strike }) })),
  );
  const underlyings = { ACME: { ...ACME, volatility: { quotes, fit: "essvi" } } };
  const [result] = await pricedOf([{ ...CALL, strike: 104 }], {}, { underlyings, correlations: [] });
  expect(Math.abs(result.value - call({ strike: 104 }))).toBeLessThanOrEqual(result.errorEstimate + 1e-3);
});

test("a move of the yields explains a change of value", async () => {
  const moved = { ...ACME, dividends: { yield: zeros(STEPS.yields.map((one, k) => one + (k === 1 ? 0.01 : 0))) } };
  const bookOf = (acme: object) =>
    readBook({
      asOf: "2026-11-20",
      market: { ...MARKET, underlyings: { ACME: acme }, correlations: [] },
      trades: [{ id: "1", ...CALL }],
    });
  const { results } = await explainBook(bookOf(ACME), bookOf(moved), {});
  const [row] = results;
  if (row.status === "error") throw new Error(row.error?.message);
  expect(row.change).toBeLessThan(-0.1);
  expect(row.terms?.dividends).toBeCloseTo(row.change!, 6);
});

test("what takes one yield says so", async () => {
  const hullWhite = { EUR: { hullWhite: { meanReversion: 0.1, volatility: 0.01, curve: 0.02 } } };
  const [late] = await resultsOf([CALL], {}, { rates: hullWhite });
  expect(late.status === "error" && late.error.message).toMatch(/yield by time it needs rates without a model/);
  const [bond] = await resultsOf([{ underlying: "ACME", convertible: { maturity: 3, notional: 100, ratio: 1 } }]);
  expect(bond.status === "error" && bond.error.message).toMatch(/has a yield by time; convertibles take one number/);
});
