/** What a method refuses, and what it does where its usual scheme does not hold. */
import { describe, expect, test } from "vitest";
import { type BookInput, priceBook } from "../../src/index.ts";
import { readBook } from "../../src/book/index.ts";
import { PlainDevice } from "../support/plain-device.ts";

const device = new PlainDevice();

/** Prices one American option by a method, or by the one that is chosen. */
async function priced(method: BookInput["method"], option: object, underlying: object, rate = 0.03) {
  const book = {
    asOf: "2026-01-01",
    market: {
      rates: { EUR: rate },
      underlyings: { ACME: { spot: 100, currency: "EUR", volatility: 0.3, ...underlying } },
    },
    trades: [{ id: "T", underlying: "ACME", strike: 100, expiry: 1, exercise: "american", ...option }],
    ...(method === undefined ? {} : { method }),
  };
  const [result] = (await priceBook(readBook(book), { device })).results;
  return result;
}

describe("a dividend on the day of expiry", () => {
  const dividends = { discrete: [{ date: 1, cash: 5 }] };

  test("is refused by the integral equation, and priced by finite differences where nothing is asked for", async () => {
    expect(await priced("integral", { payoff: "put" }, { dividends })).toMatchObject({
      status: "error",
      error: { message: expect.stringMatching(/discrete dividends/) },
    });
    const result = await priced(undefined, { payoff: "put" }, { dividends });
    expect(result).toMatchObject({ status: "ok", method: "fdm" });
    // The holder waits for the dividend: worth at least the European put with strike 105 on a spot that pays none.
    const without = await priced(undefined, { payoff: "put", strike: 105, exercise: "european" }, {});
    if (result.status !== "ok" || without.status !== "ok") throw new Error("not priced");
    expect(result.value).toBeGreaterThan(without.value);
  });
});

// Both exist while σ < √(−2q) − √(−2r) of the put, 0.26 here (Battauz, De Donno and Sbuelz, 2015). The spot is near the
// boundary beyond which it pays to wait because interest makes the strike grow.
describe("two regions of exercise under negative rates and yields", () => {
  test.each([
    ["call", { rate: -0.08, yield: -0.01, strikes: [10, 12] }],
    ["put", { rate: -0.01, yield: -0.08, strikes: [1000, 833] }],
  ] as const)("an American %s at %j by finite differences is that of the integral equation", async (payoff, terms) => {
    const market = { volatility: 0.1, dividends: { yield: terms.yield } };
    for (const strike of terms.strikes) {
      const option = { payoff, strike, expiry: 5 };
      const [grid, exact] = [
        await priced("fdm", option, market, terms.rate),
        await priced(undefined, option, market, terms.rate),
      ];
      if (grid.status !== "ok" || exact.status !== "ok") throw new Error("not priced");
      expect(exact.method).toBe("integral");
      expect(Math.abs(grid.value - exact.value)).toBeLessThan(grid.errorEstimate + exact.errorEstimate);
    }
  });
});
