/** Relative: what the same terms differ by when they are written with another date. */
const ROUNDING = 1e-9;

/**
 * Tells whether two values of plain data are equal up to the rounding of their numbers, because times in years are
 * rounded differently for another `asOf`. The state of a fit is no part of the market that it is beside.
 */
export function same(a: unknown, b: unknown): boolean {
  if (typeof a === "number" && typeof b === "number") return Math.abs(a - b) <= ROUNDING * (1 + Math.abs(a));
  if (!isObject(a) || !isObject(b)) return a === b;
  const [names, others] = [a, b].map((of) => Object.keys(of).filter((name) => name !== "fit"));
  return names.length === others.length && names.every((name) => same(a[name], b[name]));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
