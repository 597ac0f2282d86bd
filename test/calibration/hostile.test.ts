/** Fits of quotes that no market has: each ends, and gives volatilities that are numbers. */
import { describe, expect, it } from "vitest";
import { fitAndreasenHuge } from "../../src/calibration/andreasen-huge.ts";
import { checkedQuotes, type UnderlyingQuotes } from "../../src/calibration/fit.ts";
import { fitHeston } from "../../src/calibration/heston-fit.ts";
import { fitLocal } from "../../src/calibration/local-fit.ts";
import { fitSsvi } from "../../src/calibration/ssvi-fit.ts";
import { fitSvi } from "../../src/calibration/svi-surface.ts";
import { quotesOf } from "./quotes.ts";

const k = [-0.4, -0.2, -0.1, 0, 0.1, 0.2, 0.4];
const one = (...expiries: UnderlyingQuotes["expiries"]): UnderlyingQuotes => ({ spot: 100, expiries });
const hostile: Record<string, UnderlyingQuotes> = {
  "one quote": one(quotesOf(0.5, [0], () => 0.2)),
  "two quotes of one expiry": one(quotesOf(0.5, [-0.1, 0.2], (_, i) => 0.2 + 0.1 * i)),
  "one expiry": one(quotesOf(1, k, (at) => 0.2 + at * at)),
  "volatilities of 1 %": one(...[0.1, 1].map((t) => quotesOf(t, [-0.02, -0.01, 0, 0.01, 0.02], () => 0.01))),
  "volatilities of 300 %": one(...[0.1, 1].map((t) => quotesOf(t, k, () => 3))),
  "total variance that falls": one(...[0.5, 1].map((t, i) => quotesOf(t, k, () => 0.4 - 0.2 * i))),
  "a spike": one(...[0.5, 1].map((t) => quotesOf(t, k, (_, i) => (i === 3 ? 0.6 : 0.2)))),
  "a few days": one(
    quotesOf(1 / 365, [-0.05, 0, 0.05], () => 0.5),
    quotesOf(30, k, () => 0.2),
  ),
};

describe("hostile quotes", () => {
  it.each(Object.entries(hostile))("%s", (_, quotes) => {
    const fits = [fitSvi(quotes), fitSsvi(quotes), fitAndreasenHuge(quotes), fitLocal(quotes)];
    for (const fit of [...fits, fitHeston(quotes)]) {
      for (const { time, logMoneyness } of quotes.expiries)
        for (const at of logMoneyness) expect(fit.impliedVolatility(at, time)).toBeGreaterThan(0);
      if (fit.volatility.kind === "surface")
        for (const sigma of fit.volatility.surface.volatility.flat()) expect(sigma).toBeGreaterThan(0);
      // What is free of arbitrage by construction is so whatever the quotes are.
      if (fit.model !== "svi" && fit.model !== "local") expect(fit.calendar.free).toBe(true);
    }
  });

  it("are refused by their place where they are no quotes", () => {
    const quotes = quotesOf(0.5, [0, 0.1], () => 0.2);
    expect(() => checkedQuotes(one())).toThrow("got none");
    expect(() => checkedQuotes(one(quotes, quotes))).toThrow("expiries[1].time: got 0.5");
    expect(() => checkedQuotes(one({ ...quotes, implied: Float64Array.of(0.2, 0) }))).toThrow("expiries[0].implied[1]");
    expect(() => checkedQuotes(one(quotesOf(1, [0.1, 0], () => 0.2)))).toThrow("logMoneyness[1]: got 0");
  });
});
