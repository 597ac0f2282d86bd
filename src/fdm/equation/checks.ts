import { SpecError } from "../../errors.ts";

/** @throws SpecError */
export function oneOf<T>(path: string, value: T, allowed: readonly T[]): void {
  if (!allowed.includes(value))
    throw new SpecError(
      `${path}: got ${JSON.stringify(value)}, expected ${allowed.map((one) => JSON.stringify(one)).join(" or ")}`,
    );
}

/**
 * Names that are not known would otherwise be ignored in silence: problems come as JSON, too, where no compiler sees them.
 * @throws SpecError
 */
export function knownKeys(path: string, object: object, known: readonly string[]): void {
  const unknown = Object.keys(object).find((key) => !known.includes(key));
  if (unknown === undefined) return;
  throw new SpecError(`${path === "" ? "" : `${path}.`}${unknown}: unknown; expected one of ${known.join(", ")}`);
}
