/** Fits of quotes that no market has: each ends, and gives volatilities that are numbers. */
import { describe, expect, it } from "vitest";
import { fitAndreasenHuge } from "../../src/calibration/andreasen-huge.ts";
import { checkedQuotes, rmseOf, type SurfaceFit, type UnderlyingQuotes } from "../../src/calibration/fit.ts";
import { fitHeston } from "../../src/calibration/heston-fit.ts";
import { fitLocal } from "../../src/calibration/local-fit.ts";
import { withoutArbitrage } from "../../src/calibration/repair.ts";
import { fitSsvi } from "../../src/calibration/ssvi-fit.ts";
import { fitSvi } from "../../src/calibration/svi-surface.ts";
import { hostNormalCdf } from "../../src/market/models/index.ts";
import { quotesOf } from "./quotes.ts";
import { counted } from "../support/extent.ts";
import { uniform } from "./uniform.ts";

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

/** One to three expiries of one to seven strikes, of which some are from 1 % to 300 % or spikes; some fall in time. */
function randomHostile(random: () => number): UnderlyingQuotes {
  const level = 0.01 * 300 ** random();
  const [wild, falling] = [random() < 0.5, random() < 0.3];
  const count = 1 + Math.floor(3 * random());
  const expiries = Array.from({ length: count }, (_, e) => {
    const time = [0.02, 0.5, 2][e];
    const width = level * Math.sqrt(time) * (0.5 + 3 * random());
    const strikes = 1 + Math.floor(7 * random());
    const at = Array.from({ length: strikes }, (_, i) => (i - 0.5 * (strikes - 1)) * width);
    const own = falling ? level / Math.sqrt(10 ** e) : level;
    return quotesOf(time, at, () => (wild ? Math.min(Math.max(own * 9 ** (random() - 0.5), 0.01), 3) : own));
  });
  return one(...expiries);
}

const meanOf = (values: Float64Array): number => values.reduce((sum, value) => sum + value, 0) / values.length;

/** An undiscounted call in units of the forward. */
function callAt({ impliedVolatility }: SurfaceFit, strike: number, time: number): number {
  const k = Math.log(strike);
  const deviation = impliedVolatility(k, time) * Math.sqrt(time);
  const d1 = -k / deviation + 0.5 * deviation;
  return hostNormalCdf(d1) - strike * hostNormalCdf(d1 - deviation);
}

/**
 * Checks what a fit says of its arbitrage by prices of calls: they bend upwards in the strike and do not fall in time
 * where it is free, and where it is not its smallest g is the second difference at that place, relative to Black's.
 */
function tellsOfArbitrage(fit: SurfaceFit, { expiries }: UnderlyingQuotes): void {
  const curvature = (strike: number, time: number, h: number): number =>
    callAt(fit, strike - h, time) - 2 * callAt(fit, strike, time) + callAt(fit, strike + h, time);
  const parts = Array.from({ length: 41 }, (_, j) => j / 40);
  expiries.forEach(({ time, logMoneyness }, i) => {
    const [from, to] = [Math.exp(logMoneyness[0]), Math.exp(logMoneyness.at(-1)!)];
    const h = (to - from) / 40;
    if (fit.butterfly.free && h > 0)
      for (const part of parts.slice(1, -1))
        expect(curvature(from + part * (to - from), time, h)).toBeGreaterThan(-1e-14);
    if (i === 0 || !fit.calendar.free) return;
    const before = expiries[i - 1];
    const low = Math.max(from, Math.exp(before.logMoneyness[0]));
    const high = Math.min(to, Math.exp(before.logMoneyness.at(-1)!));
    for (const part of low > high ? [] : parts) {
      const strike = low + part * (high - low);
      expect(callAt(fit, strike, time) - callAt(fit, strike, before.time)).toBeGreaterThan(-1e-14);
    }
  });
  const { free, min, at } = fit.butterfly;
  if (free || at === undefined) return;
  const deviation = fit.impliedVolatility(at.logMoneyness, at.time) * Math.sqrt(at.time);
  const d2 = -at.logMoneyness / deviation - 0.5 * deviation;
  // Without variance there are no such prices, and far out nothing is left of them but rounding.
  if (!(Math.abs(d2) < 4)) return;
  const strike = Math.exp(at.logMoneyness);
  const h = 1e-3 * strike * Math.min(deviation, 1);
  const black = Math.exp(-0.5 * d2 * d2) / (deviation * Math.sqrt(2 * Math.PI) * strike);
  // A kink that is narrower than the difference is blurred by it.
  const share = curvature(strike, at.time, h) / (h * h) / black / min;
  expect(Math.abs(share - 1)).toBeLessThan(min < -1 ? 0.5 : 1e-2);
}

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

  it("at random, end in volatilities and tell of their arbitrage", () => {
    const random = uniform(34);
    let repairs = 0;
    for (let i = 0; i < counted("FEYNKAC_HOSTILE", 40, 100); i++) {
      const quotes = randomHostile(random);
      const flat = rmseOf(quotes, (_, t) => meanOf(quotes.expiries.find(({ time }) => time === t)!.implied));
      for (const fit of [fitSvi(quotes), fitSsvi(quotes), fitAndreasenHuge(quotes), fitLocal(quotes)]) {
        for (const { time, logMoneyness } of quotes.expiries)
          for (const at of logMoneyness) expect(fit.impliedVolatility(at, time)).toBeGreaterThan(0);
        if (fit.model !== "svi") expect([fit.butterfly.free, fit.calendar.free]).toEqual([true, true]);
        if (fit.model === "svi" || fit.model === "ssvi") tellsOfArbitrage(fit, quotes);
        // SVI knows a constant for each expiry. What is free of arbitrage cannot go along with all of it.
        const error = rmseOf(quotes, fit.impliedVolatility);
        expect(error).toBeLessThan(flat + (fit.model === "svi" ? 2e-3 : 0.15));
        // No parametric fit of fewer quotes than it has parameters may be called converged.
        const count = quotes.expiries.map(({ implied }) => implied.length);
        if (fit.model === "svi" && Math.min(...count) < 5) expect(fit.status).toBe("not converged");
        if (fit.model === "ssvi" && count.reduce((a, b) => a + b) < 3 + count.length)
          expect(fit.status).toBe("not converged");
        const isFree = fit.butterfly.free && fit.calendar.free;
        if (isFree || repairs > 5) continue;
        const mended = withoutArbitrage(quotes, fit);
        expect([mended.butterfly.free, mended.calendar.free]).toEqual([true, true]);
        expect(mended.message).toMatch(/repaired, because (Gatheral's g is|total variance falls by)/);
        repairs++;
      }
    }
    expect(repairs).toBe(6);
  });

  it("are refused by their place where they are no quotes", () => {
    const quotes = quotesOf(0.5, [0, 0.1], () => 0.2);
    expect(() => checkedQuotes(one())).toThrow("got none");
    expect(() => checkedQuotes(one(quotes, quotes))).toThrow("expiries[1].time: got 0.5");
    expect(() => checkedQuotes(one({ ...quotes, implied: Float64Array.of(0.2, 0) }))).toThrow("expiries[0].implied[1]");
    expect(() => checkedQuotes(one(quotesOf(1, [0.1, 0], () => 0.2)))).toThrow("logMoneyness[1]: got 0");
  });
});
