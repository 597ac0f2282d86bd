/** Deltas at expiry of payoffs that bend or jump exactly at the spot. */
import { afterAll, expect, test } from "vitest";
import { createCpuDevice } from "../../src/device/cpu/index.ts";
import { type PricedTrade, priceBook, readBook } from "../../src/index.ts";

const device = createCpuDevice({ threads: 1 });
afterAll(() => device[Symbol.dispose]());

const spot = 100;
const asset = { spot, currency: "C", volatility: 0.3 };
const one = { underlying: "A", strike: spot, expiry: 0 };

async function price(trade: object): Promise<PricedTrade> {
  const book = {
    asOf: "2026-01-01",
    market: { rates: { C: 0.04 }, underlyings: { A: asset, B: asset }, correlations: [["A", "B", 0.5]] },
    trades: [{ id: "1", ...trade }],
  };
  const input = readBook(book);
  const { results } = await priceBook(input, { device, greeks: "all", sensitivityErrorEstimates: true });
  const [result] = results;
  if (result.status === "error") throw new Error(result.error.message);
  return result;
}

const isSaid = ({ warnings }: PricedTrade): boolean => warnings.some((text) => text.includes("has a kink or a jump"));

test.each([
  ["a digital", { ...one, payoff: { digital: "call" } }, 0],
  ["a digital put of much cash", { ...one, payoff: { digital: "put", cash: 1e6 } }, 0],
  ["a formula that jumps", { ...one, strike: undefined, payoff: { expression: "S >= 100 ? S : 0" } }, 0.5],
  ["a call", { ...one, payoff: "call" }, 0.5],
  ["a put", { ...one, payoff: "put" }, -0.5],
])("%s has the mean of the slopes on both sides, and a warning", async (_, trade, delta) => {
  const result = await price(trade);
  expect(result.delta).toBeCloseTo(delta, 6);
  expect(isSaid(result)).toBe(true);
  const estimate = result.sensitivityErrorEstimates!.delta;
  // A bend leaves half of what the slopes differ by, a jump anything.
  if (estimate !== null) expect(estimate).toBeGreaterThanOrEqual(0.5);
});

test("several underlyings, too", async () => {
  const basket = { underlyings: ["A", "B"], payoff: { basket: "call", weights: [0.5, 0.5] }, strike: spot, expiry: 0 };
  const result = await price(basket);
  expect(result.delta).toBeCloseTo(0.5, 6);
  expect(isSaid(result)).toBe(true);
});

test("a payoff that is straight at the spot has its slope, and no warning", async () => {
  for (const trade of [
    { ...one, strike: 90, payoff: "call" },
    { ...one, strike: 90, payoff: { digital: "call" } },
  ]) {
    const result = await price(trade);
    expect(result.delta).toBeCloseTo(trade.payoff === "call" ? 1 : 0, 6);
    expect(isSaid(result)).toBe(false);
    expect(result.sensitivityErrorEstimates!.delta).toBeLessThan(1e-5);
  }
});
