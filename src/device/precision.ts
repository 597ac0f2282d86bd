import { PrecisionError } from "../errors.ts";
import type { Precision } from "../kernel/index.ts";
import type { Device } from "./device.ts";

/** The options of `offeredPrecision`. */
export interface EmulationOptions {
  /**
   * The name of a computation whose results have the same bits on every device. Emulated double has other bits, so that
   * f64 is an error where it is emulated.
   */
  readonly reproducible?: string;
}

/**
 * Returns the precision that a device computes in when one is asked for: that precision, or f32x2 (emulated double) for
 * f64 on a device that has no other. Every call that takes a precision uses this function.
 *
 * @param device any device.
 * @param wanted "f64", "f32" or "f32x2".
 * @param options the name of a computation that is not to be emulated.
 * @throws PrecisionError if the device does not offer it, or if emulated double fails its test on this device.
 * @example
 * import { offeredPrecision, openDevice } from "feynkac/device";
 *
 * using device = await openDevice({ backend: "cpu", threads: 1 });
 * console.log(await offeredPrecision(device, "f64")); // f64
 */
export async function offeredPrecision(
  device: Device,
  wanted: Precision,
  options: EmulationOptions = {},
): Promise<Precision> {
  const { reproducible } = options;
  if (device.precisions.includes(wanted)) return wanted;
  if (wanted !== "f32" && device.enableEmulatedDouble !== undefined) {
    if (wanted === "f64" && reproducible !== undefined)
      throw new PrecisionError(
        `${reproducible}: got f64, which ${device.name} only emulates, with other bits; ask for precision "f32"`,
      );
    await device.enableEmulatedDouble();
    return "f32x2";
  }
  const { name, precisions } = device;
  const elsewhere = wanted === "f32x2" ? "f32x2 is WebGPU's" : "the CPU offers f64";
  throw new PrecisionError(`${name}: offers ${precisions.join(", ")}, not ${wanted}; ${elsewhere}`);
}
