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
