import { describe, expect, test } from "vitest";
import { SpecError } from "../../src/base/errors.ts";
import {
  afterDividend,
  constant,
  discountFactor,
  dividendSchedule,
  flatCurve,
  fromIntegral,
  impliedVolatility,
  integrate,
  integratedVariance,
  shifted,
  termStructure,
  valueAt,
  zeroCurve,
} from "../../src/market/index.ts";

describe("piecewise constants", () => {
  const f = { times: [1, 3], values: [2, 5, 7] };

  test("the piece that ends at t holds at t", () => {
    expect([0, 0.5, 1, 1.01, 3, 3.01, 99].map((t) => valueAt(f, t))).toEqual([2, 2, 2, 5, 5, 7, 7]);
  });

  test("the integral adds the pieces, and the last goes on", () => {
    expect([0, 0.5, 1, 2, 3, 5].map((t) => integrate(f, t))).toEqual([0, 1, 2, 7, 12, 26]);
    expect(integrate(f, 2, (value) => value * value)).toBe(4 + 25);
  });

  test("differences of an integral give the function back", () => {
    expect(fromIntegral([1, 3, 5], [2, 12, 26])).toEqual(f);
    expect(fromIntegral([4], [8])).toEqual(constant(2));
    expect(() => fromIntegral([1, 1], [1, 2])).toThrow(SpecError);
    expect(() => fromIntegral([], [])).toThrow(SpecError);
  });

  test("a shift moves every piece", () => {
    expect(shifted(f, -1)).toEqual({ times: [1, 3], values: [1, 4, 6] });
  });
});

describe("rates", () => {
  test("one rate discounts by exp(−r·t), negative or not", () => {
    expect(discountFactor(flatCurve(0.03), 2)).toBe(Math.exp(-0.06));
    expect(discountFactor(flatCurve(-0.01), 2)).toBe(Math.exp(0.02));
    expect(discountFactor(flatCurve(0.03), 0)).toBe(1);
    expect(valueAt(flatCurve(0.03), 0)).toBe(0.03);
  });

  // The zero rates of the DAX example: 13 to 703 days.
  const days = [13, 41, 75, 165, 256, 345, 524, 703];
  const zeros = [0.0357, 0.0349, 0.0341, 0.0355, 0.0359, 0.0368, 0.0386, 0.0401];
  const curve = zeroCurve(days.map((day, i) => ({ time: day / 365, zero: zeros[i] })));

  const zeroRate = (t: number): number => integrate(curve, t) / t;

  test("zero rates come back at their nodes", () => {
    // A dozen additions of numbers of order 0.1: rounding of a few 1e-17.
    for (const [i, day] of days.entries()) expect(zeroRate(day / 365)).toBeCloseTo(zeros[i], 15);
  });

  test("flat before the first node, linear in z·t between, the last forward rate beyond", () => {
    expect(zeroRate(5 / 365)).toBeCloseTo(0.0357, 15);
    const half = (zeros[3] * days[3] + zeros[4] * days[4]) / 2;
    const between = (days[3] + days[4]) / 2;
    expect(zeroRate(between / 365)).toBeCloseTo(half / between, 15);
    const last = (zeros[7] * days[7] - zeros[6] * days[6]) / (days[7] - days[6]);
    expect(valueAt(curve, 5)).toBeCloseTo(last, 14);
  });
});

describe("volatility", () => {
  test("total variance is met at the nodes and linear between", () => {
    const volatility = termStructure([
      { time: 0.5, volatility: 0.2 },
      { time: 2, volatility: 0.25 },
    ]);
    if (volatility.kind !== "deterministic") throw new Error("expected a deterministic volatility");
    const { sigma } = volatility;
    expect(impliedVolatility(sigma, 0.5)).toBeCloseTo(0.2, 15);
    expect(impliedVolatility(sigma, 2)).toBeCloseTo(0.25, 15);
    expect(integratedVariance(sigma, 1.25)).toBeCloseTo((0.02 + 0.125) / 2, 15);
    expect(sigma.values[1]).toBeCloseTo(Math.sqrt((0.125 - 0.02) / 1.5), 15);
    expect(impliedVolatility(sigma, 0)).toBeCloseTo(0.2, 15);
  });

  test("total variance that falls is calendar arbitrage; level to rounding is not", () => {
    const falling = [
      { time: 1, volatility: 0.3 },
      { time: 2, volatility: 0.2 },
    ];
    expect(() => termStructure(falling)).toThrow(/total variance .* decreases/);
    const level = termStructure([
      { time: 1, volatility: 0.3 },
      { time: 2, volatility: 0.3 / Math.SQRT2 },
    ]);
    expect(level.kind === "deterministic" && level.sigma.values[1]).toBeCloseTo(0, 7);
  });
});

describe("dividends", () => {
  test("are sorted, merged by date, and forgotten once they are past", () => {
    const schedule = dividendSchedule(0.01, [
      { time: 2, cash: 1, proportional: 0 },
      { time: 1, cash: 3, proportional: 0 },
      { time: 2, cash: 0, proportional: 0.02 },
      { time: 0, cash: 9, proportional: 0 },
      { time: -1, cash: 9, proportional: 0 },
    ]);
    expect(schedule).toEqual({
      yield: 0.01,
      discrete: [
        { time: 1, cash: 3, proportional: 0 },
        { time: 2, cash: 1, proportional: 0.02 },
      ],
    });
  });

  test("S falls by S·proportional + cash, and never below zero", () => {
    const dividend = { time: 1, cash: 5, proportional: 0.1 };
    expect(afterDividend(100, dividend)).toBe(85);
    expect(afterDividend(5, dividend)).toBe(0);
  });
});
