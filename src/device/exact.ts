/** What simulations have in common: buffers filled from the host, and compilation without contraction. */
import { PrecisionError } from "../errors.ts";
import type { Kernel, Precision } from "../kernel/index.ts";
import type { BufferElement, CompiledKernel, Device, DeviceBuffer, HostArray } from "./device.ts";
import { offeredPrecision } from "./precision.ts";

/** A buffer with `values`. */
export function uploaded<E extends BufferElement>(device: Device, element: E, values: HostArray): DeviceBuffer<E> {
  const buffer = device.createBuffer(element, values.length);
  device.write(buffer, values);
  return buffer;
}

/**
 * Compiles so that paths are the same bits everywhere, and go to the same cells: no products are contracted, where the
 * device lets one choose.
 * @throws PrecisionError if the device does not offer the precision itself
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
  const fma = device.backend === "webgpu" ? "contract" : "exact";
  return device.compile(kernel, { precision, fma });
}
