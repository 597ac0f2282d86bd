/** Compilation without contraction, which simulations have in common. */
import { PrecisionError } from "../errors.ts";
import type { Kernel, Precision } from "../kernel/index.ts";
import type { CompiledKernel, Device } from "./device.ts";
import { offeredPrecision } from "./precision.ts";

/**
 * Compiles a kernel without contraction of products, where the device offers the choice, so that results are bit for
 * bit the same everywhere. @throws PrecisionError if the device does not offer the precision itself
 */
export async function compileExact<K extends Kernel>(
  device: Device,
  kernel: K,
  precision: Precision,
): Promise<CompiledKernel<K["params"]>> {
  const offered = await offeredPrecision(device, precision);
  if (offered !== precision)
    throw new PrecisionError(
      `${kernel.name}: got ${precision}, which ${device.name} only emulates; ask for precision "${offered}"`,
    );
  return device.compile(kernel, { precision, fma: "reproducible" });
}
