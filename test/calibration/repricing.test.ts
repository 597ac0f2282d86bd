/** Trades priced on a grid with the local volatility of a fit give the implied volatilities of its quotes back. */
import { describe, expect, it } from "vitest";
import { blackDeviation } from "../../src/calibration/index.ts";
import { openDevice } from "../../src/device/index.ts";
import { parseBook, priceBook } from "../../src/index.ts";
import { ssviVariance } from "../../src/market/ssvi.ts";

const TIMES = [1 / 12, 0.25, 1, 3, 6];
const STEPS = [-2, -1.5, -1, -0.5, 0, 0.5, 1, 1.5, 2];
const options = TIMES.flatMap((time) =>
  STEPS.map((step) => {
    const theta = 0.0625 * time;
    const k = step * Math.sqrt(theta);
    const { variance } = ssviVariance({ theta, phi: 0.8 / Math.sqrt(theta * (1 + theta)), rho: -0.6, k });
    const forward = 100 * Math.exp(0.02 * time);
    return { time, forward, strike: forward * Math.exp(k), sign: k >= 0 ? 1 : -1, implied: Math.sqrt(variance / time) };
  }),
);

describe.each(["svi", "local", "andreasen-huge"] as const)("%s", (fit) => {
  it("gives its quotes back", async () => {
    using device = await openDevice({ backend: "cpu", threads: 1 });
    const quotes = options.map(({ time, strike, implied }) => ({ expiry: time, strike, implied }));
    const underlying = { spot: 100, currency: "EUR", dividends: { yield: 0.01 }, volatility: { quotes, fit } };
    const book = parseBook({
      asOf: "2026-11-20",
      market: { rates: { EUR: 0.03 }, underlyings: { U: underlying } },
      trades: options.map(({ time, strike, sign }, i) => {
        return { id: `T${i}`, underlying: "U", payoff: sign > 0 ? "call" : "put", strike, expiry: time };
      }),
    });
    const { results } = await priceBook(book, { device, greeks: "none", method: "fdm" });
    results.forEach(({ value }, i) => {
      const { time, implied, ...quoted } = options[i];
      const price = value! * Math.exp(0.03 * time);
      const { deviation } = blackDeviation({ quoted: { ...quoted, price } });
      expect(Math.abs(deviation / Math.sqrt(time) - implied)).toBeLessThan(1e-3);
    });
  });
});
