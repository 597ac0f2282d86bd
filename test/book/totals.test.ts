import { describe, expect, it } from "vitest";
import { type PricedTrade, type ScenarioValues, Totals, type Trade } from "../../src/book/index.ts";
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
      delta: 8,
      gamma: 4,
      theta: -16,
      vega: 128,
      rho: 256,
      // Errors do not cancel.
      errorEstimate: 2 * 0.5 + 3 * 1,
      scenarios: [[[[46, 92]], [[184, 368]]]],
    };
    expect(totalsOf([sold, first], [bought, second])).toEqual([expected]);
    expect(totalsOf([bought, second], [sold, first])).toEqual([expected]);
  });

  it("are null where a part is, in that scenario alone", () => {
    const missing: ScenarioValues = [[[[1, null]], [[4, 8]]]];
    const [total] = totalsOf([sold, result(1, cube(1, 1, 1, 1))], [bought, { ...result(1, missing), vega: null }]);
    expect(total.scenarios).toEqual([[[[1, null]], [[10, 22]]]]);
    expect(total).toMatchObject({ value: 1, rho: 16, vega: null });
  });
});
