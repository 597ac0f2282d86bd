import { describe, expect, it } from "vitest";
import { Random } from "../../../tools/properties/random.ts";
import { JointInterpolation } from "../../../src/pricing/scenarios/interpolation.ts";
import { ownSpots, spotGrid } from "../../../src/pricing/scenarios/spot-grid.ts";

/** Random moves of some inputs under many scenarios. */
const randomMoves = (random: Random, ranges: readonly number[], scenarios: number): readonly Float64Array[] =>
  ranges.map((range) => Float64Array.from({ length: scenarios }, () => random.uniform(-0.4, 0.6) * range));

function interpolate(moves: readonly Float64Array[], level: number, f: (at: readonly number[], k: number) => number) {
  const interpolation = new JointInterpolation(moves, level);
  const { nodes } = interpolation;
  const count = moves[0].length;
  const columns = new Float64Array(count * nodes.length);
  for (let k = 0; k < count; k++) nodes.forEach((at, node) => (columns[k * nodes.length + node] = f(at, k)));
  const read = interpolation.read(columns, new Float64Array(nodes.length).fill(1e-14), ownSpots(count));
  return { nodes: nodes.length, ...read };
}

describe("values under joint moves, interpolated from a few", () => {
  it.each([1, 2, 3])("reproduces what its grids do: sums of polynomials, with %d inputs", (inputs) => {
    const random = new Random(inputs);
    const ranges = Array.from({ length: inputs }, () => random.uniform(0, 0.2));
    const moves = randomMoves(random, ranges, 40);
    // Level 3 has degree 8 in one input, and x^i·y^j for i ≤ 4 and j ≤ 2.
    const f = (at: readonly number[], k: number): number =>
      k + at.reduce((sum, x) => sum + (5 * x) ** 7, 0) + (at[0] * 9) ** 4 * (1 + (at[1] ?? 0) ** 2);
    const { values } = interpolate(moves, 3, f);
    for (let k = 0; k < 40; k++)
      expect(values[k]).toBeCloseTo(
        f(
          moves.map((input) => input[k]),
          k,
        ),
        12,
      );
  });

  it("takes no nodes for an input that every scenario moves by the same", () => {
    const moves = randomMoves(new Random(4), [0.1, 0], 20);
    moves[1].fill(0.02);
    const { nodes, values } = interpolate(moves, 3, ([x, y]) => Math.exp(x) + y);
    expect(nodes).toBe(9);
    for (let k = 0; k < 20; k++) expect(values[k]).toBeCloseTo(Math.exp(moves[0][k]) + 0.02, 9);
  });

  it("covers its error for functions as smooth as values, with the kink of early exercise", () => {
    const random = new Random(5);
    let [covered, all] = [0, 0];
    for (let n = 0; n < 60; n++) {
      const moves = randomMoves(random, [random.uniform(0, 0.2), random.uniform(0, 0.05)], 100);
      const [a, b, c, d] = [
        random.uniform(0, 4),
        random.uniform(0, 10),
        random.uniform(-0.05, 0.05),
        random.uniform(0, 300),
      ];
      const f = ([x, y]: readonly number[], k: number): number =>
        10 * Math.exp(a * x) * Math.cos(b * y) + d * Math.max(x + y - c + 0.001 * (k - 50), 0) ** 2;
      for (const level of [2, 3, 4]) {
        const { values, errors } = interpolate(moves, level, f);
        values.forEach((value, k) => {
          all++;
          const exact = f(
            moves.map((input) => input[k]),
            k,
          );
          if (Math.abs(value - exact) <= errors[k]) covered++;
        });
      }
    }
    expect(covered / all).toBeGreaterThan(0.98);
  });

  it("covers its error for digitals where volatilities move by multiples of themselves, none negative", () => {
    const random = new Random(6);
    let [covered, used] = [0, 0];
    for (let n = 0; n < 100; n++) {
      const moves = [0.15, 0.02].map((size) => Float64Array.from({ length: 100 }, () => size * random.normal()));
      const [own, distance] = [random.uniform(0.1, 0.4), random.uniform(-0.3, 0.3)];
      // A logistic function in the place of the normal one.
      const f = ([volatility, rate]: readonly number[], k: number): number =>
        10 / (1 + Math.exp((-1.7 * (distance + rate + 6e-4 * (k - 50))) / Math.max(own + volatility, 1e-6)));
      const { values, missed } = interpolate(moves, 2, f);
      values.forEach((value, k) => {
        expect(value).toBeGreaterThanOrEqual(0);
        if (missed[k] > 0.3) return;
        used++;
        const exact = f(
          moves.map((input) => input[k]),
          k,
        );
        if (Math.abs(value - exact) <= missed[k]) covered++;
      });
    }
    expect(used).toBeGreaterThan(500);
    expect(covered / used).toBeGreaterThan(0.98);
  });

  it("tells what values on a grid of spots may be off by, on both sides of a jump too", () => {
    const random = new Random(7);
    for (let n = 0; n < 50; n++) {
      const given = Float64Array.from({ length: 300 }, () => random.uniform(-0.1, 0.1));
      const [level, size, slope] = [random.uniform(-0.09, 0.09), random.normal(), random.normal()];
      const f = (move: number): number => 2 + (move > level ? size : 0) + slope * Math.exp(move);
      const grid = spotGrid(given)!;
      // One node, at which nothing but the spot moves.
      const interpolation = new JointInterpolation([new Float64Array(given.length)], 1);
      const { values, missed } = interpolation.read(grid.moves.map(f), new Float64Array(1), grid);
      given.forEach((move, k) => expect(Math.abs(values[k] - f(move))).toBeLessThanOrEqual(missed[k] + 1e-12));
      const far = missed.filter((_, k) => Math.abs(given[k] - level) > 0.02);
      expect(far.reduce((a, b) => Math.max(a, b))).toBeLessThan(1e-6);
    }
  });
});
