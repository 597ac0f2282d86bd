import { emitWgsl, type WgslModule } from "../../kernel/emit/wgsl/index.ts";
import type { KernelIR } from "../../kernel/index.ts";
import type { DeviceLimits } from "../device.ts";
import type { OpenedAdapter } from "./adapter.ts";
import { checkWebGpuLimits } from "./limits.ts";

export type { ArgumentWord, WgslModule } from "../../kernel/emit/wgsl/index.ts";

/**
 * The number of work items of an emulated subgroup, which exchange values through workgroup memory if the device has no
 * subgroups. A reduction reads this many values.
 */
const emulatedSubgroup = 8;

/** Returns the size of the adapter's subgroups; undefined if subgroups of different sizes are possible. */
export function subgroupSizeOf({ adapter, device }: OpenedAdapter): number | undefined {
  if (!device.features.has("subgroups")) return emulatedSubgroup;
  const { subgroupMinSize, subgroupMaxSize } = adapter.info;
  return subgroupMinSize === subgroupMaxSize ? subgroupMinSize : undefined;
}

/**
 * Returns the WGSL source of a kernel, and checks that the kernel is within the limits of a device. Without
 * `subgroups`, subgroup operations use workgroup memory. @throws SpecError (the kernel exceeds the limits)
 */
export function emitWithinLimits(ir: KernelIR, limits: DeviceLimits, subgroups: boolean): WgslModule {
  const module = emitWgsl(ir, subgroups ? {} : { emulatedSubgroup });
  checkWebGpuLimits(limits, module);
  return module;
}
