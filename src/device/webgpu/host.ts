/**
 * Conversions between host arrays and the bytes of buffers. WebGPU has no f64, so a buffer of f64 holds pairs of f32,
 * whose sum is the number.
 */
import { fromPairs, toPairs } from "../../kernel/index.ts";
import { ARRAY_TYPES } from "../buffers.ts";
import type { BufferElement, HostArray } from "../device.ts";

/**
 * Returns the bytes of `values` as elements of a buffer. If no conversion is needed, they are the array's own memory.
 * An f64 becomes a pair of f32: it keeps at least 48 significant bits, becomes ±Infinity beyond ±3.4e38 and zero below
 * 1e-45.
 */
export function bytesFor(element: BufferElement, values: HostArray): Uint8Array {
  const converted = element === "f64" ? toPairs(values) : inType(element, values);
  return new Uint8Array(converted.buffer, converted.byteOffset, converted.byteLength);
}

function inType(element: Exclude<BufferElement, "f64">, values: HostArray): HostArray {
  const wanted = ARRAY_TYPES[element];
  return values instanceof wanted ? values : new wanted(values);
}

/** Returns the numbers in a buffer's bytes. It is the inverse of `bytesFor`. */
export const valuesOf = (element: BufferElement, bytes: ArrayBuffer): HostArray =>
  element === "f64" ? fromPairs(new Float32Array(bytes)) : new ARRAY_TYPES[element](bytes);
