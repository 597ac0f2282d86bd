/**
 * Host arrays and the bytes of buffers. WebGPU has no f64: a buffer of them holds pairs of f32, whose sum is the
 * number.
 */
import { fromPairs, toPairs } from "../../kernel/index.ts";
import { ARRAY_TYPES } from "../buffers.ts";
import type { BufferElement, HostArray } from "../device.ts";

/**
 * Returns the bytes of `values` as a buffer's elements: the array's own memory where no conversion is needed. An
 * emulated f64 keeps 48 bits or more; beyond ±3.4e38 it becomes ±Infinity, and below 1e-45 zero.
 */
export function bytesFor(element: BufferElement, values: HostArray): Uint8Array {
  const converted = element === "f64" ? toPairs(values) : inType(element, values);
  return new Uint8Array(converted.buffer, converted.byteOffset, converted.byteLength);
}

function inType(element: Exclude<BufferElement, "f64">, values: HostArray): HostArray {
  const wanted = ARRAY_TYPES[element];
  return values instanceof wanted ? values : new wanted(values);
}

/** Returns the values of a buffer's bytes, the inverse of `bytesFor`. */
export const valuesOf = (element: BufferElement, bytes: ArrayBuffer): HostArray =>
  element === "f64" ? fromPairs(new Float32Array(bytes)) : new ARRAY_TYPES[element](bytes);
