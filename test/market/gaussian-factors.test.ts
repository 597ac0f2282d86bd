/** What a move of the volatility adds to two Gaussian factors. */
import { expect, test } from "vitest";
import { sigmasOf } from "../../src/market/index.ts";

test("the volatility of both together moves by what is added, in the proportion of the factors", () => {
  const given = { kind: "gaussianFactors", alpha: [0.2, 5], sigma: [0.3, 0.5], rho: -0.4 } as const;
  const total = ([a, b]: readonly number[]): number => Math.sqrt(a * a + 2 * given.rho * a * b + b * b);
  const moved = sigmasOf({ ...given, added: 0.02 });
  expect(total(moved) - total(given.sigma)).toBeCloseTo(0.02, 14);
  expect(moved[0] / moved[1]).toBeCloseTo(0.3 / 0.5, 14);
  expect(sigmasOf({ ...given, added: -1 })).toEqual([0, 0]);
  expect(sigmasOf({ ...given, sigma: [0, 0], added: 0.1 })).toEqual([0.1, 0]);
});
