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
  const [result] = (await priceBook(readBook(book as never), { device })).results;
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

describe("two regions of exercise: a negative rate and a more negative yield (Battauz, De Donno and Sbuelz, 2015)", () => {
  test.each([
    ["call", { rate: -0.05, yield: -0.03 }],
    ["call", { rate: -0.03, yield: -0.05 }],
    ["put", { rate: -0.03, yield: -0.05 }],
    ["put", { rate: -0.05, yield: -0.06 }],
  ] as const)("an American %s at %j by finite differences is that of the integral equation", async (payoff, market) => {
    const dividends = { yield: market.yield };
    for (const strike of [80, 100, 125]) {
      const grid = await priced("fdm", { payoff, strike }, { volatility: 0.1, dividends }, market.rate);
      const exact = await priced(undefined, { payoff, strike }, { volatility: 0.1, dividends }, market.rate);
      if (grid.status !== "ok" || exact.status !== "ok") throw new Error("not priced");
      expect(exact.method).not.toBe("fdm");
      expect(Math.abs(grid.value - exact.value)).toBeLessThan(grid.errorEstimate + exact.errorEstimate);
    }
  });
});
