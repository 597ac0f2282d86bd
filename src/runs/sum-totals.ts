import { type CurrencyTotals, Totals } from "../book/index.ts";

/**
 * Returns the sum of the totals of all chunks. It adds them in the order of the chunks, so that the result does not
 * depend on the order in which they were priced.
 */
export function sumTotals(chunks: readonly (readonly CurrencyTotals[])[]): CurrencyTotals[] {
  const sums = new Totals();
  for (const totals of chunks) sums.addTotals(totals);
  return [...sums.totals];
}
