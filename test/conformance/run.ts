/** Runs one case on one device and in the interpreter. Free of Node and of the test runner, for browser pages too. */
import type { BufferElement, Device, DeviceBuffer, HostArray, LaunchArguments } from "../../src/device/device.ts";
import { lower, type Precision } from "../../src/kernel/index.ts";
import { interpret } from "../../src/kernel/interpret/index.ts";
import { arraysOf, type ConformanceCase, type HostArguments, SUBGROUP_SIZE, type Tolerance } from "./case.ts";
import { differences } from "./compare.ts";

type Results = Record<string, HostArray>;

/** How the device's results differ from the interpreter's; empty when they agree. */
export async function runCase(device: Device, spec: ConformanceCase, precision: Precision): Promise<string[]> {
  const args = spec.args(arraysOf(precision));
  const actual = await onDevice(device, spec, precision, args);
  const expected = inInterpreter(spec, precision, args, actual[SUBGROUP_SIZE]?.[0]);
  const tolerance = precision === "f32x2" ? spec.f32x2 : toleranceOn(device, spec);
  return Object.keys(expected).flatMap((name) => {
    const sorted = spec.unordered?.includes(name) ? (values: HostArray): HostArray => values.slice().sort() : undefined;
    const [got, wanted] = sorted ? [sorted(actual[name]), sorted(expected[name])] : [actual[name], expected[name]];
    return differences(name, got, wanted, tolerance, precision);
  });
}

/** Signs of zeros, and subnormal numbers, are never promised by WGSL. */
const WGSL: Tolerance = { ulps: 0, because: "WGSL may flush subnormal numbers and lose the sign of zero" };

function toleranceOn(device: Device, spec: ConformanceCase): Tolerance | undefined {
  return device.backend === "webgpu" ? (spec.webgpu ?? WGSL) : undefined;
}

/** The contents of every array after the launch in the interpreter; `args` are left as they are. */
export function inInterpreter(
  spec: ConformanceCase,
  precision: Precision,
  args: HostArguments,
  subgroupSize?: number,
): Results {
  const arrays = Object.fromEntries(arraysIn(args).map(([name, values]) => [name, values.slice()]));
  const options = subgroupSize === undefined || subgroupSize < 1 ? {} : { subgroupSize };
  interpret(lower(spec.kernel, precision), { ...args, ...arrays }, spec.size, options);
  return arrays;
}

export async function onDevice(
  device: Device,
  { kernel, size }: ConformanceCase,
  precision: Precision,
  args: HostArguments,
): Promise<Results> {
  // Only then are the bits the interpreter's.
  const fma = device.backend === "cuda" ? "exact" : "contract";
  const compiled = await device.compile(kernel, { precision, fma });
  const buffers: Record<string, DeviceBuffer> = {};
  try {
    for (const [name, values] of arraysIn(args)) {
      buffers[name] = device.createBuffer(elementOf(values), values.length);
      device.write(buffers[name], values);
    }
    device.launch(compiled, { ...args, ...buffers } as LaunchArguments, size);
    const results: Results = {};
    for (const [name, buffer] of Object.entries(buffers)) results[name] = await device.read(buffer);
    return results;
  } finally {
    for (const buffer of Object.values(buffers)) buffer[Symbol.dispose]();
  }
}

function arraysIn(args: HostArguments): [string, HostArray][] {
  return Object.entries(args).filter((entry): entry is [string, HostArray] => typeof entry[1] === "object");
}

function elementOf(values: HostArray): BufferElement {
  if (values instanceof Float64Array) return "f64";
  if (values instanceof Float32Array) return "f32";
  return values instanceof Int32Array ? "i32" : "u32";
}
