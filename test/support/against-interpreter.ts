/** Runs IR on the WebGPU device and in the interpreter, with the same arguments. */
import type { Device, LaunchArguments, LaunchSize } from "../../src/device/device.ts";
import type { WebGpuDevice } from "../../src/device/webgpu/index.ts";
import { interpret, type InterpreterOptions } from "../../src/kernel/interpret/index.ts";
import type { KernelIR } from "../../src/kernel/ir.ts";
import type { Kernel } from "../../src/kernel/index.ts";

type HostArray = Float32Array | Int32Array | Uint32Array;
export type HostArguments = Readonly<Record<string, number | boolean | HostArray>>;
type Arrays = Record<string, HostArray>;

/** A kernel in name only, for IR made by hand. */
const placeholder = (ir: KernelIR): Kernel => ({
  kind: "kernel",
  name: ir.name,
  params: {},
  env: {},
  groupSize: ir.groupSize,
  source: "",
  body: () => {},
});

const elementOf = (values: HostArray) =>
  values instanceof Float32Array ? "f32" : values instanceof Int32Array ? "i32" : "u32";

/** The contents of every array after the launch. */
export async function onDevice(
  device: WebGpuDevice,
  ir: KernelIR,
  args: HostArguments,
  size: LaunchSize,
): Promise<Arrays> {
  const compiled = await device.compileIr(placeholder(ir), ir);
  const arrays = arraysOf(args);
  const buffers = Object.fromEntries(Object.entries(arrays).map(([name, values]) => [name, upload(device, values)]));
  try {
    device.launch(compiled, { ...args, ...buffers } as LaunchArguments, size);
    const results = Object.entries(buffers).map(async ([name, buffer]) => [name, await device.read(buffer)] as const);
    return Object.fromEntries(await Promise.all(results));
  } finally {
    for (const buffer of Object.values(buffers)) buffer[Symbol.dispose]();
  }
}

function upload(device: Device, values: HostArray) {
  const buffer = device.createBuffer(elementOf(values), values.length);
  device.write(buffer, values);
  return buffer;
}

const arraysOf = (args: HostArguments): Arrays =>
  Object.fromEntries(
    Object.entries(args).filter((entry): entry is [string, HostArray] => typeof entry[1] === "object"),
  );

export function inInterpreter(
  ir: KernelIR,
  args: HostArguments,
  size: LaunchSize,
  options?: InterpreterOptions,
): Arrays {
  const arrays = Object.fromEntries(Object.entries(arraysOf(args)).map(([name, values]) => [name, values.slice()]));
  interpret(ir, { ...args, ...arrays }, size, options);
  return arrays;
}
