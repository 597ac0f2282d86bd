/** Weights of differences on polynomials, moves within bounds, and copies that derivatives share. */
import { describe, expect, test } from "vitest";
import {
  sensitivityOf,
  sensitivityErrorOf,
  DifferencePlan,
  MOVES,
  limitedMoves,
  movesWithin,
  finiteDifferenceWeights,
} from "../../src/base/differences.ts";

const values = (moves: readonly number[], f: (x: number) => number): number[] => moves.map(f);
const derivative = (moves: readonly number[], order: 1 | 2, f: (x: number) => number): number =>
  sensitivityOf({ name: "", weights: finiteDifferenceWeights(moves, order) }, values(moves, f));

describe("weights", () => {
  test.each(Object.entries(MOVES))("%s: exact for the polynomials through its points", (_, moves) => {
    moves.forEach((_move, power) => {
      expect(derivative(moves, 1, (x) => x ** power)).toBeCloseTo(power === 1 ? 1 : 0, 14);
      if (moves.length > 2) expect(derivative(moves, 2, (x) => x ** power)).toBeCloseTo(power === 2 ? 2 : 0, 14);
    });
  });

  test("of a constant are nothing to the last bit, whatever the moves", () => {
    for (const moves of [MOVES.CENTRAL, MOVES.AROUND, MOVES.FORWARD, MOVES.BESIDE, MOVES.BEYOND, [0.01, -0.0037]])
      for (const order of moves.length > 2 ? ([1, 2] as const) : ([1] as const))
        expect(finiteDifferenceWeights(moves, order).reduce((sum, one) => sum + one, 0)).toBe(0);
  });
});

describe("moves", () => {
  test("go no further than there is room, on either side", () => {
    expect(movesWithin(0.1, { up: 1, down: 0.03 })).toEqual([0.1, -0.03]);
  });

  test.each([
    { room: { up: 1, down: 1 }, by: 0.1, side: 0 },
    { room: { up: 1, down: 0.05 }, by: 0.05, side: 0 },
    { room: { up: 1, down: 0.01 }, by: 0.08, side: 1 },
    { room: { up: 0.01, down: 0.1 }, by: 0.05, side: -1 },
  ] as const)("with room $room: $by, side $side", ({ room, ...expected }) => {
    expect(limitedMoves(0.1, room, { least: 0.02, beside: 0.08, share: 0.5 })).toEqual(expected);
  });
});

describe("a plan", () => {
  test("has one copy for each move of an input, and none for the problem as it is", () => {
    const plan = new DifferencePlan<number>();
    const numbers = plan.addDerivatives(
      1e-3,
      [
        { name: "slope", order: 1, moves: MOVES.CENTRAL },
        { name: "curvature", order: 2, moves: MOVES.AROUND },
      ],
      (by) => 2 + by,
    );
    const forward = plan.addDerivatives(1e-3, [{ name: "forward", order: 1, moves: MOVES.FORWARD }], (by) => 2 + by);
    const { copies, formulas: measures } = plan.movedCopies();
    expect([numbers, forward]).toEqual([[0, 1], [2]]);
    expect(copies).toEqual([2.001, 1.999, 2.001]);
    const found = measures.map((measure) =>
      sensitivityOf(
        measure,
        [2, ...copies].map((x) => x ** 3),
      ),
    );
    // 3x², 6x and 3x² + ½·6x·h, with what h² leaves of the first and the last.
    expect(found[0]).toBeCloseTo(12 + 1e-6, 9);
    expect(found[1]).toBeCloseTo(12, 8);
    expect(found[2]).toBeCloseTo(12.006 + 1e-6, 9);
  });

  test("adds the errors of values by the sizes of their weights", () => {
    expect(sensitivityErrorOf({ name: "", weights: [0, 0.5, -2] }, [7, 1, 3])).toBe(6.5);
  });
});
