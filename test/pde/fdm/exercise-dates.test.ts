import { describe, expect, it } from "vitest";
import { createCpuDevice } from "../../../src/device/cpu/index.ts";
import {
  grids,
  instance,
  BatchSolver,
  type OneFactorProblem,
  pointValue,
  type Resolution,
} from "../../../src/pde/fdm/index.ts";
import { constant } from "../../../src/market/index.ts";
import { vanillaPayoff } from "../../../src/market/products/index.ts";

/**
 * QuantLib 1.29, `FdBlackScholesVanillaEngine`, 1,600 nodes, extrapolated linearly from 800 and 1,600 steps: a put of
 * one year, K = 100, r = 5 %, σ = 20 %, exercised on the days below and at expiry (bench/one-factor.bench.ts makes them
 * again). Good to 1e-4.
 */
const quantLib: readonly (readonly [spot: number, price: number])[] = [
  [90, 11.4027],
  [95, 8.3783],
  [100, 6.0335],
  [105, 4.2614],
  [110, 2.9548],
  [120, 1.3511],
];
const days = [36, 73, 109, 146, 182, 219, 255, 292, 328];

const put = (spot: number, right: "put" | "call" = "put"): OneFactorProblem => ({
  spots: [spot],
  expiry: 1,
  payoff: vanillaPayoff(right, 100),
  american: false,
  exerciseTimes: days.map((day) => day / 365),
  rates: constant(0.05),
  dividendYield: right === "put" ? 0 : 0.08,
  dividends: [],
  diffusion: { kind: "deterministic", sigma: constant(0.2) },
});

/** Extrapolated values. */
async function values(problems: readonly OneFactorProblem[], resolution: Resolution): Promise<number[]> {
  using device = createCpuDevice({ threads: 1 });
  using solver = new BatchSolver(device, "f64");
  const pairs = problems.map((problem) => grids(problem, resolution));
  const solved = await solver.solve(pairs.flatMap(([fine, coarse]) => [instance(fine), instance(coarse)]));
  return pairs.map(([fine, coarse], i) => {
    const [a, b] = [pointValue(fine, solved[2 * i], 1e-13), pointValue(coarse, solved[2 * i + 1], 1e-13)];
    return a.value + (a.value - b.value) / 3;
  });
}

const largest = (a: readonly number[], b: readonly number[]): number =>
  Math.max(...a.map((value, i) => Math.abs(value - b[i])));

describe("exercise on dates", () => {
  it("has QuantLib's prices, within 1e-3 on 37 nodes and 8 steps", async () => {
    const problems = quantLib.map(([spot]) => put(spot));
    const prices = quantLib.map(([, price]) => price);
    expect(largest(await values(problems, { nodes: 37, steps: 8 }), prices)).toBeLessThan(1e-3);
    expect(largest(await values(problems, { nodes: 161, steps: 48 }), prices)).toBeLessThan(1e-4);
  });

  it.each(["put", "call"] as const)("leaves errors of third order in space: %s", async (right) => {
    const problems = quantLib.map(([spot]) => put(spot, right));
    const steps = 96; // the same of all, so that errors in time cancel
    const exact = await values(problems, { nodes: 1281, steps });
    const errors: number[] = [];
    for (const nodes of [57, 113, 225]) errors.push(largest(await values(problems, { nodes, steps }), exact));
    console.log(`${right}: ${errors.map((error) => error.toExponential(1)).join(", ")}`);
    // Over two doublings; what is left depends on where in its cell each date's bend is, which differs from mesh to
    // mesh.
    expect(Math.log2(errors[0] / errors[2]) / 2).toBeGreaterThan(2.5);
    // Without the bend's third moment and the curvature's jump 1.8e-4 were left of the put.
    expect(errors[1]).toBeLessThan(4e-5);
  });

  it("takes few steps between dates at an error in time below 5e-6 of the spot", async () => {
    const problems = quantLib.map(([spot]) => put(spot));
    const exact = await values(problems, { nodes: 225, steps: 384 });
    for (const steps of [8, 16, 24, 48])
      expect(largest(await values(problems, { nodes: 225, steps }), exact)).toBeLessThan(steps < 48 ? 5e-4 : 5e-6);
  });
});
