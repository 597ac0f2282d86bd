/** Compilation without contraction, which simulations have in common. */
import type { Kernel, Precision } from "../kernel/index.ts";
import type { CompiledKernel, Device } from "./device.ts";
import { offeredPrecision } from "./precision.ts";

/**
 * Compiles a kernel so that its results have the same bits on every device. Where the device offers the choice, no
 * product and sum are fused into one rounding. @throws PrecisionError if the device does not offer the precision itself
 */
export async function compileExact<K extends Kernel>(
  device: Device,
  kernel: K,
  precision: Precision,
): Promise<CompiledKernel<K["params"]>> {
  const exact = await offeredPrecision(device, precision, { reproducible: kernel.name });
  return device.compile(kernel, { precision: exact, fma: "reproducible" });
}
