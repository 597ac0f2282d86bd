/**
 * No value of a solution is a denormal number, which costs a CPU many times what others do
 * (`solver/zero-value-guard.ts`).
 */
import { expect, it } from "vitest";
import { openDevice } from "../../../src/device/index.ts";
import { fineGrid, instance, BatchSolver, type OneFactorProblem } from "../../../src/pde/fdm/index.ts";
import { constant } from "../../../src/market/index.ts";
import { vanillaPayoff } from "../../../src/market/products/index.ts";

const barrier = { side: "up", level: 130, rebate: 0, rebateAt: "hit", open: false } as const;

// Forty standard deviations from the strike: without the guard there would be zeros, and nodes before them denormal
// numbers.
it.each<[string, Partial<OneFactorProblem>]>([
  ["American", { american: true }],
  ["monitored on dates", { barriers: [{ ...barrier, from: 0, to: 1, times: [1 / 365, 2 / 365] }] }],
])("far out of the money f32 has no denormal numbers: %s", async (_name, features) => {
  const problem: OneFactorProblem = {
    spots: [100, 105, 110, 115, 120, 150, 200, 230],
    expiry: 4 / 365,
    payoff: vanillaPayoff("put", 100),
    american: false,
    rates: constant(0.05),
    dividendYield: 0,
    dividends: [],
    diffusion: { kind: "deterministic", sigma: constant(0.2) },
    ...features,
  };
  using device = await openDevice({ backend: "cpu", precision: "f32", threads: 1 });
  using solver = new BatchSolver(device, "f32");
  const [values] = await solver.solve([instance(fineGrid(problem, { nodes: 201, steps: 24 }))]);
  const column = new Float64Array(problem.spots.length - 1);
  values.spots(column);
  const leastNormal = 2 ** -126;
  for (const value of column) expect(value / 100).toBeGreaterThan(leastNormal);
  expect(column.at(-1)! / 100).toBeLessThan(1e-29);
});
