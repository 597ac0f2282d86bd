/** What nvcc makes of the bulk call's kernels: states are in registers. No GPU is needed. */
import { describe, expect, test } from "vitest";
import { lower } from "../../../src/kernel/index.ts";
import { numberSourceOf } from "../../../src/numerics/random/draws.ts";
import { directKernel, TILE_LENGTH, tiledKernel } from "../../../src/numerics/random/kernels.ts";
import { randomSpec } from "../../../src/numerics/random/index.ts";
import { compile, nvccMissing, translationUnit } from "../../kernel/cuda-support.ts";

describe.skipIf(nvccMissing !== undefined)(nvccMissing ?? "nvcc", () => {
  test("no stack, no spills, and room for half of a multiprocessor's threads", async () => {
    const kernels = (["drand48", "mrg32k3a", "xorwow", "philox", "sobol"] as const).flatMap((generator) => {
      const spec = randomSpec({ generator, seed: 1, precision: "f32" });
      return [directKernel(spec, numberSourceOf(spec), TILE_LENGTH), tiledKernel(spec, numberSourceOf(spec))];
    });
    const found = await compile(translationUnit(kernels.map((one) => lower(one, "f32"))), [90]);
    expect(found).toHaveLength(10);
    expect(found.filter(({ stack, spilled, registers }) => stack > 0 || spilled > 0 || registers > 64)).toEqual([]);
  }, 120_000);
});
