/** The jump over a dividend: cubics are reproduced, nothing overshoots, straight lines go on beyond the ends. */
import { describe, expect, test } from "vitest";

import { payDividend } from "../../../src/pde/fdm/conditions/dates.ts";

/** Nodes whose distances differ by up to a factor of four, in units of the spot. */
const ascending = [0, 0.1, 0.14, 0.3, 0.38, 0.5, 0.7, 0.72, 0.8, 1.1];
const meshes = [
  { name: "ascending", nodes: ascending },
  { name: "descending", nodes: ascending.toReversed() },
  { name: "in a thin layer", nodes: ascending.map((x) => 1 + 1e-5 * x) },
];

/** V after a jump of cash alone. */
function jumped(nodes: readonly number[], value: (spot: number) => number, cash: number): Float64Array {
  const z = new Float64Array(nodes.length);
  payDividend(
    undefined,
    false,
  )({
    x: Float64Array.from(nodes),
    values: Float64Array.from(nodes, value),
    first: 0,
    u: z,
    nodes: nodes.length,
    keep: 1,
    cash,
    low: -1,
    high: nodes.length,
  });
  return z;
}

describe.each(meshes)("the cubic through four nodes, $name", ({ nodes }) => {
  const lowest = Math.min(...nodes);
  const width = Math.max(...nodes) - lowest;
  const place = (spot: number): number => (spot - lowest) / width;
  /** Steeper everywhere than it bends: no value lies outside those of its neighbours. */
  const cubic = (spot: number): number => 3 + 2 * place(spot) - place(spot) ** 2 + 0.4 * place(spot) ** 3;

  test.each([0.013, 0.05, 0.2])("a monotone cubic comes back, %d of the mesh away", (part) => {
    const cash = part * width;
    jumped(nodes, cubic, cash).forEach((value, i) => {
      const target = nodes[i] - cash;
      if (target >= lowest) expect(value).toBeCloseTo(cubic(target), width < 0.1 ? 9 : 13);
    });
  });

  test("beyond the ends a straight line goes on", () => {
    const line = (spot: number): number => 1 - 2 * place(spot);
    const cash = 0.2 * width;
    jumped(nodes, line, cash).forEach((value, i) =>
      expect(value).toBeCloseTo(line(Math.max(nodes[i] - cash, 0)), width < 0.1 ? 9 : 13),
    );
  });

  test("a step does not overshoot", () => {
    const step = (spot: number): number => (place(spot) > 0.5 ? 1 : 0);
    for (const value of jumped(nodes, step, 0.07 * width)) {
      expect(value).toBeGreaterThanOrEqual(0);
      expect(value).toBeLessThanOrEqual(1);
    }
  });
});

describe("between barriers a straight line of what is alive goes on", () => {
  const line = (spot: number): number => 1 + 3 * spot;
  test.each([
    [2, 7, 0],
    [2, 7, 0.15],
    [0, 6, 0.05],
    [4, 9, 0.3],
    [-1, 5, 0.2],
    [3, 10, 0.1],
  ])("from node %i to node %i, a dividend of %d", (low, high, cash) => {
    const nodes = ascending;
    const u = new Float64Array(nodes.length);
    // What is knocked out is worth something else.
    const values = Float64Array.from(nodes, (spot, i) => (i < low || i > high ? -100 : line(spot)));
    const x = Float64Array.from(nodes);
    payDividend(undefined, true)({ x, values, first: 0, u, nodes: nodes.length, keep: 0.9, cash, low, high });
    u.forEach((value, i) => expect(value).toBeCloseTo(line(Math.max(0.9 * nodes[i] - cash, 0)), 12));
  });
});
