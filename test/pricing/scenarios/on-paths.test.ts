/** Values on paths under many scenarios, whose number is that which some of them need. */
import { afterAll, expect, test } from "vitest";
import { openDevice, priceBook, readBook } from "../../../src/index.ts";
import type { PricedTrade } from "../../../src/book/index.ts";
import { Random } from "../../../tools/properties/random.ts";

interface Moves {
  readonly spots: readonly [number, number];
  readonly volatility: number;
  readonly rate: number;
}

const STILL: Moves = { spots: [0, 0], volatility: 0, rate: 0 };

const bookIn = ({ spots: [a, b], volatility, rate }: Moves, trades: readonly object[]): object => ({
  asOf: "2026-11-20",
  market: {
    rates: { EUR: 0.03 + rate },
    underlyings: {
      A: { spot: 100 * (1 + a), currency: "EUR", volatility: 0.2 + volatility },
      B: { spot: 50 * (1 + b), currency: "EUR", volatility: 0.3 + volatility },
    },
    correlations: [["A", "B", 0.5]],
  },
  trades,
});

const scenarioOf = ({ spots: [a, b], volatility, rate }: Moves, k: number): object => ({
  name: `${k}`,
  moves: { spot: { A: a, B: b }, volatility: { "*": volatility }, rate: { EUR: rate } },
});

const device = await openDevice({ backend: "cpu" });
afterAll(() => device[Symbol.dispose]());

async function pricesOf(book: object): Promise<readonly PricedTrade[]> {
  const { results } = await priceBook(readBook(book), { device, greeks: "none", accuracy: { relative: 1e-3 } });
  return results.map((result) => {
    if (result.status === "error") throw new Error(result.error.message);
    return result;
  });
}

test("each value is that of the trade in a book of the scenario's market, within both estimates", async () => {
  const random = new Random(41);
  const trades = [
    { id: "1", underlyings: ["A", "B"], payoff: { worstOf: "put" }, strike: 50, expiry: 1 },
    {
      id: "2",
      underlying: "A",
      payoff: "call",
      strike: 100,
      expiry: 1,
      average: { kind: "arithmetic", dates: [0.5, 1] },
    },
  ];
  const moves = Array.from({ length: 26 }, (): Moves => {
    const spot = 0.05 * random.normal();
    return {
      spots: [spot, spot + 0.03 * random.normal()],
      volatility: 0.03 * random.uniform(-1, 1),
      rate: 0.003 * random.normal(),
    };
  });
  const run = { method: "montecarlo", scenarios: moves.map(scenarioOf) };
  const all = await pricesOf({ ...bookIn(STILL, trades), ...run });
  for (const [k, one] of moves.slice(0, 4).entries()) {
    const alone = await pricesOf({ ...bookIn(one, trades), method: "montecarlo" });
    all.forEach(({ scenarioValues, scenarioValueErrorEstimates: errors, id }, i) => {
      const { value, errorEstimate } = alone[i];
      expect(Math.abs(scenarioValues![k]! - value), `${id} in ${k}`).toBeLessThanOrEqual(errors![k]! + errorEstimate);
      expect(errors![k]!).toBeLessThanOrEqual(0.1);
    });
  }
  const [lone] = await pricesOf({ ...bookIn(STILL, [trades[1]]), ...run });
  expect(lone.scenarioValues).toEqual(all[1].scenarioValues);
  const reversed = await pricesOf({ ...bookIn(STILL, trades), ...run, scenarios: run.scenarios.toReversed() });
  expect(reversed.map(({ scenarioValues }) => scenarioValues!.toReversed())).toEqual(
    all.map(({ scenarioValues }) => scenarioValues),
  );
});
