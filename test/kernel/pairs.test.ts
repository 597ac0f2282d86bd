/** Emulated doubles on the host: what a buffer of them keeps of an f64. */
import { expect, test } from "vitest";
import { fromPairs, pairOf, toPairs } from "../../src/kernel/index.ts";

const back = (...values: number[]): number[] => [...fromPairs(toPairs(values))];

test("numbers of 48 bits come back as they were", () => {
  const values = [0, 1, -1.5, 2 ** 47 + 1, -(2 ** 48 - 1), 0.1 - 2 ** -60, 2 ** -100, 3.4028234663852886e38];
  expect(back(...values)).toEqual(back(...back(...values)));
  for (const value of [0, 1, -1.5, 2 ** 47 + 1, -(2 ** 48 - 1), 2 ** -100, 3.4028234663852886e38])
    expect(back(value)).toEqual([value]);
});

test("others are rounded to 2⁻⁴⁹ of them or better", () => {
  for (let i = 1; i < 2000; i++) {
    const value = Math.sin(i) * 10 ** ((i % 40) - 20);
    expect(Math.abs(back(value)[0] / value - 1)).toBeLessThanOrEqual(2 ** -49);
  }
});

test("beyond f32's range they are infinite, or zero", () => {
  expect(back(1e39, -1e300, Infinity, 1e-46, -0)).toEqual([Infinity, -Infinity, Infinity, 0, -0]);
  expect(back(NaN)).toEqual([NaN]);
});

test("a pair is normalised: the second is at most half a unit of the first", () => {
  expect(pairOf(1 + 2 ** -24)).toEqual([1, 2 ** -24]);
  expect(pairOf(1 + 3 * 2 ** -24)).toEqual([1 + 2 ** -22, -(2 ** -24)]);
  expect(pairOf(Infinity)).toEqual([Infinity, 0]);
});
