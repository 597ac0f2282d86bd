import { PrecisionError } from "../errors.ts";
import type { Precision } from "../kernel/index.ts";
import type { Device } from "./device.ts";

/**
 * What `device` computes in when `wanted` is asked for: that, or emulated double, f32x2, for f64 on a device that has
 * no other.
 * @throws PrecisionError (not offered; or emulated double fails its test on this device)
 */
export async function offeredPrecision(device: Device, wanted: Precision): Promise<Precision> {
  if (device.precisions.includes(wanted)) return wanted;
  if (wanted !== "f32" && device.enableEmulatedDouble !== undefined) {
    await device.enableEmulatedDouble();
    return "f32x2";
  }
  const { name, precisions } = device;
  const elsewhere = wanted === "f32x2" ? "f32x2 is WebGPU's" : "the CPU offers f64";
  throw new PrecisionError(`${name}: offers ${precisions.join(", ")}, not ${wanted}; ${elsewhere}`);
}
