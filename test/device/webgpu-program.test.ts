import { describe, expect, test } from "vitest";
import { Program } from "../../src/device/webgpu/kernel.ts";
import { emitWgsl } from "../../src/kernel/emit/wgsl/index.ts";
import { i32, kernel, lower, real, write } from "../../src/kernel/index.ts";
import type { CompiledModule } from "../../src/device/webgpu/pipeline.ts";

describe("paces of one program", () => {
  const spec = kernel({
    name: "steps",
    params: { steps: i32, dt: real, out: write(real) },
    body({ steps, dt, out }, gpu) {
      for (let step = 0; step < steps; step++) out[gpu.globalId()] += dt;
    },
  });
  const module = emitWgsl(lower(spec, "f32"));
  const program = new Program({} as GPUDevice, { module } as CompiledModule);
  const paceOf = (steps: number, dt: number, length: number) =>
    program.workgroupTime(Uint32Array.from([1, 1, 0, 0, length, steps, dt]));

  test("depend on counts and lengths, by factors of four, and not on reals", () => {
    const workgroupTime = paceOf(1000, 1, 64);
    expect(paceOf(700, 99, 100)).toBe(workgroupTime);
    expect(paceOf(100_000, 1, 64)).not.toBe(workgroupTime);
    expect(paceOf(1000, 1, 64_000)).not.toBe(workgroupTime);
  });

  test("of the steps of a time loop are few", () => {
    const paces = new Set(Array.from({ length: 1000 }, (_, step) => paceOf(step, 0, 64)));
    expect(paces.size).toBeLessThanOrEqual(6);
  });
});
