/** A time-homogeneous solver factors again only where the matrix is none of the last two. */
import { describe, expect, it } from "vitest";
import { openDevice } from "../../../src/device/index.ts";
import { fineGrid, type Instance, instance, BatchSolver, type OneFactorProblem } from "../../../src/pde/fdm/index.ts";
import { flagsOfKept } from "../../../src/pde/fdm/execute/instance.ts";
import { REFACTOR, SECOND_FACTORS } from "../../../src/pde/fdm/time/time-grid.ts";
import { constant } from "../../../src/market/index.ts";
import { vanillaPayoff } from "../../../src/market/products/index.ts";

/** A Bermudan put by the days between its dates; the last of them is its expiry. */
function bermudan(lengths: readonly number[], features: Partial<OneFactorProblem> = {}): OneFactorProblem {
  let day = 0;
  const times = lengths.map((length) => (day += length) / 365);
  return {
    spots: [100, 90, 110],
    expiry: times[times.length - 1],
    payoff: vanillaPayoff("put", 100),
    american: false,
    exerciseTimes: times.slice(0, -1),
    rates: constant(0.05),
    dividendYield: 0,
    dividends: [],
    diffusion: { kind: "deterministic", sigma: constant(0.2) },
    ...features,
  };
}

const laneOf = (problem: OneFactorProblem): Instance => instance(fineGrid(problem, { nodes: 61, steps: 24 }));
const factored = (flags: Int32Array): number => flags.filter((flag) => (flag & REFACTOR) !== 0).length;

const inTurns = [36, 37, 36, 37, 36, 37, 36, 37, 36, 37];
const ofMonths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const never = [36, 37.5, 36.25, 37.25, 36.5, 37, 36.75, 38, 36.125, 37.125];

const barrier = { side: "up", level: 130, rebate: 0, rebateAt: "hit", open: false } as const;

describe("factorisations", () => {
  it.each([
    ["36 and 37 days in turns", bermudan(inTurns), 2],
    ["months, of 30 and 31 days but for one", bermudan(ofMonths), 3],
    ["never the same number of days", bermudan(never), never.length],
    [
      "monitored on the dates",
      bermudan(inTurns, {
        barriers: [{ ...barrier, from: 0, to: 1, times: bermudan(inTurns).exerciseTimes! }],
      }),
      2,
    ],
  ])("%s", (_name, problem, count) => {
    const made = laneOf(problem);
    expect(factored(made.grid.time.flags)).toBe(problem.exerciseTimes!.length + 1);
    expect(factored(flagsOfKept([made]))).toBe(count);
  });

  it("all where a barrier is monitored between dates, which cuts off other nodes in each segment", () => {
    const made = laneOf(bermudan(inTurns, { barriers: [{ ...barrier, from: 0, to: 0.5, times: undefined }] }));
    expect(flagsOfKept([made])).toEqual(made.grid.time.flags);
  });

  it("leaves flags alone but for what is factored and where", () => {
    const { grid } = laneOf(bermudan(inTurns));
    const ours = REFACTOR | SECOND_FACTORS;
    expect([...flagsOfKept([laneOf(bermudan(inTurns))])].map((flag) => flag & ~ours)).toEqual(
      [...grid.time.flags].map((flag) => flag & ~ours),
    );
  });

  it("with an instance beside it that keeps none: the same bits", async () => {
    const instances = [laneOf(bermudan(inTurns)), laneOf(bermudan(never))];
    expect(instances[1].grid.time.key).toBe(instances[0].grid.time.key);
    expect(instances[1].grid.key).toBe(instances[0].grid.key);
    expect(factored(flagsOfKept(instances))).toBe(10);
    for (const precision of ["f64", "f32"] as const) {
      using device = await openDevice({ backend: "cpu", precision, threads: 1 });
      using solver = new BatchSolver(device, precision);
      const [together] = await solver.solve(instances);
      const [alone] = await solver.solve([instances[0]]);
      const [a, b] = [new Float64Array(2), new Float64Array(2)];
      together.spots(a);
      alone.spots(b);
      expect([...b, ...alone.window]).toEqual([...a, ...together.window]);
      expect(b[0]).toBeGreaterThan(b[1]);
    }
  });
});
