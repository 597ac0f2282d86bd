/** Cells over arrays beside the same trades in books whose markets are those of the scenarios. */
import { afterAll, expect, test } from "vitest";
import { openDevice, priceBook, readBook } from "../../../src/index.ts";
import type { PricedTrade } from "../../../src/book/index.ts";
import { Random } from "../../../tools/properties/random.ts";

/** The moves of one scenario. */
interface Moves {
  readonly spot: number;
  readonly volatility: number;
  readonly rate: number;
  readonly dividend: number;
  readonly fx: number;
  readonly isTomorrow: boolean;
}

const STILL: Moves = { spot: 0, volatility: 0, rate: 0, dividend: 0, fx: 0, isTomorrow: false };

/** Some hit the least volatility, or leave the market as it is. */
function randomMoves(random: Random): Moves {
  if (random.chance(0.1)) return STILL;
  return {
    spot: random.uniform(-0.3, 0.3),
    volatility: random.chance(0.1) ? -1 : random.uniform(-0.1, 0.3),
    rate: random.chance(0.3) ? 0 : random.uniform(-0.05, 0.05),
    dividend: random.uniform(-0.03, 0.03),
    fx: random.uniform(-0.1, 0.1),
    isTomorrow: random.chance(0.3),
  };
}

/** The market after moves, as of their date. */
function bookIn({ spot, volatility, rate, dividend, fx, isTomorrow }: Moves, trades: readonly object[]): object {
  const v0 = Math.max(0.25 + volatility, 0) ** 2;
  return {
    asOf: isTomorrow ? "2026-11-21" : "2026-11-20",
    market: {
      rates: { EUR: 0.03 + rate, USD: 0.02 + rate },
      underlyings: {
        FLAT: {
          spot: 100 * (1 + spot),
          currency: "EUR",
          volatility: Math.max(0.2 + volatility, 0),
          dividends: { yield: 0.01 + dividend },
        },
        PAYS: {
          spot: 50 * (1 + spot),
          currency: "EUR",
          volatility: Math.max(0.3 + volatility, 0),
          dividends: { yield: dividend, discrete: [{ date: "2027-03-01", proportional: 0.02 }] },
        },
        HEST: {
          spot: 80 * (1 + spot),
          currency: "EUR",
          volatility: { heston: { v0, kappa: 2, theta: 0.06, sigma: 0.5, rho: -0.6 } },
          dividends: { yield: dividend },
        },
        EURUSD: { fx: "EURUSD", volatility: Math.max(0.1 + volatility, 0) },
      },
      fx: { EURUSD: 1.1 * (1 + fx) },
    },
    trades,
  };
}

const scenarioOf = ({ spot, volatility, rate, dividend, fx, isTomorrow }: Moves, k: number): object => ({
  name: `${k}`,
  moves: {
    spot: { "*": spot },
    volatility: { "*": volatility },
    rate: { "*": rate },
    dividend: { "*": dividend },
    fx: { EURUSD: fx },
    ...(isTomorrow ? { time: "1D" } : {}),
  },
});

/** The place of the currency pair among the underlyings of `randomTrade`. */
const FX = 2;

function randomTrade(random: Random, i: number): object {
  const [underlying, spot] = (
    [
      ["FLAT", 100],
      ["PAYS", 50],
      ["EURUSD", 1.1],
      ["HEST", 80],
    ] as const
  )[i % 4];
  const right = random.chance(0.5) ? "put" : "call";
  // American options whose market is constant are priced by integral equations.
  const isAmerican = i % 8 === 0 || i % 8 === FX;
  const expiry = random.choice(["2026-12-04", "2027-02-19", "2027-06-18", "2028-12-15"]);
  return {
    id: `${i}`,
    underlying,
    payoff: !isAmerican && random.chance(0.25) ? { digital: right, cash: 10 } : right,
    ...(isAmerican ? { exercise: "american" } : {}),
    strike: spot * random.uniform(0.7, 1.4),
    expiry,
  };
}

const device = await openDevice({ backend: "cpu" });
afterAll(() => device[Symbol.dispose]());

async function pricesOf(book: object): Promise<readonly PricedTrade[]> {
  const { results } = await priceBook(readBook(book), { device, greeks: "none" });
  return results.map((result) => {
    if (result.status === "error") throw new Error(result.error.message);
    return result;
  });
}

test("each cell is the trade's value in a book of the scenario's market, within both estimates", async () => {
  const random = new Random(17);
  const trades = Array.from({ length: 24 }, (_, i) => randomTrade(random, i));
  const moves = Array.from({ length: 24 }, () => randomMoves(random));
  const all = await pricesOf({ ...bookIn(STILL, trades), scenarios: moves.map(scenarioOf) });
  for (const [k, one] of moves.entries()) {
    const alone = await pricesOf(bookIn(one, trades));
    all.forEach(({ scenarioValues, scenarioValueErrorEstimates: errors, id }, i) => {
      // Quoted exchange rates are for the spot date: rates and days in between change what they are today.
      if (i % 4 === FX && (one.rate !== 0 || one.isTomorrow)) return;
      const { value, errorEstimate } = alone[i];
      expect(Math.abs(scenarioValues![k]! - value), `${id} in ${k}`).toBeLessThanOrEqual(errors![k]! + errorEstimate);
    });
  }
  for (const i of [5, 8]) {
    const [lone] = await pricesOf({ ...bookIn(STILL, [trades[i]]), scenarios: moves.map(scenarioOf) });
    expect(lone.scenarioValues).toEqual(all[i].scenarioValues);
    expect(lone.warnings).toEqual(all[i].warnings);
  }
});
