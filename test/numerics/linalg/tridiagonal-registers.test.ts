/**
 * What nvcc makes of the kernels that are to run at the speed of memory: runs of rows stay in registers. No GPU is
 * needed.
 */
import { describe, expect, test } from "vitest";
import { lower } from "../../../src/kernel/index.ts";
import { reduceSegmentsKernel } from "../../../src/numerics/linalg/tridiagonal/reduce.ts";
import { registerHybridKernel } from "../../../src/numerics/linalg/tridiagonal/register-hybrid.ts";
import { streamedHybridKernel } from "../../../src/numerics/linalg/tridiagonal/streamed-hybrid.ts";
import { compile, nvccMissing, translationUnit } from "../../kernel/cuda-support.ts";
import { dealt, everything } from "../../support/extent.ts";

/**
 * Warps that a multiprocessor of 65,536 registers holds; three sets of 512 rows in f64 in flight are 48 KiB, enough to
 * hide memory's latency.
 */
const MIN_WARPS = 12;

describe.skipIf(nvccMissing !== undefined)(nvccMissing ?? "nvcc", () => {
  test.each(dealt(["f64", "f32"] as const, 1, 2))(
    "512 rows, %s: no spills, twelve subgroups a multiprocessor",
    async (precision) => {
      const contiguous = { systems: 1, shuffles: false, shared: false, parked: false, layout: "contiguous" } as const;
      const all = [
        registerHybridKernel({ ...contiguous, lanes: 128, rows: 4, aligned: true, chunked: false }),
        registerHybridKernel({ ...contiguous, lanes: 128, rows: 4, aligned: true, chunked: true }),
        registerHybridKernel({ ...contiguous, lanes: 64, rows: 8, aligned: false, chunked: false }),
        reduceSegmentsKernel({ perItem: 16, shared: false }),
      ];
      const kernels = dealt(all, 0, 4);
      const reports = await compile(translationUnit(kernels.map((kernel) => lower(kernel, precision))), [90]);
      if (process.env["FEYNKAC_REGISTERS"] === "1") console.table(reports);
      expect(reports).toHaveLength(kernels.length);
      for (const { kernel, registers, stack, spilled } of reports) {
        expect([kernel, [stack, spilled]]).toEqual([kernel, [0, 0]]);
        expect(Math.floor(65_536 / (32 * Math.ceil(registers / 8) * 8))).toBeGreaterThanOrEqual(MIN_WARPS);
      }
    },
    120_000,
  );

  test.skipIf(!everything).each([
    ["f64", { systems: 16, lanes: 16, rows: 32, words: 2, depth: 16, ahead: 12 }],
    ["f32", { systems: 32, lanes: 8, rows: 64, words: 4, depth: 32, ahead: 22 }],
  ] as const)(
    "512 rows streamed, %s: all of a run in registers, none spilled",
    async (precision, shape) => {
      const kernels = [streamedHybridKernel({ ...shape, shuffles: true, whole: true })];
      const [{ stack, spilled }] = await compile(translationUnit(kernels.map((one) => lower(one, precision))), [90]);
      expect([stack, spilled]).toEqual([0, 0]);
    },
    120_000,
  );
});
