/** Quotes for the tests of fits. */
import { readFileSync } from "node:fs";
import type { ExpiryQuotes, UnderlyingQuotes } from "../../src/calibration/fit.ts";

/** Quotes of one expiry with equal weights. */
export function quotesOf(
  time: number,
  logMoneyness: readonly number[],
  implied: (k: number, i: number) => number,
  forward = 100,
  discount = 1,
): ExpiryQuotes {
  return {
    time,
    forward,
    discount,
    logMoneyness: Float64Array.from(logMoneyness),
    implied: Float64Array.from(logMoneyness, implied),
    weights: new Float64Array(logMoneyness.length).fill(1),
  };
}

/** The DAX quotes of 5 July 2002, real ones that are not free of arbitrage. */
export function dax(): UnderlyingQuotes {
  const data = JSON.parse(readFileSync(new URL("../../examples/dax/surface.json", import.meta.url), "utf8"));
  const strikes: number[] = data.strikes;
  const days: number[] = data.daysToExpiry;
  return {
    spot: data.spot,
    expiries: days.map((n, e) => {
      const time = n / 365;
      const forward = data.spot * Math.exp(data.zeroRates[e] * time);
      const k = strikes.map((strike) => Math.log(strike / forward));
      return quotesOf(time, k, (_, i) => data.impliedVolatility[i][e], forward, data.spot / forward);
    }),
  };
}
