/** Runs a kernel through the WebAssembly emitter and in the interpreter, and compares every array bit for bit. */
import { expect } from "vitest";

import type { LaunchArguments, LaunchSize } from "../../src/device/device.ts";
import { createCpuDevice, type CpuDeviceOptions } from "../../src/device/cpu/index.ts";
import { interpret } from "../../src/kernel/interpret/index.ts";
import { type Kernel, lower, type Precision } from "../../src/kernel/index.ts";

export type HostArray = Float64Array | Float32Array | Int32Array | Uint32Array;
export type HostArguments = Readonly<Record<string, number | boolean | HostArray>>;
export type Arrays = Readonly<Record<string, HostArray>>;

const elementOf = (a: HostArray) =>
  a instanceof Float64Array ? "f64" : a instanceof Float32Array ? "f32" : a instanceof Int32Array ? "i32" : "u32";

const isArray = (value: unknown): value is HostArray => typeof value === "object";

export async function onCpu(
  kernel: Kernel,
  precision: Precision,
  args: HostArguments,
  size: LaunchSize,
  options: CpuDeviceOptions = {},
): Promise<Arrays> {
  using device = createCpuDevice({ threads: 1, ...options });
  const compiled = await device.compile(kernel, { precision });
  const buffers = Object.entries(args).flatMap(([name, values]) => {
    if (!isArray(values)) return [];
    const buffer = device.createBuffer(elementOf(values), values.length);
    device.write(buffer, values);
    return [[name, buffer] as const];
  });
  device.launch(compiled, { ...args, ...Object.fromEntries(buffers) } as LaunchArguments, size);
  const results = await Promise.all(buffers.map(async ([name, buffer]) => [name, await device.read(buffer)] as const));
  return Object.fromEntries(results);
}

export function inInterpreter(kernel: Kernel, precision: Precision, args: HostArguments, size: LaunchSize): Arrays {
  const copies = Object.entries(args).map(([name, value]) => [name, isArray(value) ? value.slice() : value] as const);
  const all = Object.fromEntries(copies);
  interpret(lower(kernel, precision), all, size);
  return Object.fromEntries(copies.filter(([, value]) => isArray(value))) as Arrays;
}

/** Every interleaving, both precisions where `args` allows; reals by their bits. */
export async function expectSame(
  kernel: Kernel,
  precision: Precision,
  args: HostArguments,
  size: LaunchSize,
): Promise<Arrays> {
  const expected = inInterpreter(kernel, precision, args, size);
  for (const vectors of [1, 2, 4]) {
    const got = await onCpu(kernel, precision, args, size, { vectors });
    for (const name of Object.keys(expected))
      expect([vectors, name, ...got[name]]).toEqual([vectors, name, ...expected[name]]);
  }
  return expected;
}
