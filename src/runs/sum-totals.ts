import { type CurrencyTotals, Totals } from "../book/index.ts";

/** The totals of chunks, added up in their order: the order in which they were priced makes no difference. */
export function sumTotals(chunks: readonly (readonly CurrencyTotals[])[]): CurrencyTotals[] {
  const sums = new Totals();
  for (const totals of chunks) sums.addTotals(totals);
  return [...sums.totals];
}
