import { describe, expect, test } from "vitest";
import { createCpuDevice } from "../../src/device/cpu/index.ts";
import { type BookInput, parseBook, priceBook } from "../../src/index.ts";

/** Values of a book's trades, in their order. */
async function valuesOf(book: unknown): Promise<readonly (number | null)[]> {
  using device = createCpuDevice();
  const { results } = await priceBook(parseBook(book as BookInput), { device, greeks: "grid" });
  return results.map(({ value }) => value);
}

const shortRate = (drift: string, volatility: string) => ({
  shortRate: { r0: 0.03, drift, volatility, range: [-0.4, 0.5], curve: 0.03 },
});

describe("a trade's value does not depend on its company", () => {
  test("two currencies with short rates by formulas have each their own", async () => {
    const rates = {
      EUR: shortRate("0.1*(0.03-r)", "0.01"),
      USD: shortRate("0.3*(0.03-r)", "0.01"),
      GBP: { hullWhite: { meanReversion: 0.3, volatility: 0.01, curve: 0.03 } },
    };
    const trades = Object.keys(rates).map((currency) => ({
      id: currency,
      currency,
      swaption: "payer",
      strike: 0.03,
      expiry: 3,
      swap: { start: 3, end: 8, frequency: 1, notional: 100 },
    }));
    const [euro, dollar, closed] = await valuesOf({ asOf: "2026-11-20", market: { rates }, trades });
    // Hull and White's model with this mean reversion, in closed form.
    expect(closed).toBeCloseTo(1.165112643, 8);
    expect(dollar).toBeCloseTo(1.165112643, 5);
    expect(await valuesOf({ asOf: "2026-11-20", market: { rates }, trades: trades.slice(0, 1) })).toEqual([euro]);
    expect(await valuesOf({ asOf: "2026-11-20", market: { rates }, trades: trades.slice(1, 2) })).toEqual([dollar]);
  });
});
