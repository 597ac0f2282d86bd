/**
 * The corners that are particular to CUDA, on the GPU or else in the emulator, against the interpreter and bit for bit:
 * without contraction every operation rounds as IEEE 754 says. The rest of the language: test/conformance.
 */
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { runCase } from "../conformance/run.ts";
import { openCudaForTests } from "../support/cuda.ts";
import { dealt } from "../support/extent.ts";
import { cudaCases } from "./cuda-cases.ts";

const device = await openCudaForTests();
afterAll(() => device?.[Symbol.dispose]());

describe.skipIf(device === undefined)(device?.name ?? "no NVIDIA GPU here, and no g++ for the emulator", () => {
  afterEach(() => expect(device!.liveBuffers).toBe(0));

  for (const [k, spec] of cudaCases.entries())
    for (const precision of dealt(["f64", "f32"] as const, k, 2))
      test(`${spec.name}, ${precision}`, async () => expect(await runCase(device!, spec, precision)).toEqual([]));
});
