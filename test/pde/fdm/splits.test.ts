/**
 * The splits of the solver, one item, one subgroup or one workgroup an option, are the same elimination: they agree to
 * rounding.
 */
import fc from "fast-check";
import { afterAll, describe, expect, it, vi } from "vitest";
import type { Device } from "../../../src/device/index.ts";
import { grids, instance, BatchSolver, type OneFactorProblem } from "../../../src/pde/fdm/index.ts";
import { mayShare, preferredSplits, teamCapacity, type TeamSplit } from "../../../src/pde/fdm/execute/split.ts";
import type { Precision } from "../../../src/kernel/index.ts";
import { constant } from "../../../src/market/index.ts";
import { vanillaPayoff } from "../../../src/market/products/index.ts";
import { disposeAll, openTestDevices } from "../../support/devices.ts";
import { counted, dealt, everything } from "../../support/extent.ts";
import { InterpreterDevice } from "../../support/interpreter-device.ts";
import { isSlow } from "../../../tools/device-report/check.ts";
import { problems as knockIns } from "./knock-in-cases.ts";
import {
  allowed,
  american,
  compared,
  difference,
  differenceBeside,
  differenceOfCopies,
  differenceOfEnds,
  european,
  everyEnds,
  isShrinking,
  isSolvedBy,
  movable,
  problems,
  strangers,
  THREE_LANES,
  TOLERANCE,
  TWO_LANES,
} from "./split-cases.ts";
import {
  covering,
  everyRun,
  featuresOf,
  paired,
  pairedVariants,
  type Run,
  shownBy,
  variantOf,
  variants,
} from "./split-covering.ts";

const TEAMS = ["workgroup", "subgroup", "half-subgroup"] as const satisfies readonly TeamSplit[];

const devices = await openTestDevices();
afterAll(() => disposeAll(devices));

/**
 * Those that show as much as all of them: every one of these on one thread; a part of them on the other devices, where
 * a kernel takes a second to compile, or is the same machine code as on the device before; and in one precision where
 * it takes that second: CUDA's f64, WebGPU's f32. One thread has all problems in `npm run test:all`.
 */
function runsOn(device: Device): readonly Run[] {
  const precisions = isSlow({ device }) ? device.precisions.slice(0, 1) : device.precisions;
  const all = everyRun(problems, precisions);
  const isFirst = device === devices[0].device;
  if (isFirst && everything) return all;
  const chosen = covering(all, movableRuns(precisions));
  // The CPU's three threads and the GPUs have a part each.
  const hand = devices.findIndex((one) => one.device === device) - 1;
  return isFirst ? chosen : dealt(chosen, hand, 24);
}

/** "barriers on any nodes" solves these on every device. */
const movableRuns = (precisions: readonly Precision[]): Run[] => everyRun(movable, precisions);

describe.each(devices)("the splits on $label", ({ device, missing }) => {
  if (device === undefined) return it.skip(missing);
  // One capacity a split, for the fine mesh and the coarse one: half of the kernels. The others' turn comes below.
  const size = { nodes: 93, steps: 24 };
  it.for(runsOn(device))("$precision, $name", async ({ name, problem, precision }, { skip }) => {
    const splits = TEAMS.filter((split) => isSolvedBy(split, device, precision, problem, size));
    if (splits.length === 0) return skip("no split but one item an option");
    for (const split of splits) {
      const worst = await difference(device, precision, problem, size, split);
      console.log(`${device.name} ${precision} ${split} ${name}: ${worst.toExponential(1)}`);
      expect(worst).toBeLessThan(TOLERANCE[precision]);
    }
  });
});

describe("what the problems show", () => {
  const shown = (runs: readonly Run[]): string[] => [...new Set(runs.flatMap(shownBy))].sort();

  it("is every variant of the solver", () => {
    const all = Object.values(problems).map((problem) => variantOf(featuresOf(problem)));
    expect(new Set(all)).toEqual(new Set(variants));
    expect(variants).toHaveLength(29);
    expect(pairedVariants).toHaveLength(10);
  });

  it.each([[["f32"]], [["f64", "f32"]]] as const)("is shown by those that stand for all, in %s", (precisions) => {
    const all = everyRun(problems, precisions);
    const others = movableRuns(precisions);
    const chosen = covering(all, others);
    expect(shown([...chosen, ...others])).toEqual(expect.arrayContaining(shown(all)));
    expect(shown([...chosen, ...others])).toEqual(expect.arrayContaining([...variants]));
    expect(shown(chosen)).toEqual(expect.arrayContaining(pairedVariants.map(paired)));
    expect(chosen.length).toBeLessThan(0.8 * Object.keys(problems).length);
  });
});

describe("a step between two dates of exercise", () => {
  // So few take Alexander's two stages.
  const names = ["dates: put", "dates: stepped rates", "dates: call, dividends, descending mesh"];
  const own = devices.filter(({ device }) => device !== undefined && device.backend !== "webgpu");
  it.each(names)("%s", async (name) => {
    for (const { device } of dealt(own, names.indexOf(name), own.length)) {
      if (device === undefined) continue;
      for (const split of TEAMS) {
        if (!isSolvedBy(split, device, "f64", problems[name], { nodes: 57, steps: 8 })) continue;
        const worst = await difference(device, "f64", problems[name], { nodes: 57, steps: 8 }, split);
        expect(worst).toBeLessThan(TOLERANCE.f64);
      }
    }
  });
});

describe("two splits on every size of mesh", () => {
  it.each(dealt([17, 33, 129, 161, 193, 257, 321, 513], 1, 4))("%i nodes", async (nodes) => {
    const [{ device }] = devices;
    for (const problem of [european, american, problems["American, dividends, σ(S)"]]) {
      const comparison = await compared(device as Device, "f64", problem, { nodes, steps: 24 });
      // After a dividend less of it is left, but some.
      const isCoarse = nodes < 65 && problem.american;
      expect(comparison.difference).toBeLessThan(isCoarse ? allowed("f64", comparison) : TOLERANCE.f64);
    }
  });

  // Six, eleven and seventeen rows an item, the last two in parts; as many nodes as there is room for, and as few.
  it.each(dealt([17, 93, 161, 257, 269], 0, 4))("%i nodes, two a subgroup", async (nodes) => {
    const device = new InterpreterDevice({ subgroupSize: 32 });
    for (const problem of [european, american]) {
      const both = { ...THREE_LANES, grids: 2 };
      const comparison = await compared(device, "f64", problem, { nodes, steps: 8 }, "half-subgroup", both);
      // After a dividend less of it is left, but some.
      const isCoarse = nodes < 65 && problem.american;
      expect(comparison.difference).toBeLessThan(isCoarse ? allowed("f64", comparison) : TOLERANCE.f64);
    }
  });

  // Six, nine and seventeen rows an item, the last in three parts.
  it.for([105, 257, 513])("%i nodes, subgroups", async (nodes, { skip }) => {
    const { device, missing } = devices[3];
    if (device === undefined) return skip(missing);
    if (teamCapacity(device, "f64", nodes, "subgroup") === undefined) return skip("no subgroups of 32 here");
    const problem = problems["dates: stepped rates, dividends, σ(S)"];
    expect(await difference(device, "f64", problem, { nodes, steps: 24 }, "subgroup")).toBeLessThan(TOLERANCE.f64);
  });
});

describe("barriers on any nodes", () => {
  const small = { nodes: 33, steps: 8 };
  const everySplit = (["f64", "f32"] as const).flatMap((precision) =>
    (["subgroup", "workgroup"] as const).map((split) => ({ precision, split })),
  );

  it.each(Object.entries(movable))("%s, pairs of nodes", async (name, problem) => {
    const device = devices[0].device as Device;
    const ends = everyEnds(33, everything ? Infinity : 200);
    for (const precision of dealt(["f64", "f32"] as const, Object.keys(movable).indexOf(name), 2)) {
      const worst = await differenceOfEnds(device, precision, problem, small, ends, "workgroup");
      expect(worst).toBeLessThan(TOLERANCE[precision]);
    }
  });

  it.each(Object.entries(movable))("%s, in the interpreter", async (name, problem) => {
    const device = new InterpreterDevice({ subgroupSize: 32 });
    for (const split of dealt(["subgroup", "workgroup"] as const, Object.keys(movable).indexOf(name), 2))
      expect(
        await differenceOfEnds(device, "f64", problem, small, everyEnds(33, everything ? 8 : 3), split),
      ).toBeLessThan(TOLERANCE.f64);
  });

  describe.each(devices)("on $label", ({ device, missing }) => {
    const hand = devices.findIndex((one) => one.device === device);
    it.for(dealt(Object.entries(movable), hand, devices.length))("%s", async ([name, problem], { skip }) => {
      if (device === undefined) return skip(missing);
      // The teams of one size in both precisions.
      const here = dealt(everySplit, hand, 2).filter(
        ({ precision, split }) =>
          device.precisions.includes(precision) && teamCapacity(device, precision, small.nodes, split) !== undefined,
      );
      if (here.length === 0) return skip(`no split has room for ${small.nodes} nodes`);
      for (const { precision, split } of here) {
        const worst = await differenceOfEnds(
          device,
          precision,
          problem,
          small,
          everyEnds(33, everything ? 150 : 50),
          split,
        );
        console.log(`${device.name} ${precision} ${split} ${name}, any ends: ${worst.toExponential(1)}`);
        expect(worst).toBeLessThan(TOLERANCE[precision]);
      }
    });
  });
});

describe("two splits of any problem", () => {
  const any = fc.record({
    sigma: fc.double({ min: 0.005, max: 1, noNaN: true }),
    rate: fc.double({ min: -0.05, max: 0.3, noNaN: true }),
    dividendYield: fc.double({ min: -0.05, max: 0.2, noNaN: true }),
    expiry: fc.double({ min: 0.02, max: 10, noNaN: true }),
    strike: fc.double({ min: 70, max: 130, noNaN: true }),
    right: fc.constantFrom("call" as const, "put" as const),
    american: fc.boolean(),
    cash: fc.constantFrom(0, 2, 10),
  });

  it.each([
    ["f64", 1e-11],
    // What rounding costs either of them: a day's life with a huge cash dividend, not drawn here, costs ten times more.
    ["f32", 1e-4],
  ] as const)("in %s", async (precision, tolerance) => {
    const device = devices[0].device as Device;
    // In f32 a mesh of a week at σ = 0.5 % is some hundred units of the last place fine: each side would round its own.
    const onTheHostsNodes = precision === "f32" ? { vanillaSign: undefined } : {};
    let worst = 0;
    await fc.assert(
      fc.asyncProperty(any, async ({ sigma, rate, dividendYield, expiry, strike, right, american: early, cash }) => {
        // Brennan and Schwartz' of a rate that no shift takes below zero, of a volatility that none takes to nothing:
        // there Crank–Nicolson rings behind the strike, and what projection cuts off of that differs.
        const projected = early && (right === "put" ? rate : dividendYield) >= 0;
        const problem: OneFactorProblem = {
          ...american,
          spots: [100],
          american: early,
          payoff: { ...vanillaPayoff(right, strike), ...onTheHostsNodes },
          rates: constant(projected ? rate + 0.01 : rate),
          dividendYield,
          expiry,
          dividends: cash === 0 ? [] : [{ time: 0.4 * expiry, cash, proportional: 0 }],
          diffusion: { kind: "deterministic", sigma: constant(projected ? sigma + 0.1 : sigma) },
        };
        const one = await difference(device, precision, problem, { nodes: 65, steps: 24 });
        worst = Math.max(worst, one);
        // A node that is exercised again, on the coarse mesh of 33, see `isShrinking`.
        expect(one).toBeLessThan(projected ? Math.max(tolerance, 1e-8) : tolerance);
      }),
      { numRuns: counted("FEYNKAC_SPLITS", 5, 150), seed: 20_261_121 },
    );
    console.log(`any problem, ${precision}: ${worst.toExponential(1)}`);
  });
});

describe("runs of more than nine nodes in the interpreter, in f64 as running sums", () => {
  const device = new InterpreterDevice({ subgroupSize: 32 });
  const flat = { kind: "deterministic", sigma: constant(0.002) } as const;
  // Where values flow out of the mesh the coefficient of the neighbour inside is negative; next to no volatility has
  // coefficients of next to nothing.
  const flows = {
    "European put": european,
    "European call, values flow in": {
      ...european,
      payoff: vanillaPayoff("call", 105),
      rates: constant(0.01),
      dividendYield: 0.08,
    },
    "European put, next to no volatility": { ...european, diffusion: flat },
    "European, σ(S)": problems["European, σ(S)"],
    "American put": american,
    "American call, values flow out": {
      ...american,
      payoff: vanillaPayoff("call", 105),
      rates: constant(0.08),
      dividendYield: 0.001,
    },
    "American put, high yield": { ...american, rates: constant(0.01), dividendYield: 0.08 },
  };
  it.each(dealt(Object.entries(flows), 0, 2))("%s", async (_, problem) => {
    const worst = await difference(device, "f64", problem, { nodes: 161, steps: 6 }, "half-subgroup", THREE_LANES);
    expect(worst).toBeLessThan(TOLERANCE.f64);
  });
});

describe.each(TEAMS)("the %s split in the interpreter", (split) => {
  const device = new InterpreterDevice({ subgroupSize: 32 });
  const size = { nodes: 33, steps: 8 };
  // It throws at a race, an access out of bounds or an uninitialised read.
  const solved = Object.entries(problems).filter(([, problem]) => isSolvedBy(split, device, "f64", problem, size));
  it.each(dealt(solved, TEAMS.indexOf(split), 4 * TEAMS.length))("%s", async (_, problem) => {
    const instances = split === "half-subgroup" ? THREE_LANES : TWO_LANES;
    const worst = await difference(device, "f64", problem, size, split, instances);
    // Its mesh is wrong by 1e-3, which these have to themselves.
    expect(worst).toBeLessThan(isShrinking(problem) ? 1e-8 : TOLERANCE.f64);
    expect(device.liveBuffers).toBe(0);
  });
});

describe("two options in a subgroup", () => {
  const size = { nodes: 57, steps: 12 };
  const interpreter = new InterpreterDevice({ subgroupSize: 32 });

  it.each(Object.entries(strangers))("know nothing of each other: %s", async (name, both) => {
    const turn = Object.keys(strangers).indexOf(name);
    for (const [hand, device] of [interpreter, devices[3].device].entries())
      for (const precision of dealt(["f64", "f32"] as const, turn + hand, 2)) {
        if (device === undefined || !isSolvedBy("half-subgroup", device, precision, both[0], size)) continue;
        const worst = await differenceBeside(device, precision, both, size);
        console.log(`${device.name} ${precision} ${name}, beside another: ${worst.toExponential(1)}`);
        expect(worst).toBeLessThan(TOLERANCE[precision]);
      }
  });

  // The same instance needs the same reach: first, second or alone, it is to the bit what it is elsewhere.
  it.each(["European", "American put", "European, dividends"])(
    "are the same to the bit if they are one: %s",
    async (name) => {
      for (const precision of ["f64", "f32"] as const)
        expect(await differenceOfCopies(interpreter, precision, problems[name], size, "half-subgroup", 3)).toBe(0);
    },
  );

  it("are as good as one", async () => {
    for (const shifts of [[0], [0, 0.02]])
      expect(await difference(interpreter, "f64", american, size, "half-subgroup", { shifts, grids: 1 })).toBeLessThan(
        TOLERANCE.f64,
      );
  });

  it("are safe from each other's numbers that are none", async () => {
    // Its nodes have squares beyond f32.
    const endless = { kind: "deterministic", sigma: constant(30) } as const;
    for (const device of [interpreter, devices[3].device]) {
      if (device === undefined || !isSolvedBy("half-subgroup", device, "f32", european, size)) continue;
      for (const problem of [european, american]) {
        const [good, bad] = [problem, { ...problem, diffusion: endless }].map((each) => instance(grids(each, size)[0]));
        using solver = new BatchSolver(device, "f32", "half-subgroup");
        const [first, wrong, , second] = await solver.solve([good, bad, bad, good]);
        const [alone] = await solver.solve([good]);
        for (const beside of [first, second]) expect(beside.window).toEqual(alone.window);
        // CUDA's Math.max makes numbers of some again.
        if (device === interpreter) expect(wrong.window.slice(0, 6)).toEqual(Array(6).fill(Number.NaN));
      }
    }
  });

  it("are no instances that need more registers, or volatilities made in each step", () => {
    const shared = (name: string, precision: Precision): boolean =>
      mayShare(instance(grids(problems[name], size)[0]), precision);
    expect(["European", "American, dividends, σ(S)", "dates: put"].every((name) => shared(name, "f32"))).toBe(true);
    expect(shared("European", "f32x2")).toBe(false);
    for (const name of [
      "European, σ(S, t)",
      "European, surface",
      "policy: negative rates",
      "barriers: one",
      "one spot: European, dividends, stepped rates",
    ])
      expect(shared(name, "f64")).toBe(false);
  });
});

describe("which split", () => {
  const device = (changes: Partial<Device>): Device => Object.assign(new InterpreterDevice(), changes);

  it("is items on a CPU always, teams on a GPU", () => {
    expect(preferredSplits(device({ backend: "cpu", parallelism: 1e6 }))).toEqual(["item"]);
    expect(preferredSplits(device({ backend: "webgpu", parallelism: 131_072 }))[0]).toBe("subgroup");
  });

  it("is items on a software adapter", () => {
    expect(preferredSplits(device({ backend: "webgpu", parallelism: 1024 }))).toEqual(["item"]);
  });

  it("is half a subgroup where there are instances enough", () => {
    const gpu = device({ backend: "cuda", parallelism: 100 * 2048 });
    expect(preferredSplits(gpu, 799)[0]).toBe("subgroup");
    expect(preferredSplits(gpu, 800)).toEqual(["half-subgroup", "subgroup", "workgroup", "item"]);
    expect(preferredSplits(device({ backend: "cpu" }), 1e6)).toEqual(["item"]);
  });

  it("launches a group for two options, and one for a last one", async () => {
    const gpu = new InterpreterDevice({ subgroupSize: 32 });
    const launch = vi.spyOn(gpu, "launch");
    using solver = new BatchSolver(gpu, "f32", "half-subgroup");
    const [grid] = grids(european, { nodes: 17, steps: 4 });
    await solver.solve([instance(grid), instance(grid), instance(grid)]);
    await solver.solve([instance(grids(problems["barriers: one"], { nodes: 17, steps: 4 })[0])]);
    expect(launch.mock.calls.map((call) => call[2])).toEqual([{ groups: 2 }, { items: 1 }]);
  });

  it("launches a group an option, or an item, as it chose", async () => {
    for (const [parallelism, size] of [
      [131_072, { groups: 2 }],
      [1024, { items: 2 }],
    ] as const) {
      const gpu = device({ backend: "webgpu", parallelism });
      const launch = vi.spyOn(gpu, "launch");
      using solver = new BatchSolver(gpu, "f32");
      const [grid] = grids(european, { nodes: 17, steps: 4 });
      await solver.solve([instance(grid), instance(grid)]);
      expect(launch.mock.calls.map((call) => call[2])).toEqual([size]);
    }
  });

  it.each([
    ["dates: put", { groups: 1 }],
    ["barriers: two", { groups: 1 }],
    ["barriers: American, two", { groups: 1 }],
    ["a knock-in", { items: 1 }],
  ] as const)("is a team's on a GPU with events, but not for the value before a knock-in: %s", async (name, size) => {
    const gpu = device({ backend: "webgpu", parallelism: 131_072 });
    const launch = vi.spyOn(gpu, "launch");
    const problem = name === "a knock-in" ? knockIns["American, one level"] : problems[name];
    const [grid] = grids(problem, { nodes: 17, steps: 4 });
    for (const split of ["auto", "workgroup"] as const) {
      using solver = new BatchSolver(gpu, "f32", split);
      await solver.solve([instance(grid)]);
    }
    expect(launch.mock.calls.map((call) => call[2])).toEqual([size, size]);
  });

  it("is for teams only where their size, subgroups and workgroup memory suffice", () => {
    const limits = { ...new InterpreterDevice().limits, maxWorkgroupBytes: 16_384 };
    const capacity = (changes: Partial<typeof limits>, nodes: number, split: TeamSplit) =>
      teamCapacity(device({ limits: { ...limits, ...changes } }), "f32", nodes, split);
    expect(capacity({}, 513, "workgroup")).toBe(576);
    expect(capacity({}, 161, "workgroup")).toBe(192);
    expect(capacity({ maxWorkgroupBytes: 4000 }, 513, "workgroup")).toBeUndefined();
    expect(capacity({ maxGroupSize: 32 }, 161, "workgroup")).toBeUndefined();
    expect(capacity({}, 161, "subgroup")).toBeUndefined();
    expect(capacity({ subgroupSize: 16 }, 161, "subgroup")).toBeUndefined();
    expect(capacity({ subgroupSize: 32 }, 161, "subgroup")).toBe(192);
    expect(capacity({ subgroupSize: 16 }, 161, "half-subgroup")).toBeUndefined();
    expect(capacity({ subgroupSize: 32 }, 161, "half-subgroup")).toBe(176);
    expect(capacity({ subgroupSize: 32 }, 273, "half-subgroup")).toBeUndefined();
    expect(capacity({ subgroupSize: 32, maxWorkgroupBytes: 4000 }, 513, "subgroup")).toBeUndefined();
  });
});
