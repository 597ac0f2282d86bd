import { expect, test } from "vitest";
import { PointReader } from "../../../../src/pde/fdm/read/point-reader.ts";
import { fornbergWeights, stencilStart } from "../../../../src/pde/fdm/read/stencils.ts";

/**
 * Fornberg, *Generation of finite difference formulas on arbitrarily spaced grids*, Math. Comp. 51 (1988), tables 1 and
 * 3.
 */
const published: readonly (readonly [
  x: number,
  nodes: readonly number[],
  derivative: number,
  weights: readonly number[],
])[] = [
  [0, [-1, 0, 1], 1, [-1 / 2, 0, 1 / 2]],
  [0, [-2, -1, 0, 1, 2], 1, [1 / 12, -2 / 3, 0, 2 / 3, -1 / 12]],
  [0, [-1, 0, 1], 2, [1, -2, 1]],
  [0, [-2, -1, 0, 1, 2], 2, [-1 / 12, 4 / 3, -5 / 2, 4 / 3, -1 / 12]],
  [0, [-2, -1, 0, 1, 2], 4, [1, -4, 6, -4, 1]],
  [0, [0, 1, 2], 1, [-3 / 2, 2, -1 / 2]],
  [0, [0, 1, 2, 3, 4], 1, [-25 / 12, 4, -3, 4 / 3, -1 / 4]],
  [0, [0, 1, 2, 3], 2, [2, -5, 4, -1]],
  [0.5, [0, 1], 0, [1 / 2, 1 / 2]],
  [0.5, [-1, 0, 1, 2], 0, [-1 / 16, 9 / 16, 9 / 16, -1 / 16]],
  [0.5, [-1, 0, 1, 2], 1, [1 / 24, -9 / 8, 9 / 8, -1 / 24]],
];

test.each(published)("weights at %d on %j of derivative %d", (x, nodes, derivative, weights) => {
  fornbergWeights(x, nodes, derivative)[derivative].forEach((weight, j) => expect(weight).toBeCloseTo(weights[j], 14));
});

test("on any nodes, exact for polynomials of one degree less than there are nodes", () => {
  const nodes = [0.1, 0.17, 0.4, 0.46, 0.81, 1.3];
  for (const x of [0.1, 0.3, 0.81, 1.7]) {
    const weights = fornbergWeights(x, nodes, 3);
    for (let degree = 0; degree < nodes.length; degree++)
      for (let k = 0; k <= 3; k++) {
        let factor = 1;
        for (let m = 0; m < k; m++) factor *= degree - m;
        const exact = degree >= k ? factor * x ** (degree - k) : 0;
        const found = weights[k].reduce((sum, weight, j) => sum + weight * nodes[j] ** degree, 0);
        expect(found).toBeCloseTo(exact, 9);
      }
  }
});

test.each([2, 4] as const)("readings of order %d, in the middle and at the ends", (order) => {
  for (const [from, to] of [
    [0, 0.05],
    [0.4, 0.6],
    [0.95, 1],
  ]) {
    const worst = [21, 41, 81].map((count) => {
      // Unequal steps: the image of an equidistant mesh under a smooth map.
      const nodes = Float64Array.from({ length: count }, (_, i) => {
        const xi = i / (count - 1);
        return xi + 0.1 * Math.sin(Math.PI * xi);
      });
      const values = nodes.map(Math.exp);
      const errors = [0, 0, 0];
      const reader = new PointReader(["x"], [], order);
      for (let x = from; x <= to; x += (to - from) / 400) {
        reader.read([x], { nodes: [nodes], values, start: 0 }, [], { relative: 0, absolute: 0 });
        for (const k of [0, 1, 2]) errors[k] = Math.max(errors[k], Math.abs(reader.found[k] - Math.exp(x)));
      }
      return errors;
    });
    for (const k of [0, 1, 2]) {
      const observed = Math.log2(worst[0][k] / worst[2][k]) / 2;
      console.log(
        `order ${order}, derivative ${k}, x in ${from} … ${to}: ${worst.map((e) => e[k].toExponential(1)).join(" ")}, ${observed.toFixed(2)}`,
      );
      expect(observed).toBeGreaterThan(order - 0.15);
    }
  }
});

test("stencils have the point in their middle, as far as the ends allow", () => {
  const nodes = Float64Array.from({ length: 11 }, (_, i) => i);
  expect(stencilStart(nodes, 5.4, 4)).toBe(4);
  expect(stencilStart(nodes, 5.4, 5)).toBe(3);
  expect(stencilStart(nodes, 5.6, 5)).toBe(4);
  expect(stencilStart(nodes, 0, 4)).toBe(0);
  expect(stencilStart(nodes, 10, 6)).toBe(5);
});
