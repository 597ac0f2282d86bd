/** The delta–gamma approximation: orders of its error, linear trades, currencies, and what it says it leaves out. */
import { describe, expect, test } from "vitest";
import { readBook } from "../../src/book/index.ts";
import { createCpuDevice } from "../../src/device/cpu/index.ts";
import { Approximation, priceBook } from "../../src/pricing/index.ts";

const asOf = "2026-11-20";
const market = {
  reporting: "EUR",
  rates: { EUR: 0.02, USD: 0.04 },
  fx: { EURUSD: { rate: 1.1, date: "2026-11-24" } },
  underlyings: {
    SAP: { spot: 100, currency: "EUR", volatility: 0.2, dividends: { yield: 0.01 } },
    BMW: { spot: 80, currency: "EUR", volatility: 0.25 },
    IBM: { spot: 250, currency: "USD", volatility: 0.3 },
    EURUSD: { fx: "EURUSD", volatility: 0.1 },
  },
  correlations: [["SAP", "BMW", 0.5]],
};

/** Returns the changes of each trade in euros under each scenario, by revaluation and by approximation. */
async function changesOf(trades: readonly object[], moves: readonly object[], own: object = market) {
  const scenarios = moves.map((one, s) => ({ name: `S${s}`, moves: one }));
  const book = readBook({ asOf, market: own, trades, scenarios });
  using device = createCpuDevice({ threads: 1 });
  const { results } = await priceBook(book, { device });
  const approximation = new Approximation(book.scenarioTable!);
  const changes = results.map((result, i) => {
    if (result.status === "error") throw new Error(result.error.message);
    const near = approximation.resultOf(book.trades[i], result);
    const rates = near.reporting?.scenarioValueRates;
    expect(rates).toEqual(result.reporting?.scenarioValueRates);
    const today = (result.reporting ?? result).value;
    const inEuros = (values: readonly (number | null)[]) => values.map((one, s) => one! * (rates?.[s] ?? 1) - today);
    return { result, full: inEuros(result.scenarioValues!), near: inEuros(near.scenarioValues!) };
  });
  return { changes, missing: approximation.missing };
}

const call = { id: "call", underlying: "SAP", payoff: "call", strike: 105, expiry: 1 };
const dollars = { id: "dollars", underlying: "IBM", payoff: "put", strike: 240, expiry: 0.5 };
const onPair = { id: "pair", underlying: "EURUSD", payoff: "call", strike: 1.12, expiry: "2027-05-20" };

describe("small moves converge at the expected order", () => {
  const halved = (of: (h: number) => object): object[] => [0.04, 0.02, 0.01].map(of);
  test.each([
    ["a spot", [call, dollars], halved((h) => ({ spot: { "*": h } })), 3],
    ["a spot that falls", [call, dollars], halved((h) => ({ spot: { "*": -h } })), 3],
    ["an exchange rate", [onPair], halved((h) => ({ fx: { EURUSD: h } })), 3],
    ["a yield", [call], halved((h) => ({ dividend: { SAP: h } })), 3],
    ["a volatility", [call, dollars], halved((h) => ({ volatility: { "*": h } })), 2],
    ["rates", [call, dollars], halved((h) => ({ rate: { "*": h } })), 2],
    ["the rate of one of two currencies", [onPair], halved((h) => ({ rate: { USD: h } })), 2],
    ["time", [call, dollars], halved((h) => ({ time: h })), 2],
    ["spot and volatility", [call, dollars], halved((h) => ({ spot: { "*": h }, volatility: { "*": h } })), 2],
  ])("%s", async (_, trades, moves, order) => {
    const { changes, missing } = await changesOf(trades, moves);
    expect(missing).toEqual([]);
    for (const { full, near } of changes) {
      const errors = full.map((change, s) => Math.abs(near[s] - change));
      // The next order is seen, too, at moves of 1 to 4 %.
      expect(Math.log2(errors[1] / errors[2])).toBeGreaterThan(order - 0.5);
      expect(errors[2]).toBeLessThan(0.1 * Math.abs(full[2]));
    }
  });
});

describe("linear trades are exact", () => {
  const rounding = 9;
  test("forwards and exchange rates, in a second currency too", async () => {
    const trades = [
      { id: "euros", underlying: "SAP", forward: 101, expiry: 1, quantity: 3 },
      { id: "dollars", underlying: "IBM", forward: 255, expiry: 0.5 },
      { id: "fx", fxForward: { pair: "EURUSD", amount: 100, rate: 1.12, delivery: "2027-05-20" } },
    ];
    const moves = [
      { spot: { SAP: -0.3, IBM: 0.4 } },
      { fx: { EURUSD: 0.2 } },
      { spot: { "*": -0.2 }, fx: { EURUSD: -0.1 } },
      { dividend: { SAP: 0.03 }, spot: { SAP: 0.1 } },
    ];
    const { changes, missing } = await changesOf(trades, moves);
    expect(missing).toEqual([]);
    for (const { full, near } of changes) full.forEach((change, s) => expect(near[s]).toBeCloseTo(change, rounding));
    // A dollar of profit is that many euros at the rate of the scenario.
    const [, { result, near }] = changes;
    expect(near[0]).toBeCloseTo(result.delta! * 250 * 0.4 * result.reporting!.rate, rounding);
  });
});

test("rates by maturity move the nodes of bonds and swaps", async () => {
  const own = {
    curves: { OIS: { zeros: [1, 3, 5].map((date) => ({ date, zero: 0.02 + 0.001 * date })) } },
    rates: { EUR: { discount: "OIS" } },
  };
  const leg = { every: "1Y" };
  const trades = [
    { id: "bond", currency: "EUR", bond: { maturity: 5, coupon: 0.03, frequency: 1, notional: 100 } },
    {
      id: "swap",
      swap: { end: "5Y", notional: 100, currency: "EUR", pay: { ...leg, rate: 0.03 }, receive: { ...leg, rate: 0.02 } },
    },
  ];
  const moves = [1e-3, 5e-4].map((by) => ({ rate: { EUR: { "1Y": by, "3Y": 0, "5Y": -2 * by } } }));
  const { changes, missing } = await changesOf(trades, moves, own);
  expect(missing).toEqual([]);
  for (const { full, near } of changes) expect(near[1] / full[1]).toBeCloseTo(1, 1);
});

test("what has no sensitivity is counted and never silent", async () => {
  const american = { ...call, id: "american", exercise: "american" };
  const moves = [
    { dividend: { SAP: 0.01 } },
    { dividend: { SAP: 0.02 }, volatility: { SAP: { "1Y": 0.01 } } },
    { rate: { EUR: { "1Y": 0.01 } } },
  ];
  const { changes, missing } = await changesOf([american, { ...american, id: "2" }, dollars], moves);
  expect(missing).toEqual([
    { factor: "dividend.SAP", sensitivity: "yield sensitivity", trades: 2, scenarios: 2 },
    { factor: "volatility.SAP", sensitivity: "vega by expiry", trades: 2, scenarios: 1 },
    { factor: "rate.EUR", sensitivity: "rho by maturity", trades: 2, scenarios: 1 },
  ]);
  // The rates at which dollars become euros move with those by maturity.
  for (const { near } of changes.slice(0, 2)) for (const change of near) expect(change).toBeCloseTo(0, 10);
});

test("several underlyings have cross gammas, and several currencies the rho of a common move", async () => {
  const basket = {
    id: "basket",
    underlyings: ["SAP", "BMW"],
    payoff: { basket: "call", weights: [0.5, 0.5] },
    strike: 90,
    expiry: 1,
  };
  const { changes, missing } = await changesOf([basket], [{ spot: { SAP: 0.02, BMW: -0.02 } }]);
  const [{ result, full, near }] = changes;
  const [[, , cross]] = result.crossGamma!;
  expect(missing).toEqual([]);
  expect(Math.abs(near[0] - full[0])).toBeLessThan(0.2 * Math.abs(cross * 2 * 1.6));
  const together = await changesOf([onPair], [{ rate: { "*": 0.001 } }]);
  expect(together.missing).toEqual([]);
});
