/** What is extrapolated from two solutions, and whose the copies of a problem are. */
import { expect, test } from "vitest";
import { extrapolatedPoint } from "../../../src/pde/fdm/adaptive/extrapolation.ts";
import { withBumpedEntries } from "../../../src/pde/fdm/read/columns.ts";
import { vanillaPayoff } from "../../../src/market/products/index.ts";

test("an option that may be exercised now is worth that at least, though two solutions say less together", () => {
  const point = (value: number) => ({ value, delta: -1, gamma: 0, exercised: false });
  const of = (american: boolean, exerciseTimes?: readonly number[]) =>
    extrapolatedPoint(
      { spots: [90], expiry: 1, payoff: vanillaPayoff("put", 100), american, exerciseTimes } as never,
      0,
      point(10.001),
      point(10.01),
    ).value;
  expect(of(false)).toBeLessThan(10);
  expect(of(false, [0.5])).toBeLessThan(10);
  expect(of(true)).toBe(10);
  expect(of(false, [0])).toBe(10);
});

test("each moved copy of an entry is that entry's", () => {
  const parameters = { K: [90, 100, 110], r: [0.01, 0.02, 0.03], sigma: [0.2, 0.3, 0.4] };
  const { problem, ownerOf } = withBumpedEntries({ parameters, sensitivities: ["r", "sigma"] } as never);
  const moved = (problem as unknown as { readonly parameters: { readonly K: readonly number[] } }).parameters.K;
  // Three of the user's own, and two copies of each for either name. Strikes tell them apart.
  expect(moved).toHaveLength(3 + 3 * 2 * 2);
  expect(moved.map((_, index) => parameters.K[ownerOf(index)])).toEqual(moved);
});
