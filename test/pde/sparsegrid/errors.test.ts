/** What is wrong is said with its place and its remedy. */
import { afterAll, describe, expect, test } from "vitest";
import { createCpuDevice } from "../../../src/device/cpu/index.ts";
import { combinationGrids, solveOnSparseGrid } from "../../../src/pde/sparsegrid/index.ts";

const device = createCpuDevice({ threads: 1 });
afterAll(() => device[Symbol.dispose]());

const good = {
  axes: { S: { from: 0, to: 200, points: [100] }, v: { from: 0, to: 1 } },
  equation: { SS: "0.02*S^2", vv: 0.1, S: "0.03*S", V: -0.03 },
  terminal: "max(S-100,0)",
  expiry: 1,
  level: 1,
  steps: 4,
};
const solved = async (change: object): Promise<unknown> =>
  solveOnSparseGrid({ ...good, ...change } as never, { device });
const { S, v } = good.axes;

describe("solveOnSparseGrid", () => {
  test.each([
    [{ axes: {} }, "axes: 0 axes, expected one to ten"],
    [{ axes: { S: { ...S, nodes: 65 }, v } }, "axes.S.nodes: grids have 2^level intervals; leave it out"],
    [{ axes: { S: { ...S, points: [100, 120] }, v } }, "axes.S.points: expected at most one"],
    [{ axes: { S: { ...S, points: [300] }, v } }, "axes.S.points[0]: 300 is not inside the axis, 0 to 200"],
    [{ axes: { S: { ...S, initialLevel: -1 }, v } }, "axes.S.initialLevel[0]: got -1"],
    [{ axes: { S: { ...S, coordinate: "log" }, v } }, "axes.S.from: got 0, expected a positive number"],
    [{ axes: { S: { ...S, maxLevel: 1 }, v } }, "axes.S.maxLevel: got 1, expected at least the initial level 2"],
    [{ level: 25 }, "level: got 25, expected a whole number from 0 to 20"],
    [{ levels: 3 }, "levels: unknown; expected one of axes"],
    [{ scheme: { kind: "douglas" } }, 'scheme.kind: "douglas" is for several axes; of one, expected implicit-euler'],
    [{ steps: 5, errorEstimate: true }, "steps: got 5, expected an even number"],
    [{ solver: { method: "jacobi" } }, 'solver.method: got "jacobi", expected "bicgstab" or "cgs"'],
    [{ solver: { tolerance: { relative: 0 } } }, "solver.tolerance.relative: got 0, expected a number between 0 and 1"],
    [{ accuracy: { at: { S: 100, v: 0.5 }, relative: 1e-3 } }, "level: given beside accuracy"],
    [{ level: undefined, accuracy: { at: { S: 100 }, relative: 1e-3 } }, "accuracy.at.v: got nothing"],
    [
      { level: undefined, accuracy: { at: { S: 300, v: 1 }, relative: 1e-3 } },
      "at.S: 300 is outside the axis, 0 to 200",
    ],
    [{ level: undefined, accuracy: { at: { S: 100, v: 1 } } }, "accuracy: got neither, expected { absolute: 1e-4 }"],
    [{ conditions: [{ kind: "jump", at: [0.5], to: "S" }] }, "conditions[0]: a jump, which sparse grids do not have"],
    [{ axes: { S: { ...S, initialLevel: 16 }, v: { ...v, initialLevel: 16 } } }, "take a smaller level"],
  ])("%j", async (change, message) => {
    await expect(solved(change)).rejects.toThrow(message);
  });

  test.each([
    [{ equation: { ...good.equation, S: "log(S)*S" } }, "equation.S: "],
    [{ equation: { SS: -1 } }, "equation: SS = -1"],
    [{ equation: { SS: 1, vv: 1, Sv: 3 } }, "positive semi-definite"],
    [{ terminal: "1/S", averaging: false }, "terminal: Infinity at S = 0"],
    [{ boundaries: { S: { low: { kind: "dirichlet", value: "log(v)" } } } }, "boundaries.S.low.value: "],
    [{ conditions: [{ kind: "exercise", payoff: "1/S" }] }, "conditions[0].payoff: "],
    [
      { solver: { maxIterations: 1, tolerance: { relative: 1e-12 } }, steps: 2, level: 6 },
      "solver: bicgstab did not reach 1e-12",
    ],
  ])("%j is an entry's error", async (change, message) => {
    const { entries } = (await solved(change)) as Awaited<ReturnType<typeof solveOnSparseGrid>>;
    expect(entries[0].error?.message).toContain(message);
    expect(() => entries[0].at({ S: 100, v: 0.5 })).toThrow(message);
  });

  test("what is read", async () => {
    const { entries } = (await solved({})) as Awaited<ReturnType<typeof solveOnSparseGrid>>;
    const [entry] = entries as unknown as {
      at: (...args: unknown[]) => unknown;
      on: (...args: unknown[]) => unknown;
    }[];
    expect(() => entry.at({ S: 100, v: 0.5 }, { order: 3 })).toThrow("order: got 3, expected 2 or 4");
    expect(() => entry.on({ S: [100, 110] })).toThrow("on.v: got nothing, expected a number or a list of numbers");
    expect(() => entry.on({ S: [100], v: 0.5, r: 1 })).toThrow("on.r: unknown; expected one of S, v");
  });

  test("combinations", () => {
    const grids = (settings: unknown) => () => combinationGrids(settings as never);
    expect(grids(undefined)).toThrow("combinationGrids: got nothing, expected an object with level and initialLevel");
    expect(grids({ axes: 2, initial: 1, level: 1 })).toThrow("initial: unknown; expected one of level, initialLevel");
    expect(grids({ axes: 2, level: 1 })).toThrow("initialLevel: missing; expected a level, or a list of them");
    expect(grids({ axes: -2, initialLevel: 1, level: 1 })).toThrow(
      "axes: got -2, expected a whole number of at least 1",
    );
    expect(grids({ axes: 2, initialLevel: 1, level: 1, extrapolate: "space" })).toThrow('extrapolate: got "space"');
  });

  test("points outside", async () => {
    const { entries } = (await solved({})) as Awaited<ReturnType<typeof solveOnSparseGrid>>;
    const at = (point: object) => () => entries[0].at(point as never);
    expect(at({ S: 100 })).toThrow("at.v: got nothing, expected a number");
    expect(at({ S: 300, v: 1 })).toThrow("at.S: 300 is outside the axis, 0 to 200");
    // The ends are on the axes.
    for (const end of [0, 200]) expect(at({ S: end, v: 1 })).not.toThrow();
    const line = entries[0].on({ S: [80, 100], v: 0.5 });
    expect(Array.from(line)).toEqual([80, 100].map((x) => entries[0].at({ S: x, v: 0.5 }).value));
  });

  test("a signal ends the solution", async () => {
    const signal = AbortSignal.abort(new Error("enough"));
    await expect(solveOnSparseGrid(good as never, { device, signal })).rejects.toThrow("enough");
  });
});
