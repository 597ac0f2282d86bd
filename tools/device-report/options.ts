/** The command line. */
import { parseArgs } from "node:util";
import type { BackendName } from "../../src/device/device.ts";

export interface SuiteOptions {
  readonly devices: readonly BackendName[];
  readonly families: readonly string[];
  readonly quick: boolean;
  readonly output: string | undefined;
  readonly cudaEmulator: boolean;
}

export const USAGE = `Runs the conformance and pricing suite on every device, and reports each family's worst error.

  --devices cpu,cuda,webgpu   which devices; all by default
  --families NAME,…           which of conformance, functions, reference, greeks, formulas, splits,
                              equations, axes, sparse, sparse-grids, knock-ins, methods;
                              all by default
  --quick                     a part of the cases of functions, reference, splits, equations, axes, sparse,
                              knock-ins and methods
  --output FILE               also as JSON, in the form of bench/results; a folder gets a file for each device
  --cuda-emulator             CUDA on the CPU, where there is no GPU (in a checkout, with g++)

Exits with 1 if a case fails; a device that is missing is reported as skipped.
`;

const BACKENDS: readonly BackendName[] = ["cpu", "cuda", "webgpu"];

/** @throws TypeError (an unknown option), Error (an unknown name) */
export function parseOptions(args: readonly string[], families: readonly string[]): SuiteOptions | "help" {
  const { values } = parseArgs({
    args: [...args],
    options: {
      devices: { type: "string" },
      families: { type: "string" },
      quick: { type: "boolean", default: false },
      output: { type: "string" },
      "cuda-emulator": { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return "help";
  return {
    devices: listed("--devices", values.devices, BACKENDS),
    families: listed("--families", values.families, families),
    quick: values.quick,
    output: values.output,
    cudaEmulator: values["cuda-emulator"],
  };
}

function listed<T extends string>(option: string, text: string | undefined, known: readonly T[]): readonly T[] {
  if (text === undefined) return known;
  const wanted = text.split(",").map((name) => name.trim());
  const unknown = wanted.filter((name) => !(known as readonly string[]).includes(name));
  if (unknown.length > 0) throw new Error(`${option}: got ${unknown.join(", ")}; expected ${known.join(", ")}`);
  return known.filter((name) => wanted.includes(name));
}
