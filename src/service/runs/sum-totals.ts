import { type CurrencyTotals, Totals, type TradeCounts } from "../../book/index.ts";

/**
 * Returns the sum of the totals of all chunks. It adds them in the order of the chunks, so that the result does not
 * depend on the order in which they were priced.
 */
export function sumTotals(chunks: readonly (readonly CurrencyTotals[])[]): CurrencyTotals[] {
  const sums = new Totals();
  for (const totals of chunks) sums.addTotals(totals);
  return [...sums.totals];
}

/** Returns the counts of the trades of all chunks. */
export function sumCounts(chunks: readonly TradeCounts[]): TradeCounts {
  const sums = new Totals();
  for (const counts of chunks) sums.addCounts(counts);
  return sums.counts;
}
