import { type CurrencyTotals, Totals } from "../book/index.ts";

/** Returns the sum of chunks' totals in their order, so that the order of pricing does not matter. */
export function sumTotals(chunks: readonly (readonly CurrencyTotals[])[]): CurrencyTotals[] {
  const sums = new Totals();
  for (const totals of chunks) sums.addTotals(totals);
  return [...sums.totals];
}
