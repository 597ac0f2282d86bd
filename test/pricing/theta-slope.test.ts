/** Theta of trades of every kind as the slope of the value while `asOf` moves, with all dates fixed. */
import { afterAll, expect, test } from "vitest";
import { createCpuDevice } from "../../src/device/cpu/index.ts";
import { type PricedTrade, priceBook, readBook } from "../../src/index.ts";
import { nextEvent } from "../../src/pricing/plan/kinks.ts";
import { bumped, termsOf } from "../../src/pricing/terms.ts";
import { trade } from "./reference.ts";

const device = createCpuDevice({ threads: 1 });
afterAll(() => device[Symbol.dispose]());

const HOUR = 1 / (365 * 24);
const spot = 100;
/** Instants, as a date takes the time of day of `asOf`: a day after `asOf` and some weeks later, and the expiry. */
const [soon, middle, expiry] = ["2026-03-03T00:00:00Z", "2026-03-20T00:00:00Z", "2026-04-15T00:00:00Z"];
const option = { underlying: "A", strike: 101, expiry };

const trades = {
  call: { ...option, payoff: "call" },
  digital: { ...option, payoff: { digital: "call", cash: 10 } },
  american: { ...option, payoff: "put", exercise: "american" },
  bermudan: { ...option, payoff: "put", exercise: [soon, middle] },
  "down-and-out": { ...option, payoff: "put", barriers: [{ type: "down-and-out", level: 97 }] },
  "dated up-and-in": {
    ...option,
    payoff: "call",
    barriers: [{ type: "up-and-in", level: 104, monitoring: [soon, middle] }],
  },
  "dividend tomorrow": { ...option, payoff: "call", underlying: "B", exercise: "american" },
  "geometric average": { ...option, payoff: "call", average: { kind: "geometric", dates: [soon, middle, expiry] } },
  "seasoned geometric average": {
    ...option,
    payoff: "put",
    average: { kind: "geometric", dates: [soon, middle], past: { count: 2, mean: 102 } },
  },
  Heston: {
    ...option,
    payoff: "call",
    volatility: { heston: { v0: 0.05, kappa: 2, theta: 0.04, sigma: 0.3, rho: -0.5 } },
  },
};

/** The book at an instant: dividends and trades keep their dates. */
async function price(asOf: string): Promise<readonly PricedTrade[]> {
  // Flat: other quotes that stay as they are would not follow their forwards.
  const asset = { spot, currency: "C", volatility: 0.24 };
  const market = {
    rates: { C: 0.04 },
    underlyings: {
      A: { ...asset, dividends: { yield: 0.02 } },
      B: { ...asset, dividends: { discrete: [{ date: soon, cash: 1.5 }] } },
    },
  };
  const own = Object.entries(trades).map(([id, trade]) => ({ id, ...trade }));
  const input = readBook({ asOf, market, trades: own });
  const settings = { device, greeks: "all", sensitivityErrorEstimates: true, accuracy: { relative: 1e-6 } } as const;
  const { results } = await priceBook(input, settings);
  return results.map((result) => {
    if (result.status === "error") throw new Error(result.error.message);
    return result;
  });
}

test("theta is the slope of the value", async () => {
  const [now, inOne, inTwo] = [
    await price("2026-03-02T00:00:00Z"),
    await price("2026-03-02T01:00:00Z"),
    await price("2026-03-02T02:00:00Z"),
  ];
  for (const [i, { id, value, theta, errorEstimate, sensitivityErrorEstimates: errors }] of now.entries()) {
    const slope = (2 * inOne[i].value - 1.5 * value - 0.5 * inTwo[i].value) / HOUR;
    // Values of one mesh after another share most of their errors.
    const noise = Math.min((errorEstimate + inOne[i].errorEstimate) / HOUR, 0.02 * Math.abs(slope) + 0.02);
    // What hours leave of a difference of second order, weeks before expiry.
    const width = 1e-5 * Math.abs(slope);
    const tolerance = (errors!.theta ?? Number.NaN) + noise + width;
    expect(Math.abs(theta! - slope), `${id}: ${theta} instead of ${slope}`).toBeLessThan(tolerance);
  }
});

test("no step in time goes across the next date on which anything happens: a date of exercise too", () => {
  const terms = termsOf(trade({ expiry: 1, exercise: { kind: "bermudan", times: [0.3, 0.6] } }), 0, {
    volatility: 0,
    rate: 0,
  })!;
  expect(nextEvent(terms)).toBe(0.3);
  expect(nextEvent({ ...terms, exercise: { kind: "european" } })).toBe(1);
});

test("a correlation is moved on both sides of the diagonal", () => {
  const terms = termsOf(trade({}), 0, { volatility: 0, rate: 0 })!;
  const correlations = [
    [1, 0.5, 0.1],
    [0.5, 1, 0.2],
    [0.1, 0.2, 1],
  ];
  expect(bumped({ ...terms, correlations }, { kind: "correlation", pair: [0, 2], by: 0.25 }).correlations).toEqual([
    [1, 0.5, 0.35],
    [0.5, 1, 0.2],
    [0.35, 0.2, 1],
  ]);
});
