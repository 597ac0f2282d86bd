/** Checks of what a caller gave where no compiler sees it: plain JavaScript, JSON. */
import { SpecError } from "./errors.ts";

/** Names the type of a value for an error message: "nothing", "null", "an array", "a string". */
export function shownType(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

/** Checks that a value is an object. @throws SpecError for anything else */
export function isObject(path: string, value: unknown, expected: string): void {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new SpecError(`${path}: got ${shownType(value)}, expected ${expected}`);
}

/** Checks that a value is a list. @throws SpecError for anything else */
export function isList(path: string, value: unknown, expected: string): void {
  if (!Array.isArray(value)) throw new SpecError(`${path}: got ${shownType(value)}, expected a list of ${expected}`);
}

/** Checks that a value is one of the allowed ones. @throws SpecError */
export function oneOf(path: string, value: unknown, allowed: readonly unknown[]): void {
  if (allowed.includes(value)) return;
  const choices = allowed.filter((one) => one !== undefined).map(written);
  const others = choices.length > 1 ? `${choices.slice(0, -1).join(", ")} or ` : "";
  throw new SpecError(`${path}: got ${written(value)}, expected ${others}${choices.at(-1)}`);
}

/** Writes a value that is not allowed, for an error message. */
export const written = (value: unknown): string => (typeof value === "bigint" ? `${value}n` : JSON.stringify(value));

/** Checks that a value is a whole number from `min` to `max`. @throws SpecError */
export function wholeNumber(path: string, value: number, min: number, max: number): void {
  if (!Number.isInteger(value) || value < min || value > max)
    throw new SpecError(`${path}: got ${value}, expected a whole number from ${min} to ${max.toLocaleString("en-US")}`);
}

/**
 * Checks that all names are known: unknown names of problems read from JSON would otherwise be ignored silently.
 * @throws SpecError
 */
export function knownKeys(path: string, object: object, known: readonly string[]): void {
  const unknown = Object.keys(object).find((key) => !known.includes(key));
  if (unknown === undefined) return;
  throw new SpecError(`${path === "" ? "" : `${path}.`}${unknown}: unknown; expected one of ${known.join(", ")}`);
}
