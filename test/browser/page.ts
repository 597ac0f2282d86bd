/** Runs in the browser: the package as a page uses it. The test calls `feynkac.run` and asserts on what it returns. */
import { type Device, openDevice } from "../../src/device/index.ts";
import type { Precision } from "../../src/kernel/index.ts";
import { cases } from "../conformance/cases/index.ts";
import { runCase } from "../conformance/run.ts";

export interface Report {
  readonly device: string;
  readonly isolated: boolean;
  readonly liveBuffers: number;
  readonly cases: number;
  /** The case, its precision, and how its results differ from the interpreter's. */
  readonly failures: readonly string[];
}

/** Runs the whole conformance suite in every precision that the device offers. */
async function run(backend: "cpu" | "webgpu"): Promise<Report> {
  using device = await openDevice({ backend });
  const failures: string[] = [];
  let count = 0;
  for (const spec of cases) {
    for (const precision of device.precisions.filter((one) => spec.precisions?.includes(one) ?? true)) {
      failures.push(
        ...(await complaints(device, spec, precision)).map((text) => `${spec.name}, ${precision}: ${text}`),
      );
      count++;
    }
  }
  const { name, liveBuffers } = device;
  return { device: name, isolated: crossOriginIsolated, liveBuffers, cases: count, failures };
}

async function complaints(device: Device, spec: (typeof cases)[number], precision: Precision): Promise<string[]> {
  try {
    return await runCase(device, spec, precision);
  } catch (error) {
    return [String(error)];
  }
}

/** The message with which opening a device fails, or "opened". */
async function tryToOpen(backend: "webgpu" | "cuda"): Promise<string> {
  try {
    using device = await openDevice({ backend });
    return `opened ${device.name}`;
  } catch (error) {
    return `${(error as { code?: string }).code}: ${(error as Error).message}`;
  }
}

const api = { run, tryToOpen };
declare global {
  // What the test drives through page.evaluate.
  var feynkac: typeof api;
}
globalThis.feynkac = api;
