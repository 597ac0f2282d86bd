import { describe, expect, it } from "vitest";
import { type PricedTrade, type ScenarioValues, type TotalledTrade, Totals } from "../../src/book/index.ts";
import { incompleteSumNotes } from "../../src/output/formats/index.ts";
import { trade } from "../pricing/reference.ts";

/** One time, two spots, one volatility, two rates. */
const cube = (a: number, b: number, c: number, d: number): ScenarioValues => [[[[a, b]], [[c, d]]]];

const result = (value: number, scenarios?: ScenarioValues): PricedTrade => ({
  id: "T",
  underlying: "ACME",
  currency: "EUR",
  quantity: 1,
  status: "ok",
  value,
  delta: 0.5 * value,
  gamma: 0.25 * value,
  theta: -value,
  vega: 8 * value,
  rho: 16 * value,
  errorEstimate: 0.125 * value,
  method: "fdm",
  precision: "f64",
  backend: "cpu",
  warnings: [],
  ...(scenarios === undefined ? {} : { scenarios }),
});

function totalsOf(...entries: readonly (readonly [TotalledTrade, PricedTrade])[]) {
  const totals = new Totals();
  for (const [one, priced] of entries) totals.add(one, priced);
  return totals.totals;
}

describe("totals", () => {
  const sold = trade({ quantity: -2 });
  const bought = trade({ quantity: 3 });

  it("are times quantities, in every scenario, whichever trade comes first", () => {
    const [first, second] = [result(4, cube(1, 2, 4, 8)), result(8, cube(16, 32, 64, 128))];
    const expected = {
      currency: "EUR",
      trades: 2,
      value: -2 * 4 + 3 * 8,
      cashDelta: 8 * 100,
      theta: -16,
      rho: 256,
      // Errors do not cancel.
      errorEstimate: 2 * 0.5 + 3 * 1,
      underlyings: [{ underlying: "ACME", trades: 2, delta: 8, gamma: 4, vega: 128, cashDelta: 8 * 100 }],
      scenarios: [[[[46, 92]], [[184, 368]]]],
    };
    expect(totalsOf([sold, first], [bought, second])).toEqual([expected]);
    expect(totalsOf([bought, second], [sold, first])).toEqual([expected]);
  });

  it("of scenarios are null where a part is", () => {
    const missing: ScenarioValues = [[[[1, null]], [[4, 8]]]];
    const [total] = totalsOf([sold, result(1, cube(1, 1, 1, 1))], [bought, result(1, missing)]);
    expect(total.scenarios).toEqual([[[[1, null]], [[10, 22]]]]);
  });

  it("say how many trades a sum leaves out, and are null where all are", () => {
    const simulated: PricedTrade = { ...result(1), gamma: null, rho: null };
    const [total] = totalsOf([sold, { ...result(1), rho: null }], [bought, simulated], [bought, simulated]);
    expect(total).toMatchObject({ trades: 3, value: 4, theta: -4, rho: null });
    expect(total.missing).toBeUndefined();
    expect(total.underlyings).toEqual([
      { underlying: "ACME", trades: 3, delta: 2, gamma: -0.5, vega: 32, cashDelta: 200, missing: { gamma: 2 } },
    ]);
    expect(incompleteSumNotes([total])).toEqual(["gamma of ACME leaves out 2 of 3 trades, which have none"]);
    const none = { delta: null, gamma: null, theta: null, vega: null, rho: null };
    expect(totalsOf([sold, { ...result(1), ...none }])[0]).toMatchObject({ cashDelta: null, underlyings: [] });
  });

  it("add deltas of one underlying only: a call on 100 and 100 calls on 1 have one cash delta and two deltas", () => {
    const small = trade({ quantity: 100, market: { name: "BETA", spot: 1 } });
    const both = [underlyingOf("ACME", 100), underlyingOf("BETA", 1)];
    const worst: TotalledTrade = { quantity: 2, underlying: both[0].underlying, assets: both };
    const sensitivities = {
      ACME: { delta: 0.25, gamma: 1, vega: 8 },
      BETA: { delta: 25, gamma: null, vega: 8 },
    };
    const [total] = totalsOf(
      [trade({}), { ...result(1), delta: 0.5 }],
      [small, { ...result(0.01), delta: 0.5 }],
      [worst, { ...result(1), underlying: "ACME + BETA", delta: 25.25, sensitivities }],
    );
    expect(total.cashDelta).toBeCloseTo(50 + 50 + 2 * (25 + 25), 12);
    expect(total.underlyings.map(({ underlying, trades, delta }) => [underlying, trades, delta])).toEqual([
      ["ACME", 2, 1],
      ["BETA", 2, 100],
    ]);
    expect(total.underlyings[1].missing).toEqual({ gamma: 1 });
  });

  it("have no cash delta of a converted trade of which only that to the currency pair is known, as 0", () => {
    const { underlying } = underlyingOf("ACME", 100);
    const exchange = [{ pair: "EURUSD", spot: 1.25 }];
    const converted: TotalledTrade = { quantity: 1, underlying, settlement: { currency: "EUR", exchange } };
    const none = { delta: null, gamma: null, vega: null };
    const sensitivities = { ACME: none, EURUSD: { delta: 0, gamma: 0, vega: null } };
    const [total] = totalsOf([converted, { ...result(4), ...none, sensitivities }]);
    expect(total.cashDelta).toBeNull();
    expect(total.underlyings.map((one) => one.underlying)).toEqual(["EURUSD"]);
  });

  it("of parts are those of the whole, whatever is missing where", () => {
    const entries = [result(1), { ...result(2), gamma: null, theta: null }, { ...result(4), gamma: null }];
    const whole = totalsOf(...entries.map((one) => [bought, one] as const));
    for (const cut of [0, 1, 2, 3]) {
      const parts = [entries.slice(0, cut), entries.slice(cut)];
      const sums = new Totals();
      for (const part of parts) sums.addTotals(totalsOf(...part.map((one) => [bought, one] as const)));
      expect(sums.totals).toEqual(whole);
    }
  });
});

const underlyingOf = (name: string, spot: number) => ({ underlying: { name, currency: "EUR", spot } });
