import { describe, expect, test } from "vitest";
import { calls } from "../../examples/three-factor/model.ts";

const [european, american] = calls.entries;

/** The closed form, with quadrature and Φ of SciPy. */
const exact = [
  { S: 100, y: 0.1, r: 0.04, value: 7.718360531497368 },
  { S: 100, y: -0.2, r: 0.02, value: 15.507843071601144 },
  { S: 90.90909090909091, y: 0.4, r: 0.06, value: 1.8729723929296007 / 1.1 },
];

describe("the example of three factors", () => {
  test.each(exact)("is the closed form at $S, $y, $r", ({ value, ...at }) => {
    // 3e-5 of the price of a barrel.
    expect(Math.abs(european.at(at).value - value)).toBeLessThan(3e-3);
  });

  test("exercises the American call where the yield is high, and only there", () => {
    const { S, y, r } = american.nodes;
    const isExercised = (price: number, yieldToday: number): boolean => {
      const nearest = (nodes: Float64Array, x: number): number =>
        nodes.reduce((best, node, i) => (Math.abs(node - x) < Math.abs(nodes[best] - x) ? i : best), 0);
      const [i, j, k] = [nearest(S, price), nearest(y, yieldToday), nearest(r, 0.04)];
      return american.exerciseRegion![(k * y.length + j) * S.length + i] === 1;
    };
    expect([isExercised(130, 0.6), isExercised(130, 0)]).toEqual([true, false]);
    const { value } = american.at({ S: 130, y: 0.6, r: 0.04 });
    expect(value).toBeCloseTo(30, 6);
    for (const { value: _, ...at } of exact) expect(american.at(at).value).toBeGreaterThan(european.at(at).value);
  });
});
