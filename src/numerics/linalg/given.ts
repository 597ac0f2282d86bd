/** Checks of what a caller gave where no compiler sees it: lists and buffers. */
import type { BufferElement, Device, DeviceBuffer } from "../../device/index.ts";
import { DisposedError, ShapeError, SpecError } from "../../base/errors.ts";
import { typeInWords } from "../../base/argument-checks.ts";

/** Checks that a value is a list of numbers. @throws SpecError */
export function checkNumberList(who: string, name: string, value: ArrayLike<number>): void {
  if (Array.isArray(value) || ArrayBuffer.isView(value)) return;
  throw new SpecError(`${who}: ${name}: got ${typeInWords(value)}, expected an array of numbers`);
}

/** The device, element type and length that a buffer must have. */
interface ExpectedBuffer {
  readonly device: Device;
  readonly element: BufferElement;
  readonly length: number;
}

/**
 * Checks that a value is a buffer with the expected device, element type and length. @throws ShapeError | DisposedError
 */
export function checkBuffer(who: string, value: DeviceBuffer, { device, element, length }: ExpectedBuffer): void {
  if (typeof value !== "object" || value === null || !("element" in value && "device" in value))
    throw new ShapeError(
      `${who}: got ${typeInWords(value)}, expected a buffer: device.createBuffer(…), then device.write(buffer, …)`,
    );
  if (value.disposed) throw new DisposedError(`${who}: the buffer was disposed`);
  if (value.device !== device || value.element !== element || value.length !== length)
    throw new ShapeError(
      `${who}: got ${value.length} elements of ${value.element} of ${value.device.name}, ` +
        `expected ${length} of ${element} of ${device.name}`,
    );
}

/** Checks the buffers of a linear system, b and x, which must be different. @throws ShapeError | DisposedError */
export function checkSystemBuffers(
  who: string,
  { b, x }: { readonly b: DeviceBuffer; readonly x: DeviceBuffer },
  expected: ExpectedBuffer,
): void {
  checkBuffer(`${who}: b`, b, expected);
  checkBuffer(`${who}: x`, x, expected);
  if (b === x) throw new ShapeError(`${who}: b and x are one buffer, expected two`);
}
