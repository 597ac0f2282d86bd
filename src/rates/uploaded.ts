import type { Device, DeviceBuffer } from "../device/index.ts";

/** A buffer with these values, which has one element at least. */
export function uploaded(
  device: Device,
  element: "f32" | "f64" | "i32",
  values: Float64Array | Int32Array,
): DeviceBuffer {
  const buffer = device.createBuffer(element, Math.max(values.length, 1));
  device.write(buffer, values);
  return buffer;
}
