/** The same numbers on every device and any number of threads. */
import { afterAll, describe, expect, test } from "vitest";
import { lower } from "../../src/kernel/index.ts";
import { gridKernel } from "../../src/sparsegrid/kernel/time-loop.ts";
import { sparseModelOf } from "../../src/sparsegrid/problem/model.ts";
import { solveOnSparseGrid } from "../../src/sparsegrid/index.ts";
import { compile, nvccMissing, translationUnit } from "../kernel/cuda-support.ts";
import { disposeAll, openTestDevices } from "../support/devices.ts";
import { InterpreterDevice } from "../support/interpreter-device.ts";
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

describe.each(["bicgstab", "cgs"] as const)("%s", (method) => {
  test.each(devices)("$label: the numbers of one thread", async ({ device, label, missing }) => {
    if (device === undefined) return expect(missing).not.toBe("");
    const precision = label === "webgpu" ? "f32" : "f64";
    const [here, there] = await Promise.all(
      [device, devices[0].device!].map(async (one) => {
        const given = label === "webgpu" ? small(method) : problem(method);
        const { entries } = await solveOnSparseGrid({ ...given, precision } as never, one);
        return entries[0].at(label === "webgpu" ? { A: 100 } : { A: 100, B: 100 });
      }),
    );
    // GPUs have larger workgroups, whose sums have another order.
    const isGpu = /webgpu|cuda/.test(label);
    if (isGpu) expect(Math.abs(here.value / there.value - 1)).toBeLessThan(precision === "f32" ? 1e-4 : 1e-9);
    else expect(here).toEqual(there);
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
      devices[1].device,
    );
    return entries.map((entry) => entry.at({ S: 100 }).value);
  };
  expect(await of([0.2, 0.3])).toEqual([...(await of(0.2)), ...(await of(0.3))]);
});

describe.skipIf(nvccMissing !== undefined)(nvccMissing ?? "nvcc", () => {
  test("compiles for CUDA", async () => {
    const { variant } = sparseModelOf(problem("bicgstab"));
    const found = await compile(translationUnit([lower(gridKernel({ ...variant, groupSize: 256, shuffles: true, residentRows: 0 }), "f64")]), [90]);
    expect(found).toHaveLength(1);
    expect(found[0].spilled).toBe(0);
  }, 120_000);
});
