import { describe, expect, it } from "vitest";
import { type PricedTrade, type ScenarioValues, Totals, type Trade } from "../../src/book/index.ts";
import { trade } from "../pricing/reference.ts";

/** One time, two spots, one volatility, two rates. */
const cube = (a: number, b: number, c: number, d: number): ScenarioValues => [[[[a, b]], [[c, d]]]];

const result = (value: number, scenarios?: ScenarioValues): PricedTrade => ({
  id: "T",
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

function totalsOf(...entries: readonly (readonly [Trade, PricedTrade])[]) {
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
      cashDelta: 800,
      theta: -16,
      rho: 256,
      // Errors do not cancel.
      errorEstimate: 2 * 0.5 + 3 * 1,
      underlyings: [{ underlying: "ACME", trades: 2, delta: 8, gamma: 4, vega: 128 }],
      scenarios: [[[[46, 92]], [[184, 368]]]],
    };
    expect(totalsOf([sold, first], [bought, second])).toEqual([expected]);
    expect(totalsOf([bought, second], [sold, first])).toEqual([expected]);
  });

  it("are null where a part is, in that scenario alone", () => {
    const missing: ScenarioValues = [[[[1, null]], [[4, 8]]]];
    const [total] = totalsOf([sold, result(1, cube(1, 1, 1, 1))], [bought, { ...result(1, missing), vega: null }]);
    expect(total.scenarios).toEqual([[[[1, null]], [[10, 22]]]]);
    expect(total).toMatchObject({ value: 1, rho: 16 });
  });

  it("say how many trades a sum leaves out, and are null where none has a number", () => {
    const [total] = totalsOf(
      [sold, { ...result(1), rho: null }],
      [bought, { ...result(1), rho: null, gamma: null, vega: null }],
    );
    expect(total).toMatchObject({ rho: null, cashDelta: 50 });
    expect(total.missing).toBeUndefined();
    expect(total.underlyings).toEqual([
      { underlying: "ACME", trades: 2, delta: 0.5, gamma: -0.5, vega: -16, missing: { gamma: 1, vega: 1 } },
    ]);
  });

  it("of different underlyings are apart, and together in money", () => {
    const dear = trade({ market: { name: "DEAR", spot: 100 } });
    const cheap = trade({ quantity: 100, market: { name: "CHEAP", spot: 1 } });
    const { underlying, volatility } = dear;
    const both = { ...dear, assets: [{ underlying, volatility }, cheap] };
    const sensitivities = { DEAR: { delta: 1, gamma: 2, vega: 3 }, CHEAP: { delta: -4, gamma: 5, vega: 6 } };
    const [total] = totalsOf([dear, result(1)], [cheap, result(1)], [both, { ...result(1), sensitivities }]);
    expect(total.cashDelta).toBe(0.5 * 100 + 100 * 0.5 * 1 + 100 - 4);
    expect(total.underlyings).toEqual([
      { underlying: "DEAR", trades: 2, delta: 1.5, gamma: 2.25, vega: 11 },
      { underlying: "CHEAP", trades: 2, delta: 46, gamma: 30, vega: 806 },
    ]);
  });

  it("errors of scenarios do not cancel between long and short", () => {
    const estimates = [[[0.5]]];
    const [total] = totalsOf(
      [sold, { ...result(1, [[[[1]]]]), scenarioErrorEstimates: estimates }],
      [bought, { ...result(1, [[[[1]]]]), scenarioErrorEstimates: estimates }],
    );
    expect(total.scenarioErrorEstimates).toEqual([[[2.5]]]);
  });
});
