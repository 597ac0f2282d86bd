/** Payoffs of one spot against their definitions. */
import { describe, expect, test } from "vitest";
import { digitalPayoff, functionPayoff, lessCash, vanillaPayoff } from "../../../src/market/products/index.ts";

/** (1/(b−a))·∫ₐᵇ f by the midpoint rule: exact but for the cell that the strike is in. */
function mean(f: (spot: number) => number, a: number, b: number): number {
  const cells = 100_000;
  let sum = 0;
  for (let i = 0; i < cells; i++) sum += f(a + ((i + 0.5) * (b - a)) / cells);
  return sum / cells;
}

describe.each([
  ["call", 1],
  ["put", -1],
] as const)("%s", (right, sign) => {
  const spots = [80, 99, 100, 101, 130];
  const intervals = [
    [80, 90],
    [80, 130],
    [99, 103],
    [100, 110],
    [120, 130],
  ] as const;
  const vanilla = vanillaPayoff(right, 100);
  const digital = digitalPayoff(right, 100, 7);

  test("vanilla", () => {
    for (const spot of spots) {
      expect(vanilla.value(spot)).toBe(Math.max(sign * (spot - 100), 0));
      expect(lessCash(vanilla, 3).value(spot)).toBe(vanilla.value(spot) - 3);
      expect(lessCash(vanilla, 3).exercised(spot)).toBe(vanilla.value(spot) - 3);
    }
    const less = lessCash(vanilla, 3);
    for (const [a, b] of intervals) {
      expect(vanilla.average(a, b)).toBeCloseTo(mean(vanilla.value, a, b), 6);
      expect(less.average(a, b)).toBeCloseTo(mean(less.value, a, b), 6);
    }
  });

  test("digital: half at the strike, all of it where it is exercised there", () => {
    expect(spots.map((spot) => digital.value(spot))).toEqual(
      spots.map((spot) => (spot === 100 ? 3.5 : sign * (spot - 100) > 0 ? 7 : 0)),
    );
    expect(digital.exercised(100)).toBe(7);
    expect(digital.jumps).toBe(true);
    // Nobody exercises for cash to be paid, but to be rid of it on the other side.
    expect([digital, digitalPayoff(right, 100, -7)].map(({ exerciseSide }) => exerciseSide)).toEqual([
      right === "call" ? "high" : "low",
      "unknown",
    ]);
    expect(digitalPayoff(right, 100, -7).exercised(100)).toBe(0);
    for (const [a, b] of intervals) expect(digital.average(a, b)).toBeCloseTo(mean(digital.value, a, b), 3);
  });
});

test("a formula jumps where its two sides differ, not where both are large", () => {
  const smooth = functionPayoff((spot) => Math.max(spot - 50, 0) + 1000, [50]);
  const broken = functionPayoff((spot) => (spot > 50 ? 2 : 1), [50]);
  expect([smooth.jumps, broken.jumps]).toEqual([false, true]);
  expect(smooth.average(40, 60)).toBeCloseTo(1002.5, 9);
});

test("a formula is exercised at a jump for its better side, whichever that is", () => {
  for (const [below, above] of [
    [1, 2],
    [2, 1],
  ]) {
    const { exercised } = functionPayoff((spot) => (spot > 50 ? above : spot < 50 ? below : 0), [50]);
    expect([exercised(49), exercised(50), exercised(51)]).toEqual([below, 2, above]);
  }
});

test("a formula is straight if it is a line below its first kink and above its last", () => {
  const [straight, low, high] = [
    functionPayoff((spot) => Math.abs(spot - 50), [50]),
    functionPayoff((spot) => (spot < 50 ? (spot - 50) ** 2 : 0), [50]),
    functionPayoff((spot) => (spot > 50 ? (spot - 50) ** 2 : 0), [50]),
  ].map((payoff) => payoff.straight);
  expect([straight, low, high]).toEqual([true, false, false]);
  // Without a kink nothing says where it could be one.
  expect(functionPayoff((spot) => 2 * spot, []).straight).toBe(false);
});
