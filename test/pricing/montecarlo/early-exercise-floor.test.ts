/** Early exercise by a rule is worth no less than none. */
import { afterAll, expect, test } from "vitest";
import { type BookInput, readBook } from "../../../src/book/index.ts";
import { createCpuDevice } from "../../../src/device/cpu/index.ts";
import { priceBook } from "../../../src/pricing/index.ts";

const device = createCpuDevice({ threads: 1 });
afterAll(() => device[Symbol.dispose]());

test("a Bermudan call without rates and dividends is the European one", async () => {
  const names = ["A", "B", "C", "D"];
  const market = {
    rates: { EUR: 0 },
    underlyings: Object.fromEntries(
      names.map((name, i) => [name, { spot: 100, currency: "EUR", volatility: 0.2 + 0.02 * i }]),
    ),
    correlations: names.flatMap((a, i) => names.slice(i + 1).map((b) => [a, b, 0.3] as [string, string, number])),
  };
  const best = { underlyings: names, payoff: { bestOf: "call" as const }, strike: 100, expiry: 1 };
  const trades = [
    { id: "bermudan", ...best, exercise: [0.25, 0.5, 0.75, 1] },
    { id: "european", ...best },
  ];
  for (const seed of [1, 2, 3]) {
    const book = { asOf: "2026-01-01", method: "montecarlo", seed, market, trades } as BookInput;
    const { results } = await priceBook(readBook(book), { device, greeks: "none" });
    const [one, other] = results.map((result) => {
      if (result.status === "error") throw new Error(result.error.message);
      return { value: result.value, error: result.errorEstimate };
    });
    // Both values of European exercise are within their noise, on paths of their own.
    expect(one.value).toBeGreaterThan(other.value - other.error - 0.05);
    expect(Math.abs(one.value - other.value)).toBeLessThan(one.error + other.error);
  }
});
