/** Checks of what a caller gave where no compiler sees it: plain JavaScript, JSON. */
import type { DeviceBuffer } from "../device/index.ts";
import { ShapeError, SpecError } from "../errors.ts";

/** "nothing", "null", "an array", "a string": what was given instead of something else. */
function shownType(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  return typeof value === "object" ? `an object (${value.constructor?.name ?? "no class"})` : `a ${typeof value}`;
}

/** Checks an object of data, which may have other fields, too. @throws SpecError for anything but an object */
export function givenObject(who: string, given: object, fields: readonly string[]): void {
  if (typeof given === "object" && given !== null && !Array.isArray(given)) return;
  throw new SpecError(`${who}: got ${shownType(given)}, expected an object with ${fields.join(", ")}`);
}

/** Checks that a value is a list of numbers. @throws SpecError */
export function givenList(who: string, name: string, value: ArrayLike<number>): void {
  if (Array.isArray(value) || ArrayBuffer.isView(value)) return;
  throw new SpecError(`${who}: ${name}: got ${shownType(value)}, expected an array of numbers`);
}

/** Checks that a value is a buffer of a device. @throws ShapeError */
export function givenBuffer(who: string, name: string, value: DeviceBuffer): void {
  if (typeof value === "object" && value !== null && "element" in value && "device" in value) return;
  throw new ShapeError(
    `${who}: ${name}: got ${shownType(value)}, expected a buffer: device.createBuffer(…), then device.write(buffer, …)`,
  );
}
