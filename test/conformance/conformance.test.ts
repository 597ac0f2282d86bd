/** Every case, on every device that is here, in every precision it offers, against the reference interpreter. */
import { afterAll, afterEach, describe, expect, test } from "vitest";
import type { Precision } from "../../src/kernel/index.ts";
import { disposeAll, openTestDevices } from "../support/devices.ts";
import { arraysOf } from "./case.ts";
import { cases } from "./cases/index.ts";
import { inInterpreter, runCase } from "./run.ts";

const devices = await openTestDevices({ emulatedDouble: true });
afterAll(() => disposeAll(devices));

const PRECISIONS: readonly Precision[] = ["f64", "f32", "f32x2"];

describe("interpreter", () => {
  for (const spec of cases) {
    for (const precision of spec.precisions ?? PRECISIONS) {
      test(`${spec.name}, ${precision}: runs, and passes its checks`, () => {
        const args = spec.args(arraysOf(precision));
        for (const subgroupSize of [4, 32]) expect(inInterpreter(spec, precision, args, subgroupSize)).toBeDefined();
      });
    }
  }
});

describe.each(devices)("$label", ({ device, missing }) => {
  afterEach(() => expect(device?.liveBuffers ?? 0).toBe(0));

  for (const spec of cases) {
    for (const precision of spec.precisions ?? PRECISIONS) {
      if (device !== undefined && !device.precisions.includes(precision)) continue;
      test(`${spec.name}, ${precision}`, async (context) => {
        if (device === undefined) return context.skip(missing);
        expect(await runCase(device, spec, precision)).toEqual([]);
      });
    }
  }
});
