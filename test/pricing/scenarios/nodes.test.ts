/** Values under many joint scenarios, which are interpolated, beside each scenario priced by itself. */
import { expect, test } from "vitest";
import { priceBook, readBook } from "../../../src/index.ts";
import type { PricedTrade } from "../../../src/book/index.ts";
import { Random } from "../../../tools/properties/random.ts";

const MARKET = {
  rates: { EUR: 0.03, USD: 0.04 },
  underlyings: {
    ACME: {
      spot: 100,
      currency: "EUR",
      volatility: 0.25,
      dividends: { yield: 0.01, discrete: [{ date: "2027-04-10", cash: 1.5 }] },
    },
    BETA: { spot: 50, currency: "EUR", volatility: 0.3 },
    HEST: {
      spot: 80,
      currency: "EUR",
      volatility: { heston: { v0: 0.06, kappa: 2, theta: 0.06, sigma: 0.5, rho: -0.6 } },
    },
    EURUSD: { fx: "EURUSD", volatility: 0.09 },
  },
  fx: { EURUSD: 1.1 },
  correlations: [["ACME", "BETA", 0.4]],
};

function randomTrade(random: Random, i: number): object {
  const at = { id: `${i}`, expiry: random.uniform(0.1, 2), payoff: random.chance(0.5) ? "put" : "call" };
  const strike = random.uniform(75, 125);
  switch (i % 6) {
    case 0:
      return { ...at, underlying: "ACME", strike, exercise: "american" };
    case 1:
      return { ...at, underlying: "ACME", strike };
    case 2:
      return {
        ...at,
        underlying: "ACME",
        strike,
        barriers: [{ type: "down-and-out", level: random.uniform(60, 97) }],
      };
    case 3:
      return { ...at, underlying: "HEST", strike: 0.8 * strike };
    case 4:
      return { ...at, underlying: "EURUSD", strike: 0.011 * strike };
    default:
      return { ...at, underlyings: ["ACME", "BETA"], payoff: { basket: at.payoff, weights: [0.5, 1] }, strike };
  }
}

/** Moves as of a bad day: wide enough for barriers to be reached, and for early exercise to be the best. */
function randomScenario(random: Random, k: number): object {
  const spot = 0.04 * random.normal();
  const volatility = Math.max(-0.06, 0.02 * random.normal() - 0.3 * spot);
  return {
    name: `day ${k}`,
    moves: {
      spot: { ACME: spot, BETA: spot + 0.01 * random.normal(), HEST: 0.8 * spot },
      volatility: { ACME: volatility, BETA: volatility, HEST: volatility, EURUSD: 0.1 * volatility },
      rate: { EUR: 0.002 * random.normal(), USD: 0.002 * random.normal() },
      fx: { EURUSD: 0.01 * random.normal() },
      time: "1D",
    },
  };
}

async function pricesOf(
  trades: readonly object[],
  scenarios: readonly object[],
  relative = 1e-4,
): Promise<readonly PricedTrade[]> {
  const book = readBook({ asOf: "2026-11-20", market: MARKET, trades, scenarios });
  const { results } = await priceBook(book, { greeks: "none", accuracy: { relative } });
  return results.map((result) => {
    if (result.status === "error") throw new Error(result.error.message);
    return result;
  });
}

test("each value is that of its scenario alone, within both estimates, in any company and order", async () => {
  const random = new Random(31);
  const trades = Array.from({ length: 12 }, (_, i) => randomTrade(random, i));
  const scenarios = Array.from({ length: 60 }, (_, k) => randomScenario(random, k));
  const all = await pricesOf(trades, scenarios);
  let [covered, count] = [0, 0];
  for (const k of [0, 41]) {
    const alone = await pricesOf(trades, [scenarios[k]]);
    all.forEach(({ scenarioValues, scenarioValueErrorEstimates: errors }, i) => {
      const [value, error] = [alone[i].scenarioValues![0]!, alone[i].scenarioValueErrorEstimates![0]!];
      count++;
      if (Math.abs(scenarioValues![k]! - value) <= errors![k]! + error) covered++;
      // An estimate is no larger than the accuracy that was asked for, but for what a method says of itself.
      expect(errors![k]!).toBeLessThan(0.05 + 2 * error);
    });
  }
  expect(covered / count).toBeGreaterThan(0.98);

  const [lone] = await pricesOf([trades[2]], scenarios);
  expect(lone.scenarioValues).toEqual(all[2].scenarioValues);
  // Those on one factor: solutions in two take seconds.
  const cheap = [0, 1, 2, 4, 6, 7];
  const reversed = await pricesOf(cheap.map((i) => trades[i]).toReversed(), scenarios.toReversed());
  cheap.forEach((i, n) =>
    all[i].scenarioValues!.forEach((value, k) =>
      expect(reversed[cheap.length - 1 - n].scenarioValues![59 - k]).toBeCloseTo(value!, 9),
    ),
  );
});

test("to a finer accuracy, with fewer nodes in flat factors, each value is that of its scenario alone", async () => {
  const random = new Random(57);
  // European, American and down-and-out options on one underlying with a dividend, on one mesh each.
  const trades = Array.from({ length: 14 }, (_, i) => randomTrade(random, (i % 5) * 6 + (i % 3)));
  // Early exercise begins within the range of the scenarios, so that nodes have to be added.
  trades.push({ id: "kink", underlying: "ACME", payoff: "put", strike: 120, expiry: 0.42, exercise: "american" });
  const scenarios = Array.from({ length: 80 }, (_, k) => randomScenario(random, k));
  const accuracy = 2e-5;
  const all = await pricesOf(trades, scenarios, accuracy);
  let [covered, count] = [0, 0];
  for (const k of [3, 22, 40, 64]) {
    const alone = await pricesOf(trades, [scenarios[k]], accuracy);
    all.forEach(({ scenarioValues, scenarioValueErrorEstimates: errors }, i) => {
      const [value, error] = [alone[i].scenarioValues![0]!, alone[i].scenarioValueErrorEstimates![0]!];
      count++;
      if (Math.abs(scenarioValues![k]! - value) <= errors![k]! + error) covered++;
      // Half of it or more is left to interpolation where the moves of many scenarios are wide.
      expect(errors![k]!).toBeLessThan(2.5 * accuracy * 100 + error);
    });
  }
  expect(covered / count).toBeGreaterThan(0.98);
  for (const i of [3, 4, 5, 14]) {
    const [lone] = await pricesOf([trades[i]], scenarios, accuracy);
    expect(lone.scenarioValues).toEqual(all[i].scenarioValues);
  }
});

test("under Heston's volatilities, coarse solutions with the differences of a few fine ones are as good", async () => {
  const random = new Random(91);
  const trades = [0.5, 1.4].map((expiry, i) => ({
    id: `${i}`,
    underlying: "HEST",
    payoff: i === 1 ? "call" : "put",
    strike: random.uniform(65, 95),
    expiry,
    exercise: "american",
  }));
  const scenarios = Array.from({ length: 60 }, (_, k) => randomScenario(random, k));
  const accuracy = 1e-3;
  const all = await pricesOf(trades, scenarios, accuracy);
  for (const k of [7, 52]) {
    const alone = await pricesOf(trades, [scenarios[k]], accuracy);
    all.forEach(({ scenarioValues, scenarioValueErrorEstimates: errors }, i) => {
      const [value, error] = [alone[i].scenarioValues![0]!, alone[i].scenarioValueErrorEstimates![0]!];
      expect(Math.abs(scenarioValues![k]! - value)).toBeLessThan(errors![k]! + error);
      expect(errors![k]!).toBeLessThan(2.5 * accuracy * 80);
    });
  }
  const [lone] = await pricesOf([trades[1]], scenarios, accuracy);
  expect(lone.scenarioValues).toEqual(all[1].scenarioValues);
});
