/** The checks of buffers, with the same messages on every device. */
import { OutOfMemoryError, ShapeError, SpecError } from "../base/errors.ts";
import type { UsableBuffer } from "./arguments.ts";
import type { BufferElement, Device, DeviceBuffer } from "./device.ts";

/** The host's typed array class for each element type of a buffer. */
export const ARRAY_TYPES = { f64: Float64Array, f32: Float32Array, i32: Int32Array, u32: Uint32Array } as const;

/** Returns the size of an element in bytes. */
export const bytesPerElement = (element: BufferElement): number => ARRAY_TYPES[element].BYTES_PER_ELEMENT;

/**
 * Returns the size in bytes of a buffer with `length` elements, after checks against the device's limits. @throws
 * SpecError (an invalid element or length) | OutOfMemoryError (more than the device's limit)
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
 * Returns `buffer` with the back end's own buffer type, after checking that the device made it, that it is not
 * disposed, and that the elements `offset` … `offset + length` − 1 exist. `who` names the caller in error messages.
 * @throws ShapeError | DisposedError
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
