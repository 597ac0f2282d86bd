/** The closed forms' noncentral chi-square distribution, against sums from the largest weight both ways. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { noncentralChiSquare } from "../../../src/market/models/cir-options.ts";
import { noncentralChiSquare as summed } from "./noncentral-chi-square.ts";

/** 10 to a power between two others. */
const decades = (min: number, max: number) => fc.double({ min, max, noNaN: true }).map((power) => 10 ** power);

test("the distribution function holds in both tails, from no noncentrality to a large one", () => {
  const places = fc.record({
    freedom: decades(-2, 4),
    noncentrality: fc.oneof(fc.constant(0), decades(-6, 5)),
    // Standard deviations from the mean.
    away: fc.double({ min: -12, max: 30, noNaN: true }),
  });
  fc.assert(
    fc.property(places, ({ freedom, noncentrality, away }) => {
      const centre = freedom + noncentrality;
      const x = Math.max(centre + away * Math.sqrt(2 * (centre + noncentrality)), 1e-3 * centre);
      const { lower, upper } = summed(x, freedom, noncentrality);
      const value = noncentralChiSquare({ x, freedom, noncentrality });
      // The sums take logarithms of what is as large as x and λ.
      const slack = 5e-14 + 1e-15 * (x + centre);
      expect(Math.abs(value - lower)).toBeLessThan(slack);
      expect(Math.abs(1 - value - upper)).toBeLessThan(slack);
    }),
    { numRuns: 300 },
  );
});
