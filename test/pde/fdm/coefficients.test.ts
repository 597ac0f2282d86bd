/** The rows of several instances are those of each instance by itself, whatever their expiries. */
import { expect, test } from "vitest";

import { coefficientCount, putCoefficients } from "../../../src/pde/fdm/execute/coefficients.ts";
import { flagsOfKept } from "../../../src/pde/fdm/execute/instance.ts";
import { fineGrid, type OneFactorProblem } from "../../../src/pde/fdm/index.ts";
import { constant } from "../../../src/market/index.ts";
import { vanillaPayoff } from "../../../src/market/products/index.ts";

/** What problems have by the length of their life, so that all have the same pattern of steps. */
type Features = (life: number) => Partial<OneFactorProblem>;

function problem(index: number, features: Features): OneFactorProblem {
  const expiry = index < 3 ? 1 : 1.5;
  return {
    spots: [90 + index],
    expiry,
    payoff: vanillaPayoff("put", 100),
    american: true,
    rates: constant(0.02 + 0.01 * index),
    dividendYield: 0.004 * index,
    dividends: [],
    diffusion: { kind: "deterministic", sigma: constant(0.1 + 0.05 * index) },
    ...features(expiry),
  };
}

test.each<[string, Features]>([
  ["American", () => ({})],
  [
    "dividends",
    (life) => ({
      dividends: [
        { time: 0.3 * life, cash: 1.5, proportional: 0.01 },
        { time: 0.8 * life, cash: 2, proportional: 0 },
      ],
    }),
  ],
  ["dates of exercise", (life) => ({ american: false, exerciseTimes: [0.2 * life, 0.45 * life, 0.8 * life] })],
  [
    "a barrier in a window",
    (life) => ({
      american: false,
      barriers: [
        {
          side: "down",
          level: 80,
          from: 0.4 * life,
          to: 0.8 * life,
          times: undefined,
          rebate: 2,
          rebateAt: "hit",
          open: false,
        },
      ],
    }),
  ],
  [
    "dates, and a dividend on one",
    (life) => ({
      american: false,
      exerciseTimes: [0.25 * life, 0.5 * life],
      dividends: [{ time: 0.5 * life, cash: 1, proportional: 0 }],
    }),
  ],
])("%s", (_name, features) => {
  const instances = Array.from({ length: 5 }, (_, i) => fineGrid(problem(i, features), { nodes: 41, steps: 24 })).map(
    (grid) => ({ grid, problem: grid.problem }),
  );
  const [{ grid }] = instances;
  for (const other of instances) expect(other.grid.time.key).toBe(grid.time.key);
  for (const kept of [flagsOfKept(instances), undefined]) {
    const pitch = 8;
    const count = coefficientCount(grid.time, grid.problem, kept);
    const together = new Float64Array(count * pitch);
    putCoefficients(together, pitch, instances, kept);
    instances.forEach((instance, l) => {
      const alone = new Float64Array(count);
      putCoefficients(alone, 1, [instance], kept);
      expect(Array.from(alone, (_, row) => together[row * pitch + l])).toEqual([...alone]);
      // Every row has been put.
      expect(alone[count - 1]).not.toBe(0);
    });
    // Nothing beside the instances' columns.
    for (let row = 0; row < count; row++) expect(together[row * pitch + instances.length]).toBe(0);
  }
});
