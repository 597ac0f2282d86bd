/** Scenario values are as exact as a trade's, and say how exact. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { parseBook, type PricedTrade, priceBook } from "../../src/index.ts";
import { type Device, openDevice } from "../../src/device/index.ts";

let device: Device;
beforeAll(async () => void (device = await openDevice({ backend: "cpu" })));
afterAll(() => device[Symbol.dispose]());

const underlying = (spot: number) => ({
  spot,
  currency: "C4",
  volatility: { displaced: { sigma: 0.11351158630759883, shift: 159.27997642205492 } },
  dividends: { yield: 0.014021660580810936 },
});
const SPOT = 398.1999410551373;
const RATE = 0.050108059643192274;

async function price(
  spot: number,
  rate: number,
  scenarios: object | undefined,
  accuracy: number,
): Promise<PricedTrade> {
  const book = {
    asOf: "2026-11-20T16:00:00Z",
    market: { rates: { C4: rate }, underlyings: { U4: underlying(spot) } },
    ...(scenarios === undefined ? {} : { scenarios }),
    trades: [
      { id: "t3", underlying: "U4", payoff: "put", expiry: 2.677, strike: 505.40077277444857, exercise: "american" },
    ],
  };
  const { results } = await priceBook(parseBook(JSON.stringify(book)), {
    device,
    greeks: "none",
    accuracy: { relative: accuracy },
  });
  const [result] = results;
  if (result?.status !== "ok") throw new Error(result?.error.message);
  return result;
}

const [spots, rates] = [
  [-0.2, 0, 0.05, 0.2],
  [0, -0.01, -0.03],
];

/** Values of the moved markets to 1e-8, by rate and spot. */
let references: readonly (readonly PricedTrade[])[] | undefined;
const referenceValues = async (): Promise<NonNullable<typeof references>> =>
  (references ??= await Promise.all(
    rates.map((rate) => Promise.all(spots.map((spot) => price(SPOT * (1 + spot), RATE + rate, undefined, 1e-8)))),
  ));

it.each([1e-4, 1e-5, 1e-6])("every scenario is within its estimate and the accuracy, at %d", async (accuracy) => {
  const fine = await referenceValues();
  const { scenarios, scenarioErrorEstimates } = await price(SPOT, RATE, { spot: spots, rate: rates }, accuracy);
  for (const j of rates.keys()) {
    const estimate = scenarioErrorEstimates?.[0]?.[0]?.[j] as number;
    expect(estimate).toBeGreaterThan(0);
    expect(estimate).toBeLessThanOrEqual(2 * accuracy * SPOT * 1.2);
    for (const [i, spot] of spots.entries()) {
      const fresh = fine[j][i];
      const value = scenarios?.[0]?.[i]?.[0]?.[j] as number;
      expect(Math.abs(value - fresh.value)).toBeLessThanOrEqual(estimate + fresh.errorEstimate);
      expect(Math.abs(value - fresh.value)).toBeLessThanOrEqual(accuracy * SPOT * (1 + spot));
    }
  }
});

it("the largest estimate of each slice is by time, volatility and rate, in totals times the quantity", async () => {
  const axes = { time: [0, 0.5], spot: [-0.1, 0, 0.1], volatility: [0, 0.02], rate: [0, 0.01, 0.02] };
  const trades = [
    { id: "american", exercise: "american", quantity: -3 },
    { id: "closed form", quantity: 5 },
    { id: "deterministic", volatility: 0, quantity: 2 },
    { id: "settled", expiry: 0.25 },
  ].map((parts) => ({ underlying: "A", payoff: "put", strike: 100, expiry: 1, ...parts }));
  const book = {
    asOf: "2026-11-20T16:00:00Z",
    market: { rates: { EUR: 0.05 }, underlyings: { A: { spot: 100, currency: "EUR", volatility: 0.2 } } },
    scenarios: axes,
    trades,
  };
  const { results, totals } = await priceBook(parseBook(JSON.stringify(book)), { device, greeks: "none" });
  const estimates = results.map((result) => {
    if (result.status !== "ok") throw new Error(result.error.message);
    const { scenarioErrorEstimates: slices = [] } = result;
    expect(slices.map((times) => times.map((row) => row.length))).toEqual([
      [3, 3],
      [3, 3],
    ]);
    return slices as readonly (readonly (readonly number[])[])[];
  });
  const [american, closed, deterministic, settled] = estimates;
  for (const [t, slices] of (totals[0]?.scenarioErrorEstimates ?? []).entries())
    for (const [i, row] of slices.entries())
      for (const [j, total] of row.entries()) {
        const at = (of: typeof american): number => of?.[t]?.[i]?.[j];
        expect(at(american)).toBeLessThanOrEqual(1.1e-5 * 110);
        expect(at(closed)).toBeLessThan(1e-9);
        expect(at(deterministic)).toBeLessThanOrEqual(1.1e-5 * 110);
        expect(at(settled)).toBeLessThan(1e-9);
        const sum = 3 * at(american) + 5 * at(closed) + 2 * at(deterministic) + at(settled);
        expect(total).toBeCloseTo(sum, 12);
      }
});

it("a spot of a scenario that a barrier has ended is worth its rebate, whatever exercise would pay", async () => {
  const book = {
    asOf: "2026-11-20T16:00:00Z",
    market: { rates: { EUR: 0.03 }, underlyings: { A: { spot: 100, currency: "EUR", volatility: 0.13 } } },
    scenarios: { spot: [0, 0.07], rate: [0, -0.01] },
    trades: [
      {
        id: "1",
        underlying: "A",
        payoff: "call",
        strike: 99,
        expiry: 0.07,
        exercise: "american",
        barriers: [{ type: "up-and-out", level: 104, rebate: 0.5 }],
      },
    ],
  };
  const { results } = await priceBook(parseBook(JSON.stringify(book)), { device, greeks: "none" });
  const [result] = results;
  expect(result?.status).toBe("ok");
  if (result?.status === "ok") expect(result.scenarios?.[0]?.[1]).toEqual([[0.5, 0.5]]);
});
