/** Powers and cosines that are the same on every engine. */
import { expect, test } from "vitest";
import { cosPi, power } from "../../src/base/elementary.ts";

test("cos(πx) has the zeros, signs and values of the cosine", () => {
  expect([0, 0.5, 1, 1.5, 2, -3].map(cosPi)).toEqual([1, 0, -1, 0, 1, -1]);
  expect(cosPi(1 / 3)).toBeCloseTo(0.5, 15);
  expect(cosPi(0.25)).toBeCloseTo(Math.SQRT1_2, 15);
  // The angle of Math.cos is rounded, by an ulp of 7 at most.
  for (let x = -2.2; x < 2.2; x += 0.0137) expect(Math.abs(cosPi(x) - Math.cos(Math.PI * x))).toBeLessThan(2e-15);
});

test("powers, at the edges too", () => {
  expect([power(0, 0), power(0, 0.5), power(0, -0.5), power(1, 7)]).toEqual([1, 0, Infinity, 1]);
  for (const x of [1e-6, 0.3, 7, 1e5])
    for (const y of [-1, -0.25, 0.5, 2.5]) expect(Math.abs(power(x, y) / x ** y - 1)).toBeLessThan(2e-14);
});
