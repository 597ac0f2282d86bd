/** Early exercise just before a dividend: the kink that it gives the value lies between nodes. */
import { describe, expect, it } from "vitest";
import { createCpuDevice } from "../../src/device/cpu/index.ts";
import {
  grids,
  instance,
  BatchSolver,
  type OneFactorProblem,
  pointValue,
  type Resolution,
} from "../../src/pde/fdm/index.ts";
import { constant } from "../../src/market/index.ts";
import { vanillaPayoff } from "../../src/market/products/index.ts";
import { Random } from "../../tools/properties/random.ts";

/** A call that is exercised just before the dividend, if at all, for its yield is small. */
function drawn(random: Random): OneFactorProblem {
  const expiry = random.logUniform(0.05, 1);
  const sigma = random.uniform(0.15, 0.5);
  const deviation = sigma * Math.sqrt(expiry);
  const part = random.uniform(0.2, 0.8) * deviation;
  return {
    spots: [100],
    expiry,
    payoff: vanillaPayoff("call", 100 * Math.exp(deviation * random.uniform(-1, 0.2))),
    american: true,
    rates: constant(random.uniform(0, 0.05)),
    dividendYield: 0,
    dividends: [{ time: expiry * random.uniform(0.2, 0.9), cash: 0, proportional: part }],
    diffusion: { kind: "deterministic", sigma: constant(sigma) },
  };
}

async function extrapolated(problems: readonly OneFactorProblem[], resolution: Resolution): Promise<number[]> {
  using device = createCpuDevice({ threads: 1 });
  using solver = new BatchSolver(device, "f64");
  const pairs = problems.map((problem) => grids(problem, resolution));
  const solved = await solver.solve(pairs.flatMap(([fine, coarse]) => [instance(fine), instance(coarse)]));
  return pairs.map(([fine, coarse], i) => {
    const [a, b] = [pointValue(fine, solved[2 * i], 1e-13), pointValue(coarse, solved[2 * i + 1], 1e-13)];
    return a.value + (a.value - b.value) / 3;
  });
}

describe("early exercise just before a dividend", () => {
  it("leaves what extrapolation in space removes", async () => {
    const random = new Random(5);
    const problems = Array.from({ length: 40 }, () => drawn(random));
    const steps = 72; // the same of both, so that errors in time cancel
    const exact = await extrapolated(problems, { nodes: 1793, steps });
    const values = await extrapolated(problems, { nodes: 113, steps });
    const errors = values.map((value, i) => Math.abs(value - exact[i])).toSorted((a, b) => a - b);
    // With the mere maximum of both values: 1.6e-4, 1.2e-3.
    expect(errors[20]).toBeLessThan(1e-5);
    expect(errors[39]).toBeLessThan(3e-4);
  });
});
