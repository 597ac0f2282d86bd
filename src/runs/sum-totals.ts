import type { Outcome } from "./manifest.ts";

type Sums = Outcome["totals"][number];

/**
 * The totals of chunks, added up in their order: the order in which they were priced makes no difference. One entry a
 * currency, in the order of their first trades. A sum of which any part is null is null.
 */
export function sumTotals(chunks: readonly Outcome["totals"][]): Outcome["totals"] {
  const sums = new Map<string, Sums>();
  for (const totals of chunks)
    for (const one of totals) {
      const sum = sums.get(one.currency);
      sums.set(one.currency, sum === undefined ? one : (plus(sum, one) as Sums));
    }
  return [...sums.values()];
}

/** Two sums of one form: numbers, and lists and records of them. What is neither is the same in both. */
function plus(a: unknown, b: unknown): unknown {
  if (a === null || b === null) return null;
  if (typeof a === "number" && typeof b === "number") return a + b;
  if (Array.isArray(a) && Array.isArray(b)) return a.map((item, i) => plus(item, b[i]));
  if (typeof a !== "object" || typeof b !== "object") return a;
  const other = b as Readonly<Record<string, unknown>>;
  return Object.fromEntries(Object.entries(a).map(([name, value]) => [name, plus(value, other[name])]));
}
