/** A launch's arguments as the 32-bit members of the uniform block. */
import type { KernelSignature } from "../../kernel/index.ts";
import { launchCount, setScalar } from "../arguments.ts";
import type { LaunchArguments, LaunchSize } from "../device.ts";
import type { WebGpuBuffer } from "./buffer.ts";
import type { WebGpuKernel } from "./kernel.ts";

/** The size of a launch: its number of work items and its number of workgroups. */
export interface LaunchExtent {
  readonly items: number;
  readonly groups: number;
}

/**
 * Returns the number of work items and of workgroups of a launch.
 * @throws ShapeError (`items` for a cooperative kernel, `groups` for another kernel, or not a whole number)
 */
export function extentOf(signature: KernelSignature, size: LaunchSize): LaunchExtent {
  const count = launchCount(signature, size);
  return signature.cooperative
    ? { groups: count, items: count * signature.groupSize }
    : { items: count, groups: Math.ceil(count / signature.groupSize) };
}

/**
 * Returns the contents of a launch's uniform block as 32-bit integers. Its member `firstGroup` is 0. @throws ShapeError
 */
export function wordsOf(
  { program, signature }: WebGpuKernel,
  args: LaunchArguments,
  buffers: readonly WebGpuBuffer[],
  extent: LaunchExtent,
): Uint32Array {
  const { words } = program.compiled.module;
  const view = new DataView(new ArrayBuffer(words.length * 4));
  words.forEach((word, i) => {
    if (word.kind === "items" || word.kind === "groups") view.setUint32(4 * i, extent[word.kind], true);
    if (word.kind === "length") view.setInt32(4 * i, buffers[word.buffer].length, true);
    if (word.kind === "scalar") setScalar(view, 4 * i, signature, signature.scalars[word.scalar], args);
  });
  return new Uint32Array(view.buffer);
}
