import { describe, expect, test } from "vitest";
import {
  dividendSchedule,
  doubtsAbout,
  type FitState,
  integrate,
  rollCurve,
  rollDividends,
  rollFit,
  rollVolatility,
  shiftedVolatility,
  type Volatility,
} from "../../src/market/index.ts";

describe("rollCurve", () => {
  const f = { times: [0.5, 1, 2], values: [1, 2, 3, 4] };

  test("has the same integrals, from there on", () => {
    for (const start of [0, 0.2, 0.5, 0.7, 1, 1.5, 2, 3])
      for (const length of [0, 0.1, 0.5, 2])
        expect(integrate(rollCurve(f, start), length)).toBeCloseTo(
          integrate(f, start + length) - integrate(f, start),
          14,
        );
  });

  test("forgets a piece that ends there but for rounding", () => {
    expect(rollCurve({ times: [0.1 + 0.2], values: [1, 2] }, 0.3)).toEqual({ times: [], values: [2] });
    expect(rollCurve({ times: [0.3], values: [1, 2] }, 0.1 + 0.2)).toEqual({ times: [], values: [2] });
  });

  test("dividends up to then are paid", () => {
    const dividends = dividendSchedule(0.01, [
      { time: 0.25, cash: 1, proportional: 0 },
      { time: 0.75, cash: 2, proportional: 0.1 },
    ]);
    expect(rollDividends(dividends, 0.2).discrete).toHaveLength(2);
    const left = { yield: 0.01, discrete: [{ time: 0.5, cash: 2, proportional: 0.1 }] };
    expect(rollDividends(dividends, 0.25)).toEqual(left);
    expect(rollDividends(dividends, 0.75).discrete).toEqual([]);
  });

  test("volatilities keep their dates, and shifts add up", () => {
    const local: Volatility = { kind: "local", expression: "0.2 + 0.1*t" };
    expect(rollVolatility(rollVolatility(local, 0.25), 0.5)).toEqual({ ...local, start: 0.75 });
    expect(shiftedVolatility(shiftedVolatility(local, 0.25), -0.5)).toEqual({ ...local, added: -0.25 });
    const deterministic: Volatility = { kind: "deterministic", sigma: { times: [1], values: [0.1, 0.3] } };
    const expected = { kind: "deterministic", sigma: { times: [0.5], values: [0, 0.125] } };
    const moved = shiftedVolatility(rollVolatility(deterministic, 0.5), -0.175) as typeof deterministic;
    expect(moved).toEqual({ ...expected, sigma: { times: [0.5], values: [0, expect.closeTo(0.125, 15)] } });
  });
});

test("a fit seen later says of a date what it says of it today", () => {
  const fit: FitState = {
    place: "market",
    doubts: [],
    first: { time: 0.5, written: "quoted expiry, A" },
    last: { time: 2, written: "quoted expiry, B" },
  };
  for (const years of [0.1, 0.3])
    for (const time of [0.4, 0.49, 0.51, 1, 1.99, 2.01])
      expect(doubtsAbout(rollFit(fit, years), time - years)).toEqual(doubtsAbout(fit, time));
  expect([0.4, 1, 2.01].map((time) => doubtsAbout(fit, time).length)).toEqual([1, 0, 1]);
});
