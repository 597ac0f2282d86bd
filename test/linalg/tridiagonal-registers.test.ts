/** What nvcc makes of the kernels that are to run at the speed of memory: runs of rows stay in registers. No GPU is needed. */
import { describe, expect, test } from "vitest";
import { lower } from "../../src/kernel/index.ts";
import { reduceRunsKernel } from "../../src/linalg/tridiagonal/reduce-runs.ts";
import { registerHybridKernel } from "../../src/linalg/tridiagonal/register-hybrid.ts";
import { compile, nvccMissing, translationUnit } from "../kernel/cuda-support.ts";

/** Warps that a multiprocessor of 65,536 registers holds; three sets of 512 rows in f64 in flight are 48 KiB, enough to hide memory's latency. */
const LEAST_WARPS = 12;

describe.skipIf(nvccMissing !== undefined)(nvccMissing ?? "nvcc", () => {
  test.each(["f64", "f32"] as const)(
    "512 rows a subgroup, %s: no spills, twelve subgroups a multiprocessor",
    async (precision) => {
      const shape = { lanes: 32, rows: 16, shuffles: true, shared: false };
      const systems = precision === "f64" ? 4 : 8;
      const kernels = [
        registerHybridKernel({ ...shape, layout: "contiguous", chunked: false, systems: 1 }),
        registerHybridKernel({ ...shape, layout: "contiguous", chunked: true, systems: 1 }),
        registerHybridKernel({ ...shape, layout: "interleaved", chunked: false, systems }),
        reduceRunsKernel({ perItem: 16, shared: false }),
      ];
      const reports = await compile(translationUnit(kernels.map((kernel) => lower(kernel, precision))), [90]);
      if (process.env["FEYNKAC_REGISTERS"] === "1") console.table(reports);
      expect(reports).toHaveLength(kernels.length);
      for (const { kernel, registers, stack, spilled } of reports) {
        expect([kernel, [stack, spilled]]).toEqual([kernel, [0, 0]]);
        expect(Math.floor(65_536 / (32 * Math.ceil(registers / 8) * 8))).toBeGreaterThanOrEqual(LEAST_WARPS);
      }
    },
    120_000,
  );
});
