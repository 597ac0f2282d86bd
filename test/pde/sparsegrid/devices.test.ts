/** The same numbers on every device and any number of threads. */
import { afterAll, describe, expect, test, vi } from "vitest";
import { createCpuDevice } from "../../../src/device/cpu/index.ts";
import { lower } from "../../../src/kernel/index.ts";
import { type Device, LaunchScheduler } from "../../../src/device/index.ts";
import { timeProgram } from "../../../src/pde/fdm/index.ts";
import { GridSolver } from "../../../src/pde/sparsegrid/grids.ts";
import { gridKernel } from "../../../src/pde/sparsegrid/kernel/time-loop.ts";
import { neighboursOf } from "../../../src/pde/sparsegrid/kernel/variant.ts";
import { compileSparseGridEquation } from "../../../src/pde/sparsegrid/problem/model.ts";
import { type GridShape, shapeFor } from "../../../src/pde/sparsegrid/shapes.ts";
import { solveOnSparseGrid } from "../../../src/pde/sparsegrid/index.ts";
import { compile, nvccMissing, translationUnit } from "../../kernel/cuda-support.ts";
import { disposeAll, openTestDevices } from "../../support/devices.ts";
import { dealt } from "../../support/extent.ts";
import { InterpreterDevice } from "../../support/interpreter-device.ts";
import { bestOf, problemOf } from "./support.ts";

const devices = [...(await openTestDevices()), { label: "interpreter", device: new InterpreterDevice(), missing: "" }];
afterAll(() => {
  for (const { device } of devices) expect(device?.liveBuffers ?? 0).toBe(0);
  disposeAll(devices);
});

/** Correlated assets with a Bermudan right and a window: every part of the kernel, on few nodes. */
const problem = (method: "bicgstab" | "cgs") =>
  problemOf(
    {
      ...bestOf(2),
      correlations: [
        [1, 0.4],
        [0.4, 1],
      ],
      terminal: "max(110-min(A,B),0)",
    },
    {
      conditions: [
        { kind: "exercise", payoff: "110-min(A,B)", at: [0.5] },
        { kind: "knock-out", axis: "B", below: 55, from: 0.2, until: 0.4 },
      ],
      level: 1,
      steps: 4,
      solver: { method },
    },
  );

/** One asset: a software adapter takes minutes to compile a kernel with mixed derivatives. */
const small = (method: "bicgstab" | "cgs") => problemOf(bestOf(1), { level: 2, steps: 4, solver: { method } });

const METHODS = ["bicgstab", "cgs"] as const;
// Each device by one of the two; GPUs by both, below.
describe.each(METHODS)("%s", (method) => {
  test.each(dealt(devices, METHODS.indexOf(method), 2))(
    "$label: the numbers of one thread",
    async ({ device, label, missing }) => {
      if (device === undefined) return expect(missing).not.toBe("");
      const precision = label === "webgpu" ? "f32" : "f64";
      const [here, there] = await Promise.all(
        [device, devices[0].device!].map(async (one) => {
          const given = label === "webgpu" ? small(method) : problem(method);
          const { entries } = await solveOnSparseGrid({ ...given, precision } as never, { device: one });
          return entries[0].at(label === "webgpu" ? { A: 100 } : { A: 100, B: 100 });
        }),
      );
      // GPUs have larger workgroups, whose sums have another order.
      const isGpu = /webgpu|cuda/.test(label);
      if (isGpu) expect(Math.abs(here.value / there.value - 1)).toBeLessThan(precision === "f32" ? 1e-4 : 1e-9);
      else expect(here).toEqual(there);
    },
  );
});

describe("several devices", () => {
  const of = (backend: "cpu" | "interpreter"): Device =>
    backend === "cpu" ? createCpuDevice({ threads: 1 }) : new InterpreterDevice({ subgroupSize: 32 });

  test.each(["cpu", "interpreter"] as const)("%s: the numbers of one, and progress as one", async (backend) => {
    const given = { ...problem("bicgstab"), errorEstimate: true };
    const at = { A: 100, B: 100 };
    using alone = of(backend);
    const expected = (await solveOnSparseGrid(given as never, { device: alone })).entries[0].at(at);
    const three = [of(backend), of(backend), of(backend)];
    const launches = three.map((device) => vi.spyOn(device, "launch"));
    const progress: { done: number; total: number }[] = [];
    const options = { devices: three, onProgress: (now: { done: number; total: number }) => progress.push(now) };
    expect((await solveOnSparseGrid(given as never, options)).entries[0].at(at)).toEqual(expected);
    for (const launch of launches) expect(launch).toHaveBeenCalled();
    expect(progress.at(-1)!.done).toBe(progress.at(-1)!.total);
    expect(progress.every(({ done, total }) => done <= total)).toBe(true);
    for (const device of three) {
      expect(device.liveBuffers).toBe(0);
      device[Symbol.dispose]();
    }
  });

  test("one that fails ends all, and nothing is left", async () => {
    const pair = [of("cpu"), of("cpu")];
    vi.spyOn(pair[1], "launch").mockImplementation(() => {
      throw new Error("out of order");
    });
    await expect(solveOnSparseGrid(problem("bicgstab") as never, { devices: pair })).rejects.toThrow("out of order");
    for (const device of pair) {
      expect(device.liveBuffers).toBe(0);
      device[Symbol.dispose]();
    }
  });

  test("must be of one kind", async () => {
    using cpu = of("cpu");
    const other = Object.assign(new InterpreterDevice(), { backend: "cuda" });
    const given = problem("bicgstab") as never;
    await expect(solveOnSparseGrid(given, { devices: [cpu, other as Device] })).rejects.toThrow(/cpu and cuda/);
    await expect(solveOnSparseGrid(given, { devices: [] })).rejects.toThrow(/got none/);
    await expect(solveOnSparseGrid(given, { device: cpu, devices: [cpu] })).rejects.toThrow(/one of them/);
  });
});

test("a batch has the numbers of its entries alone", async () => {
  const of = async (sigma: number | readonly number[]) => {
    const { entries } = await solveOnSparseGrid(
      {
        axes: { S: { from: 20, to: 500, coordinate: "log", points: [100] } },
        parameters: { sigma },
        equation: { SS: "0.5*sigma^2*S^2" },
        terminal: "max(S-100,0)",
        expiry: 1,
      },
      { device: devices[1].device },
    );
    return entries.map((entry) => entry.at({ S: 100 }).value);
  };
  expect(await of([0.2, 0.3])).toEqual([...(await of(0.2)), ...(await of(0.3))]);
});

/** V on one grid in kernels of a shape, in launches of so many rows of the time program each. */
async function solvedIn(shape: GridShape, device: Device, method: "bicgstab" | "cgs", rowsOfLaunch = 1000) {
  const model = compileSparseGridEquation(problem(method));
  const [entry] = model.batch.entries;
  const timeline = model.timelineOf(entry);
  const levels = [3, 4];
  // Only the share of a launch is given: the pace of a test is not that of a solution.
  const pace = new LaunchScheduler(device, {});
  const effort = 8 * 17 * neighboursOf(model.variant);
  Object.defineProperty(pace, "share", { value: rowsOfLaunch * effort });
  const solver = new GridSolver(device, model, "f64", pace, shape);
  const program = timeProgram({ ...model.program, steps: 6, refinement: 1 }, timeline);
  const [{ values, report }] = await solver.solve([{ entry, timeline, levels }], program);
  expect(report).toMatchObject({ fault: 0, unsolved: 0 });
  return values;
}

const interpreterOf32 = new InterpreterDevice({ subgroupSize: 32 });
const shapes: Readonly<Record<string, GridShape>> = {
  "sums over subgroups": { groupSize: 64, shuffles: true, residentRows: 0 },
  "rows in registers": { groupSize: 64, shuffles: true, residentRows: 3 },
  "rows in registers, no subgroups": { groupSize: 32, shuffles: false, residentRows: 6 },
};

describe("GPUs", () => {
  const cases = [
    ...Object.entries(shapes).map(([name, shape]) => ({ name, shape, method: "bicgstab" as const })),
    { name: "cgs, rows in registers", shape: shapes["rows in registers"], method: "cgs" as const },
  ];
  test.each(cases.map((one, k) => ({ ...one, k })))(
    "$name: the numbers of a CPU, in any number of launches",
    async ({ shape, method, k }) => {
      const lanes = { groupSize: 8, shuffles: false, residentRows: 0 };
      const expected = await solvedIn(lanes, devices[0].device!, method);
      const emulated = devices.find(({ label }) => /cuda/.test(label))?.device;
      const both = emulated === undefined ? [interpreterOf32] : [interpreterOf32, emulated];
      for (const device of dealt(both, k, both.length)) {
        const found = await solvedIn(shape, device, method);
        found.forEach((value, i) => expect(Math.abs(value - expected[i])).toBeLessThan(1e-7));
        expect(await solvedIn(shape, device, method, 2)).toEqual(found);
      }
    },
  );
});

describe.skipIf(nvccMissing !== undefined)(nvccMissing ?? "nvcc", () => {
  test("compiles for CUDA without spilling, with as many rows in registers as are allowed", async () => {
    const gpu = { backend: "cuda", parallelism: 1e5, limits: { maxGroupSize: 1024, subgroupSize: 32 } } as Device;
    const three = compileSparseGridEquation(problemOf(bestOf(3))).variant;
    const mixed = compileSparseGridEquation(problem("bicgstab")).variant;
    const wanted = [
      { variant: three, unknowns: 1280, rows: 5 },
      { variant: mixed, unknowns: 768, rows: 3 },
      { variant: mixed, unknowns: 1280, rows: 0 },
    ];
    const kernels = wanted.map(({ variant, unknowns, rows }) => {
      const shape = shapeFor(gpu, variant, "f64", unknowns);
      expect(shape.residentRows).toBe(rows);
      return lower(gridKernel({ ...variant, ...shape }), "f64");
    });
    // nvcc takes seconds for one: the one of mixed derivatives whose rows fill the registers.
    const own = dealt(kernels, 1, 3);
    const found = await compile(translationUnit(own), [90]);
    expect(found.map(({ spilled }) => spilled)).toEqual(own.map(() => 0));
  }, 120_000);
});
