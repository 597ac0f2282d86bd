/** The checks of buffers that every back end makes, in the same words. */
import { OutOfMemoryError, ShapeError, SpecError } from "../errors.ts";
import type { UsableBuffer } from "./arguments.ts";
import type { BufferElement, Device, DeviceBuffer } from "./device.ts";

/** The typed array of the host for each element type. */
export const ARRAY_TYPES = { f64: Float64Array, f32: Float32Array, i32: Int32Array, u32: Uint32Array } as const;

/** Returns the bytes of an element. */
export const bytesPerElement = (element: BufferElement): number => ARRAY_TYPES[element].BYTES_PER_ELEMENT;

/**
 * Returns the bytes of a buffer of `length` elements on a device. @throws SpecError (an invalid element or length) |
 * OutOfMemoryError (more than the device's limit)
 */
export function bufferBytes({ name, limits }: Device, element: BufferElement, length: number): number {
  if (!(element in ARRAY_TYPES)) throw new SpecError(`buffer of ${element}: expected f64, f32, i32 or u32`);
  if (!Number.isInteger(length) || length < 0)
    throw new SpecError(`buffer of ${element}: length ${length}, expected a whole number ≥ 0`);
  const bytes = length * bytesPerElement(element);
  if (bytes <= limits.maxBufferBytes) return bytes;
  throw new OutOfMemoryError(
    `buffer of ${length} ${element}: ${bytes} bytes, at most ${limits.maxBufferBytes} on ${name}`,
  );
}

/**
 * Returns `buffer` as one of the device's own, after checking the range `offset` … `offset + length`. @throws
 * ShapeError | DisposedError
 */
export function ownBuffer<B extends UsableBuffer>(
  device: Device,
  kind: abstract new (...args: never[]) => B,
  buffer: DeviceBuffer,
  who: string,
  offset = 0,
  length = 0,
): B {
  if (!(buffer instanceof kind) || buffer.device !== device) throw new ShapeError(`${who}: a buffer of another device`);
  buffer.assertUsable(who);
  const valid = [offset, length].every((n) => Number.isInteger(n) && n >= 0) && offset + length <= buffer.length;
  if (!valid) throw new ShapeError(`${who}: elements ${offset} … ${offset + length} of a buffer of ${buffer.length}`);
  return buffer;
}
