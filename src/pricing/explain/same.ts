/** Relative, beside 1: dates in years differ by rounding as `asOf` moves, by much less than this (30 ms). */
const ROUNDING = 1e-9;

/** Whether two values of plain data are the same but for the rounding of their numbers. */
export function same(a: unknown, b: unknown): boolean {
  if (typeof a === "number" && typeof b === "number") return Math.abs(a - b) <= ROUNDING * (1 + Math.abs(a));
  if (!isObject(a) || !isObject(b)) return a === b;
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every((name) => same(a[name], b[name]));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
