import { SpecError } from "../../errors.ts";

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
export function oneOf<T>(path: string, value: T, allowed: readonly T[]): void {
  if (!allowed.includes(value))
    throw new SpecError(
      `${path}: got ${JSON.stringify(value)}, expected ${allowed.map((one) => JSON.stringify(one)).join(" or ")}`,
    );
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
