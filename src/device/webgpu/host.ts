import type { BufferElement, HostArray } from "../device.ts";

export const arrayTypes = { f64: Float64Array, f32: Float32Array, i32: Int32Array, u32: Uint32Array } as const;

/** The bytes of `values` as a buffer's elements; the array's own memory where no conversion is needed. */
export function bytesFor(element: BufferElement, values: HostArray): Uint8Array {
  const wanted = arrayTypes[element];
  const converted = values instanceof wanted ? values : new wanted(values);
  return new Uint8Array(converted.buffer, converted.byteOffset, converted.byteLength);
}
