/** `values` are those of the solution as asked for: where an extrapolation is, extrapolated; on any number of axes. */
import { afterAll, expect, test } from "vitest";
import { createCpuDevice } from "../../src/device/cpu/index.ts";
import { solve } from "../../src/pde/fdm/index.ts";
import { solveOnSparseGrid } from "../../src/pde/sparsegrid/index.ts";

const device = createCpuDevice({ threads: 1 });
afterAll(() => device[Symbol.dispose]());

const X = { from: -3, to: 3, nodes: 13, points: [0] } as const;
const problem = { equation: { XX: 0.5, V: -0.5 }, terminal: "exp(X)", expiry: 1, steps: 8 } as const;

test.each([undefined, "time", "space", "both"] as const)("full grids, extrapolated in %s", async (extrapolate) => {
  const unextrapolated = { ...problem, axes: { X } };
  const one = { ...unextrapolated, ...(extrapolate && { extrapolate }) };
  const two = { ...one, axes: { X, Y: { from: 0, to: 2, nodes: 15 } }, terminal: "exp(X)*(1 + Y)" };
  const [line] = (await solve(one, { device })).entries;
  const [plane] = (await solve(two, { device })).entries;
  const pairs: (readonly [number, number])[] = [];
  line.nodes.forEach((x, i) => pairs.push([line.values[i], line.at(x).value]));
  const { X: xs, Y: ys } = plane.nodes;
  ys.forEach((y, j) =>
    xs.forEach((x, i) => pairs.push([plane.values[j * xs.length + i], plane.at({ X: x, Y: y }).value])),
  );
  for (const [value, read] of pairs) expect(Math.abs(value - read)).toBeLessThanOrEqual(1e-13 * Math.abs(read));
  if (extrapolate === undefined) return;
  const plain = (await solve(unextrapolated, { device })).entries[0].values;
  expect(Math.abs(line.values[6] - plain[6])).toBeGreaterThan(1e-5);
});

test.each([undefined, "space", "levels"] as const)("sparse grids, extrapolated by %s", async (extrapolate) => {
  const axes = { X: { from: -3, to: 3 }, Y: { from: 0, to: 2 } };
  const { entries } = await solveOnSparseGrid(
    { ...problem, terminal: "exp(X)*(1 + Y)", axes, ...(extrapolate && { extrapolate }) },
    { device },
  );
  const values = entries[0].on({ X: [-1, 0.3, 1], Y: [0.5, 1] });
  const read = [0.5, 1].flatMap((Y) => [-1, 0.3, 1].map((x) => entries[0].at({ X: x, Y }).value));
  expect([...values]).toEqual(read);
});
