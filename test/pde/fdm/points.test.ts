/** Values at many spots, which the device reads, are those that the host reads from the six nodes about each. */
import { describe, expect, it } from "vitest";
import {
  type Grid,
  grids,
  gridsOn,
  inwardFirst,
  isExercisableNow,
  type KnockOut,
  knockedOutBy,
  instance,
  BatchSolver,
  type InstanceValues,
  type OneFactorProblem,
  pointValue,
  type SolutionPart,
  spotValues,
} from "../../../src/pde/fdm/index.ts";
import { functionPayoff } from "../../../src/market/products/index.ts";
import { PlainDevice } from "../../support/plain-device.ts";
import { problems as knockIns } from "./knock-in-cases.ts";
import { american, european, problems } from "./split-cases.ts";

/** In the money and out of it, at strikes and levels and beside them, on some nodes, far out. */
const spots = [100, 60, 75, 79.99, 80, 84, 90, 92, 97.3, 100, 104.999, 105, 105.001, 112, 119.99, 120, 123, 160, 25];

const out = (side: "up" | "down", level: number, parts: Partial<KnockOut> = {}): KnockOut => {
  const monitored = { side, level, from: 0, to: european.expiry, times: undefined };
  return { ...monitored, rebate: 0, rebateAt: "hit", open: false, ...parts };
};
const capped = functionPayoff((spot) => Math.min(Math.max(spot - 90, 0), 15), [90, 105]);

const cases: Readonly<Record<string, OneFactorProblem>> = {
  ...problems,
  ...knockIns,
  "a double knock-out": { ...european, barriers: inwardFirst([out("up", 120, { rebate: 2 }), out("down", 80)]) },
  "American, a double knock-out": { ...american, barriers: inwardFirst([out("up", 120), out("down", 80)]) },
  "American, a barrier monitored later": { ...american, barriers: [out("down", 80, { from: 0.2, rebate: 1 })] },
  "American, kinks where the solution bends": { ...american, payoff: capped },
  "exercised on dates, the first of them today": { ...european, exerciseTimes: [0, 0.5, 1] },
};

const SIZE = { nodes: 113, steps: 24 };
const ROUNDING = 1e-12;

const readAt = async (grid: Grid, reading: SolutionPart) => {
  using solver = new BatchSolver(new PlainDevice(), "f64");
  return (await solver.solve([instance(grid, grid.problem, undefined, reading)]))[0];
};

function valuesOf(grid: Grid, read: InstanceValues): Float64Array {
  const { problem } = grid;
  const column = new Float64Array(problem.spots.length - 1);
  const paid = (spot: number): number => (isExercisableNow(problem, spot) ? problem.payoff.exercised(spot) : -Infinity);
  spotValues(grid, read, Float64Array.from(problem.spots.slice(1), paid), column);
  return column;
}

/** On the same mesh, of a problem that has this spot alone: its window, and the host's polynomial through it. */
async function alone({ problem, mesh, firstExercised, forward }: Grid, spot: number): Promise<number> {
  const [grid] = gridsOn({ ...problem, spots: [spot] }, mesh, SIZE, undefined, firstExercised, forward);
  return pointValue(grid, await readAt(grid, "window"), ROUNDING).value;
}

describe("a solution at many spots", () => {
  it.each(Object.entries(cases))("%s", async (_, one) => {
    const [grid] = grids({ ...one, spots }, SIZE);
    const points = await readAt(grid, "points");
    expect(points.window).toEqual([]);
    const values = valuesOf(grid, points);
    expect(values).toEqual(valuesOf(grid, await readAt(grid, "both")));
    let counted = 0;
    for (const [k, spot] of spots.entries()) {
      if (k === 0 || knockedOutBy(grid.problem, spot) !== undefined) continue;
      const value = values[k - 1] === Infinity ? one.payoff.exercised(spot) : values[k - 1];
      // Both solve in units of their own spot.
      expect(Math.abs(value - (await alone(grid, spot)))).toBeLessThan(1e-11 * 160);
      counted++;
    }
    expect(counted).toBeGreaterThanOrEqual(5);
  });

  it("is the payoff where the mesh was cut off before a spot, and where exercise is optimal", async () => {
    const [grid] = grids({ ...american, spots: [100, 5, 90] }, SIZE);
    const values = valuesOf(grid, await readAt(grid, "points"));
    expect(values[0]).toBe(Infinity);
    const [deep] = gridsOn({ ...grid.problem, spots: [100, 55] }, grid.mesh, SIZE, undefined, grid.firstExercised);
    expect(valuesOf(deep, await readAt(deep, "points"))).toEqual(Float64Array.of(Infinity));
    expect(values[1]).toBeGreaterThan(american.payoff.exercised(90));
  });
});
