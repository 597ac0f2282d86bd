/**
 * Random kernels on every device, against the interpreter; and the interpreter against the same text run as JavaScript.
 * FEYNKAC_PROGRAMS sets how many (60), FEYNKAC_SEED which ones. A failure prints the shortest program found.
 */
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import type { Device } from "../../../src/device/device.ts";
import type { Kernel } from "../../../src/kernel/index.ts";
import { disposeAll, openTestDevices } from "../../support/devices.ts";
import { counted, everything } from "../../support/extent.ts";
import { runAsJavaScript } from "../../support/javascript.ts";
import { arraysOf } from "../case.ts";
import { differences } from "../compare.ts";
import { inInterpreter, onDevice } from "../run.ts";
import { caseOf } from "./case.ts";
import { type Program, programs } from "./generate.ts";

const runs = counted("FEYNKAC_PROGRAMS", 30, 300);
const seed = Number(process.env["FEYNKAC_SEED"] ?? 20261121);

const devices = await openTestDevices({ emulatedDouble: everything });
afterAll(() => disposeAll(devices));

/** The text as the function it is. Only tests do this: kernels themselves never need `eval`. */
const evaluated = (kernel: Kernel): Pick<Kernel, "body" | "env" | "groupSize"> => ({
  ...kernel,
  // oxlint-disable-next-line no-eval
  body: (0, eval)(`(${kernel.source})`) as Kernel["body"],
});

async function matchesInterpreter(device: Device, source: string, precision: "f64" | "f32"): Promise<void> {
  const spec = caseOf(source);
  const args = spec.args(arraysOf(precision));
  const expected = inInterpreter(spec, precision, args);
  const actual = await onDevice(device, spec, precision, args);
  expect(Object.keys(expected).flatMap((name) => differences(name, actual[name], expected[name], undefined))).toEqual(
    [],
  );
}

function matchesJavaScript(source: string): void {
  const spec = caseOf(source);
  const args = spec.args(arraysOf("f64"));
  const expected = inInterpreter(spec, "f64", args);
  runAsJavaScript(evaluated(spec.kernel), args, spec.size);
  const found = Object.keys(expected).flatMap((name) =>
    differences(name, args[name] as Float64Array, expected[name], undefined),
  );
  expect(found).toEqual([]);
}

/** Only elements that f32 and f64 agree about: the others amplify rounding, so devices that contract may differ. */
async function isCloseToInterpreter(device: Device, source: string): Promise<void> {
  const spec = caseOf(source);
  const exact = inInterpreter(spec, "f64", spec.args(arraysOf("f64")));
  const args = spec.args(arraysOf("f32"));
  const expected = inInterpreter(spec, "f32", args);
  const actual = await onDevice(device, spec, "f32", args);
  for (const name of ["iout", "uout"]) expect(differences(name, actual[name], expected[name], undefined)).toEqual([]);
  for (const name of ["w", "out"]) {
    const stable = Array.from(expected[name].keys()).filter((i) => Math.abs(expected[name][i] - exact[name][i]) < 1e-6);
    for (const i of stable) expect(Math.abs(actual[name][i] - expected[name][i]), `${name}[${i}]`).toBeLessThan(1e-4);
  }
}

/** The same elements: where f32 is off by less than 1e-6, some 17 roundings, pairs are off by less than 1e-12. */
async function isAsCloseInPairs(device: Device, source: string): Promise<void> {
  const spec = caseOf(source);
  const args = spec.args(arraysOf("f32x2"));
  const expected = inInterpreter(spec, "f32x2", args);
  const single = inInterpreter(spec, "f32", spec.args(arraysOf("f32")));
  const actual = await onDevice(device, spec, "f32x2", args);
  for (const name of ["iout", "uout"]) expect(differences(name, actual[name], expected[name], undefined)).toEqual([]);
  for (const name of ["w", "out"]) {
    const stable = Array.from(expected[name].keys()).filter(
      (i) => Math.abs(expected[name][i] - single[name][i]) < 1e-6,
    );
    for (const i of stable) expect(Math.abs(actual[name][i] - expected[name][i]), `${name}[${i}]`).toBeLessThan(1e-12);
  }
}

const options = (numRuns: number): fc.Parameters<[Program]> => ({ numRuns, seed, verbose: false });

test("interpreter and plain JavaScript agree", () => {
  fc.assert(
    fc.property(programs("anything"), ({ source }) => matchesJavaScript(source)),
    options(runs),
  );
});

describe.each(devices)("$label", ({ label, device, missing }) => {
  test("agrees with the interpreter", async (context) => {
    if (device === undefined) return context.skip(missing);
    if (device.backend !== "cpu") {
      // A software GPU takes some 50 ms to compile each.
      const property = fc.asyncProperty(programs("nothing"), ({ source }) => isCloseToInterpreter(device, source));
      await fc.assert(property, options(Math.ceil(runs / 5)));
      if (!device.precisions.includes("f32x2")) return;
      const inPairs = fc.asyncProperty(programs("nothing"), ({ source }) => isAsCloseInPairs(device, source));
      await fc.assert(inPairs, options(Math.ceil(runs / 15)));
      return;
    }
    const property = fc.asyncProperty(programs("anything"), async ({ source }) => {
      await matchesInterpreter(device, source, "f64");
      await matchesInterpreter(device, source, "f32");
    });
    await fc.assert(property, options(label.includes("1 thread") ? runs : Math.ceil(runs / 5)));
    expect(device.liveBuffers).toBe(0);
  }, 600_000);
});
