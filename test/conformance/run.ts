/** Runs one case on one device and in the interpreter. Free of Node and of the test runner, for browser pages too. */
import type { BufferElement, Device, DeviceBuffer, HostArray, LaunchArguments } from "../../src/device/device.ts";
import { lower, type Precision } from "../../src/kernel/index.ts";
import { interpret } from "../../src/kernel/interpret/index.ts";
import { arraysOf, type ConformanceCase, type HostArguments, SUBGROUP_SIZE, type Tolerance } from "./case.ts";
import { differences, largestError } from "./compare.ts";

type Results = Record<string, HostArray>;
type Fma = "contract" | "exact";

export interface Judgement {
  /** How the device's results differ from the interpreter's by more than they may; empty when they agree. */
  readonly differences: string[];
  /** Of reals that the case's tolerance does not take as an absolute distance: in ulps, or relative in f32x2. */
  readonly worst: number;
}

/** How the device's results differ from the interpreter's; empty when they agree. */
export async function runCase(device: Device, spec: ConformanceCase, precision: Precision): Promise<string[]> {
  return (await judgeCase(device, spec, precision)).differences;
}

/** On CUDA, only without contraction are the bits the interpreter's. */
const defaultFma = ({ backend }: Device): Fma => (backend === "cuda" ? "exact" : "contract");

export async function judgeCase(
  device: Device,
  spec: ConformanceCase,
  precision: Precision,
  wanted = defaultFma(device),
): Promise<Judgement> {
  const fma = spec.fma ?? wanted;
  const args = spec.args(arraysOf(precision));
  const actual = await onDevice(device, spec, precision, args, fma);
  const expected = expectedOf(spec, precision, actual[SUBGROUP_SIZE]?.[0]);
  const tolerance = toleranceOf(device, spec, precision, fma);
  const found: string[] = [];
  let worst = 0;
  for (const name of Object.keys(expected)) {
    const sorted = spec.unordered?.includes(name) ? (values: HostArray): HostArray => values.slice().sort() : undefined;
    const [got, wanted] = sorted ? [sorted(actual[name]), sorted(expected[name])] : [actual[name], expected[name]];
    found.push(...differences(name, got, wanted, tolerance, precision));
    worst = Math.max(worst, largestError(got, wanted, tolerance, precision));
  }
  return { differences: found, worst };
}

/** Signs of zeros, and subnormal numbers, are never promised by WGSL. */
const WGSL: Tolerance = { ulps: 0, because: "WGSL may flush subnormal numbers and lose the sign of zero" };

function toleranceOf(
  { backend }: Device,
  spec: ConformanceCase,
  precision: Precision,
  fma: Fma,
): Tolerance | undefined {
  if (precision === "f32x2") return spec.f32x2;
  if (backend === "webgpu") return spec.webgpu ?? WGSL;
  const contracts = backend === "cuda" && fma !== "exact";
  return contracts && spec.webgpu !== undefined ? inPrecision(spec.webgpu, precision) : undefined;
}

/** CUDA contracts as WGSL does; absolute distances are given for f32. */
function inPrecision({ absolute, ...tolerance }: Tolerance, precision: Precision): Tolerance {
  if (absolute === undefined) return tolerance;
  return { ...tolerance, absolute: precision === "f64" ? absolute * 2 ** -29 : absolute };
}

const known = new WeakMap<ConformanceCase, Map<string, Results>>();

/** What the interpreter makes of a case: once, however many devices and tools are compared with it. */
export function expectedOf(spec: ConformanceCase, precision: Precision, subgroupSize?: number): Results {
  const results = known.get(spec) ?? new Map<string, Results>();
  known.set(spec, results);
  const key = `${precision} ${subgroupSize}`;
  const expected = results.get(key) ?? inInterpreter(spec, precision, spec.args(arraysOf(precision)), subgroupSize);
  results.set(key, expected);
  return expected;
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
  fma = defaultFma(device),
): Promise<Results> {
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
