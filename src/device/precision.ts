import { PrecisionError } from "../base/errors.ts";
import type { Precision } from "../kernel/index.ts";
import type { Device } from "./device.ts";

/** The options of `offeredPrecision`. @stable */
export interface EmulationOptions {
  /**
   * The name of a computation whose results must have the same bits on every device, for error messages. Emulated
   * double has other bits than f64, so that asking for f64 is an error on a device that only emulates it.
   */
  readonly reproducible?: string;
}

/**
 * Returns the precision in which a device computes when a given precision is asked for. This is the same precision,
 * except that f64 becomes f32x2 (emulated double) on a device without f64. Every function with a precision among its
 * options uses this rule.
 *
 * @param device any device.
 * @param wanted "f64", "f32" or "f32x2".
 * @param options the name of a computation that must not be emulated.
 *
 * @throws PrecisionError if the device does not offer it, or if emulated double fails its test on this device.
 * @example
 * import { offeredPrecision, openDevice } from "feynkac/device";
 *
 * using device = await openDevice({ backend: "cpu", threads: 1 });
 * console.log(await offeredPrecision(device, "f64")); // f64
 * @stable
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
