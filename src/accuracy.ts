/** The error that a result may have, as all calls take it. */
import { SpecError } from "./errors.ts";

/**
 * The error that is allowed, at least one of the two; of both, the larger one. `N` is a number, or in batches a column.
 */
export interface Accuracy<N = number> {
  /** The error in units of the result. */
  readonly absolute?: N;
  /** The error as a part of the size of the result; a result near zero needs `absolute`. */
  readonly relative?: N;
}

/** The error that is allowed, as a part of the size that the call names. */
export interface RelativeAccuracy {
  readonly relative: number;
}

/**
 * Checks a user's accuracy, or the tolerance of an iteration.
 *
 * @param place its name in messages.
 * @param kinds the kinds that the call knows, and other fields beside them.
 * @throws SpecError unless it is an object with at least one of its kinds, and nothing else.
 */
export function checkAccuracy(
  place: string,
  accuracy: object,
  kinds: readonly (keyof Accuracy)[] = ["absolute", "relative"],
  others: readonly string[] = [],
): void {
  const example = `{ ${kinds.map((kind) => `${kind}: 1e-4`).join(" } or { ")} }`;
  if (typeof accuracy !== "object" || accuracy === null)
    throw new SpecError(`${place}: got ${String(accuracy)}, expected ${example}`);
  const given = Object.entries(accuracy).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  const unknown = given.find((name) => ![...kinds, ...others].includes(name));
  if (unknown !== undefined) throw new SpecError(`${place}.${unknown}: unknown field, expected ${example}`);
  if (!kinds.some((kind) => given.includes(kind))) throw new SpecError(`${place}: got neither, expected ${example}`);
}

/** Returns the error that an accuracy allows in a result of a size. */
export const allowedError = ({ absolute = 0, relative = 0 }: Accuracy, size: number): number =>
  Math.max(absolute, relative * Math.abs(size));
