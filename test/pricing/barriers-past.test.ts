/** Barriers that the spot is past before they are monitored, and barriers next to zero, beside dividends. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { parseBook, type PricedTrade, priceBook } from "../../src/index.ts";
import { type Device, openDevice } from "../../src/device/index.ts";

let device: Device;
beforeAll(async () => void (device = await openDevice({ backend: "cpu" })));
afterAll(() => device[Symbol.dispose]());

async function price(underlying: object, trade: object): Promise<PricedTrade> {
  const book = {
    asOf: "2026-11-20T16:00:00Z",
    market: { rates: { EUR: 0.0726 }, underlyings: { A: { currency: "EUR", ...underlying } } },
    trades: [{ id: "1", underlying: "A", ...trade }],
  };
  const { results } = await priceBook(parseBook(JSON.stringify(book)), { device, greeks: "none" });
  const [result] = results;
  if (result?.status !== "ok") throw new Error(result?.error.message);
  return result;
}

// Seven standard deviations above the level on its first date: knocked out then.
it.each([0, 1, 4, 30])("a level far below the spot ends the trade on its first date, dividend of %d", async (cash) => {
  for (const exercise of ["european", "american"]) {
    const got = await price(
      { spot: 303.78, volatility: 0.042, dividends: { discrete: [{ date: 0.14, cash }] } },
      {
        payoff: "call",
        strike: 317.04,
        expiry: 0.29,
        exercise,
        barriers: [
          { type: "up-and-out", level: 259.73, rebate: 5.98, rebateAt: "expiry", monitoring: [0.02, 0.15, 0.29] },
        ],
      },
    );
    expect(Math.abs(got.value - 5.98 * Math.exp(-0.0726 * 0.29))).toBeLessThanOrEqual(got.errorEstimate);
  }
});

it("a level next to zero costs no nodes, and its estimate is a number", async () => {
  const underlying = {
    spot: 5.08,
    volatility: { displaced: { sigma: 0.077, shift: 4.58 } },
    dividends: { discrete: [{ date: 0.55, cash: 1.46, proportional: 0.05 }] },
  };
  const trade = { payoff: "call", strike: 4, expiry: 2.17 };
  const plain = await price(underlying, trade);
  for (const level of [1e-30, 1e-12, 1e-7]) {
    const barred = await price(underlying, { ...trade, barriers: [{ type: "down-and-out", level }] });
    expect(Math.abs(barred.value - plain.value)).toBeLessThanOrEqual(barred.errorEstimate + plain.errorEstimate);
    expect(barred.errorEstimate).toBeLessThan(1e-4 * 5.08);
  }
});
