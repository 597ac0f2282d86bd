/** The maximum error of results, an option of all pricing functions. */
import { SpecError } from "./errors.ts";

/**
 * The error that a result may have. At least one of the two numbers is given; if both are, the larger error is allowed.
 * In batches, `N` is a column of numbers instead of a number.
 * @stable
 */
export interface Accuracy<N = number> {
  /** The error in units of the result. */
  readonly absolute?: N;
  /** The error as a fraction of the result's magnitude. A result near zero needs `absolute`. */
  readonly relative?: N;
}

/**
 * The error that a result may have, as a fraction of a magnitude that the function defines, such as the spot.
 * @stable
 */
export interface RelativeAccuracy {
  /** The error as a fraction of that magnitude. */
  readonly relative: number;
}

/**
 * Checks an accuracy that a user has given, or the tolerance of an iteration.
 *
 * @param path the accuracy's name in error messages.
 * @param kinds the kinds of accuracy that the function allows.
 * @param others the names of further fields that it allows.
 * @throws SpecError unless it is an object with at least one of these kinds, and with no unknown field.
 */
export function checkAccuracy(
  path: string,
  accuracy: object,
  kinds: readonly (keyof Accuracy)[] = ["absolute", "relative"],
  others: readonly string[] = [],
): void {
  const example = `{ ${kinds.map((kind) => `${kind}: 1e-4`).join(" } or { ")} }`;
  if (typeof accuracy !== "object" || accuracy === null)
    throw new SpecError(`${path}: got ${String(accuracy)}, expected ${example}`);
  const given = Object.entries(accuracy).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  const unknown = given.find((name) => ![...kinds, ...others].includes(name));
  if (unknown !== undefined) throw new SpecError(`${path}.${unknown}: unknown field, expected ${example}`);
  if (!kinds.some((kind) => given.includes(kind))) throw new SpecError(`${path}: got neither, expected ${example}`);
}

/** Returns the absolute error that an accuracy allows in a result of magnitude `size`. */
export const allowedError = ({ absolute = 0, relative = 0 }: Accuracy, size: number): number =>
  Math.max(absolute, relative * Math.abs(size));
