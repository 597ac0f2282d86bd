/** Checks of arguments that no compiler has checked, because they come from JavaScript or JSON. */
import { SpecError } from "./errors.ts";

/** Returns the type of a value in words, for an error message: "nothing", "null", "an array", "a string" and so on. */
export function typeInWords(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  if (typeof value !== "object") return `a ${typeof value}`;
  const name = value.constructor?.name ?? "Object";
  return name === "Object" ? "an object" : `an object (${name})`;
}

/**
 * Checks that an argument is an object. `path` is its name and `expected` describes the object, both for the error
 * message. @throws SpecError for anything else
 */
export function checkObject(path: string, value: unknown, expected: string): void {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new SpecError(`${path}: got ${typeInWords(value)}, expected ${expected}`);
}

/**
 * Checks that an argument is a list. `path` is its name and `expected` describes the list, both for the error message.
 * @throws SpecError for anything else
 */
export function checkList(path: string, value: unknown, expected: string): void {
  if (!Array.isArray(value)) throw new SpecError(`${path}: got ${typeInWords(value)}, expected a list of ${expected}`);
}

/** Checks that an argument is one of the allowed values. `path` is its name in the error message. @throws SpecError */
export function checkOneOf(path: string, value: unknown, allowed: readonly unknown[]): void {
  if (allowed.includes(value)) return;
  const choices = allowed.filter((one) => one !== undefined).map(valueText);
  const others = choices.length > 1 ? `${choices.slice(0, -1).join(", ")} or ` : "";
  throw new SpecError(`${path}: got ${valueText(value)}, expected ${others}${choices.at(-1)}`);
}

/** Returns a value as text for an error message. */
export const valueText = (value: unknown): string => (typeof value === "bigint" ? `${value}n` : JSON.stringify(value));

/**
 * Checks that an argument is a whole number from `min` to `max`. `path` is its name in the error message. @throws
 * SpecError
 */
export function checkWholeNumber(path: string, value: number, min: number, max: number): void {
  if (!Number.isInteger(value) || value < min || value > max)
    throw new SpecError(`${path}: got ${value}, expected a whole number from ${min} to ${max.toLocaleString("en-US")}`);
}

/**
 * Checks that an object has no unknown fields. TypeScript does not check objects read from JSON, and a misspelt field
 * would otherwise be ignored. `path` is the object's name in the error message. @throws SpecError
 */
export function checkKeys(path: string, object: object, known: readonly string[]): void {
  const unknown = Object.keys(object).find((key) => !known.includes(key));
  if (unknown === undefined) return;
  throw new SpecError(`${path === "" ? "" : `${path}.`}${unknown}: unknown; expected one of ${known.join(", ")}`);
}

/**
 * Checks that settings are an object without unknown fields. `who` is the name of the function that takes them, for the
 * error message. @throws SpecError for anything else
 */
export function checkFields(who: string, given: object, known: readonly string[]): void {
  checkObject(who, given, `an object with ${known.join(", ")}`);
  checkKeys(who, given, known);
}

/** Checks that an argument is a device, and not the promise of one from `openDevice`. @throws SpecError */
export function checkDevice(device: unknown): void {
  const isOpened = typeof device === "object" && device !== null && "launch" in device;
  if (!isOpened)
    throw new SpecError(
      `device: got ${typeInWords(device)}, expected one from openDevice: { device: await openDevice() }`,
    );
}
