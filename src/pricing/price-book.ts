import { type Book, type BookReport, Totals, type TradeResult } from "../book/index.ts";
import { type Device, withDevice } from "../device/index.ts";
import { checkOptions, type PricingOptions } from "./options.ts";
import { priceTrades } from "./price-trades.ts";

/**
 * Prices a book in memory. The same book gives the same numbers on any thread.
 *
 * @param book what `parseBook` returns.
 * @param options the device, and optionally precision, accuracy, Greeks, batch size, signal and progress.
 * @returns one result per trade in the order of the book, and totals by currency. Values are per unit of quantity in
 *   the underlying's currency, theta per year, vega and rho per 1.00.
 * @throws as `priceTrades`. A trade that cannot be priced is a result with `status: "error"`.
 * @example
 * import { openDevice, parseBook, priceBook } from "feynkac";
 *
 * const book = parseBook({
 *   asOf: "2026-11-20T16:00:00Z",
 *   market: { rates: { EUR: 0.05 }, underlyings: { ACME: { spot: 100, currency: "EUR", volatility: 0.2 } } },
 *   trades: [{ id: "T1", underlying: "ACME", payoff: "put", strike: 100, expiry: 1, exercise: "american" }],
 * });
 * using device = await openDevice({ backend: "cpu" });
 * const { results } = await priceBook(book, { device, accuracy: { relative: 1e-6 } });
 * for (const { value } of results) console.log(value?.toFixed(4)); // 6.0904
 */
export async function priceBook(book: Book, options: PricingOptions = {}): Promise<BookReport> {
  checkOptions(options);
  return withDevice(options.device, options, (device) => reportOf(book, { ...options, device }));
}

async function reportOf(book: Book, options: PricingOptions & { readonly device: Device }): Promise<BookReport> {
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
