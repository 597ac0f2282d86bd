import { PrecisionError } from "../errors.ts";
import type { Precision } from "../kernel/index.ts";
import type { Device } from "./device.ts";

/**
 * Returns the precision that a device computes in when one is asked for: that precision, or f32x2 (emulated double) for
 * f64 on a device that has no other.
 *
 * @param device any device.
 * @param wanted "f64", "f32" or "f32x2".
 * @throws PrecisionError if the device does not offer it, or if emulated double fails its test on this device.
 * @example
 * import { offeredPrecision, openDevice } from "feynkac/device";
 *
 * using device = await openDevice({ backend: "cpu", threads: 1 });
 * console.log(await offeredPrecision(device, "f64")); // f64
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
