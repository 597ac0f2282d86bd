/** Every case, on every device that is here, in every precision it offers, against the reference interpreter. */
import { afterAll, afterEach, describe, expect, test } from "vitest";
import type { Precision } from "../../src/kernel/index.ts";
import { disposeAll, openTestDevices } from "../support/devices.ts";
import { dealt } from "../support/extent.ts";
import { arraysOf, type ConformanceCase } from "./case.ts";
import { cases } from "./cases/index.ts";
import { inInterpreter, runCase } from "./run.ts";

const devices = await openTestDevices({ emulatedDouble: true });
afterAll(() => disposeAll(devices));

const PRECISIONS: readonly Precision[] = ["f64", "f32", "f32x2"];

/**
 * One thread and the interpreter run every case, of those that have f64 a third in f32 as well. Three threads share
 * what one has shown, emulated pairs a part of the rest; of six cases one is CUDA's in f64, one in f32, and one
 * WebGPU's.
 */
const casesFor = (label: string, precision: Precision): readonly ConformanceCase[] => {
  if (label === "cpu, 3 threads") return dealt(cases, 0, 6);
  if (label === "webgpu") return precision === "f32x2" ? dealt(cases, 2, 18) : dealt(cases, 0, 6);
  if (label.startsWith("cuda")) return dealt(cases, precision === "f64" ? 1 : 3, 6);
  if (precision !== "f32") return cases;
  const some = dealt(cases, 1, 3);
  return cases.filter((spec) => some.includes(spec) || spec.precisions?.includes("f64") === false);
};

describe("interpreter", () => {
  for (const [k, spec] of cases.entries()) {
    for (const precision of spec.precisions ?? PRECISIONS) {
      if (!casesFor("interpreter", precision).includes(spec)) continue;
      test(`${spec.name}, ${precision}: runs, and passes its checks`, () => {
        const args = spec.args(arraysOf(precision));
        for (const subgroupSize of dealt([4, 32], k, 2))
          for (const [name, values] of Object.entries(inInterpreter(spec, precision, args, subgroupSize)))
            expect([name, values.length]).toEqual([name, (args[name] as { length: number }).length]);
      });
    }
  }
});

describe.each(devices)("$label", ({ device, label, missing }) => {
  afterEach(() => expect(device?.liveBuffers ?? 0).toBe(0));

  for (const spec of cases) {
    for (const precision of spec.precisions ?? PRECISIONS) {
      if (device !== undefined && !device.precisions.includes(precision)) continue;
      if (!casesFor(label, precision).includes(spec)) continue;
      test(`${spec.name}, ${precision}`, async (context) => {
        if (device === undefined) return context.skip(missing);
        expect(await runCase(device, spec, precision)).toEqual([]);
      });
    }
  }
});
