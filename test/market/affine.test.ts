/** A spot with cash dividends as an affine function of a martingale, by what a path of it does at each date. */
import { expect, test } from "vitest";
import { afterDividend, affineSpot, integrate } from "../../src/market/index.ts";

const rates = { times: [0.5], values: [0.02, 0.05] };
const discrete = [
  { time: 0.25, cash: 2, proportional: 0.05 },
  { time: 0.75, cash: 3, proportional: 0 },
  { time: 1.5, cash: 50, proportional: 0 },
];
const spot = affineSpot({ spot: 100, rates, dividends: { yield: 0.01, discrete } }, 1);
const of = ({ scale, cash }: { scale: number; cash: number }, x: number): number => scale * x + cash;

test("today it is the spot, and at the horizon no cash is to come", () => {
  expect(of(spot.at(0), spot.start)).toBeCloseTo(100, 12);
  expect(spot.times).toEqual([0.25, 0.75]);
  expect(spot.at(1).cash).toBe(0);
});

test("a dividend takes its part and its cash from whatever the spot is before it", () => {
  for (const dividend of discrete.slice(0, 2))
    for (const x of [40, 100, 170])
      expect(of(spot.at(dividend.time), x)).toBeCloseTo(afterDividend(of(spot.before(dividend.time), x), dividend), 11);
});

test("between two dates it grows at the rate less the yield", () => {
  for (const [from, to] of [
    [0, 0.25],
    [0.25, 0.75],
    [0.75, 1],
  ]) {
    const growth = Math.exp(integrate(rates, to) - integrate(rates, from) - 0.01 * (to - from));
    for (const x of [40, 170]) expect(of(spot.before(to), x)).toBeCloseTo(growth * of(spot.at(from), x), 11);
  }
});

test("a dividend at the horizon is paid by then, also if rounding says a little later", () => {
  const dividends = { yield: 0, discrete: [{ time: 0.1 + 0.2, cash: 4, proportional: 0.5 }] };
  for (const horizon of [0.3, 0.1 + 0.2, 0.4]) {
    const { times, start } = affineSpot({ spot: 100, rates: { times: [], values: [0] }, dividends }, horizon);
    expect(times).toEqual([0.1 + 0.2]);
    // Half of the spot is left, and of that 4 are paid.
    expect(start).toBeCloseTo(100 - 4 / 0.5, 12);
  }
});
