import { type Book, type BookReport, Totals, type TradeResult } from "../book/index.ts";
import type { PricingOptions } from "./options.ts";
import { priceTrades } from "./price-trades.ts";

/**
 * Prices a book that is in memory: every trade's result in its order, and totals by currency. @throws as `priceTrades`
 */
export async function priceBook(book: Book, options: PricingOptions): Promise<BookReport> {
  const results: TradeResult[] = [];
  for await (const batch of priceTrades(book.trades, book, options)) results.push(...batch);
  const totals = new Totals();
  results.forEach((result, i) => {
    const parsed = book.trades[i];
    totals.add(parsed.ok ? parsed.trade : undefined, result);
  });
  const { backend, name } = options.device;
  return {
    asOf: book.asOf,
    device: { backend, name },
    priced: totals.priced,
    failed: totals.failed,
    totals: totals.totals,
    ...(book.scenarios === undefined ? {} : { scenarios: book.scenarios }),
    results,
  };
}
