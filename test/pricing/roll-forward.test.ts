/** What a trade is some years later. */
import { expect, test } from "vitest";
import { rollForward } from "../../src/pricing/terms.ts";
import { trade } from "./reference.ts";

test("an extremum counts from the day on that the trade says, not the dates before it", () => {
  const times = [0.1, 0.2, 0.5, 0.6];
  const lookback = (from: number, years: number): number | undefined => {
    const payoff = { kind: "lookback", right: "call", isFloating: false, strike: 100, times, from } as const;
    const later = rollForward(trade({ payoff } as never), years)!;
    return later.payoff.kind === "lookback" ? later.payoff.extremum : undefined;
  };
  const { spot } = trade().underlying;
  // Nothing is fixed yet.
  expect(lookback(0.4, 0.3)).toBeUndefined();
  expect(lookback(0.4, 0.45)).toBeUndefined();
  expect(lookback(0.4, 0.55)).toBe(spot);
  expect(lookback(0, 0.15)).toBe(spot);
  expect(lookback(0, 0.05)).toBeUndefined();
});

test("a continuous average has fixed the years that have passed, twice as once", () => {
  const fixed = (mean: "arithmetic" | "geometric", ...parts: readonly number[]) => {
    const payoff = {
      kind: "average",
      right: "call",
      strike: 100,
      mean,
      times: "continuous",
      past: { count: 0.5, mean: 80 },
    };
    const later = parts.reduce((one, years) => rollForward(one, years)!, trade({ payoff } as never));
    return later.payoff.kind === "average" ? later.payoff.past : undefined;
  };
  const { spot } = trade().underlying;
  for (const parts of [[0.3], [0.1, 0.2]]) {
    const arithmetic = { count: expect.closeTo(0.8), mean: expect.closeTo((0.5 * 80 + 0.3 * spot) / 0.8, 12) };
    expect(fixed("arithmetic", ...parts)).toEqual(arithmetic);
    const mean = expect.closeTo((80 ** 0.5 * spot ** 0.3) ** (1 / 0.8), 12);
    expect(fixed("geometric", ...parts)).toEqual({ count: expect.closeTo(0.8), mean });
  }
});

test("each of several underlyings keeps the dates of its volatility", () => {
  const { underlying } = trade();
  const assets = ["0.2 + 0.1*t", "0.3"].map((expression) => ({
    underlying,
    volatility: { kind: "local", expression },
  }));
  const later = rollForward(trade({ assets } as never), 0.25)!;
  expect(later.assets!.map(({ volatility }) => volatility)).toMatchObject(assets.map(() => ({ start: 0.25 })));
});
