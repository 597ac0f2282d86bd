import { BookError } from "../base/errors.ts";
import { type BookHeader, contextOf, readHeader } from "./header.ts";
import { parseJson } from "./json.ts";
import { type BookInput, isPlainObject } from "./schema/index.ts";
import type { Book, ParsedTrade } from "./types.ts";

/**
 * Reads a book from its JSON text, or from a plain object of the same form. docs/book.md describes the format.
 *
 * A trade with an error is in the result with that error, and does not affect the other trades. Nothing is guessed:
 * unknown fields and duplicate names are errors.
 *
 * @param book JSON text, or a plain object. Times are dates or years from `asOf` (Act/365F). Rates and volatilities are
 * decimals per year and per √year.
 * @returns the book with all times in years, curves and volatilities resolved, and each trade or its error.
 * @throws BookError if the text is not JSON (with line and column), or if `asOf`, `market`, `scenarios` or the list of
 * trades cannot be used.
 *
 * @example
 * import { parseBook } from "feynkac";
 *
 * const book = parseBook({
 *   asOf: "2026-11-20T16:00:00Z",
 *   market: { rates: { EUR: 0.05 }, underlyings: { ACME: { spot: 100, currency: "EUR", volatility: 0.2 } } },
 *   trades: [
 *     { id: "T1", underlying: "ACME", payoff: "put", strike: 100, expiry: 1 },
 *     { id: "T2", underlying: "ACME", payoff: "put", strike: -5, expiry: 1 },
 *   ],
 * });
 * for (const parsed of book.trades) console.log(parsed.ok ? parsed.trade.id : parsed.error.message);
 * // T1; then trades[1].strike: expected a positive number, got -5
 * @stable
 */
export function parseBook(book: string | BookInput): Book {
  return readBook(typeof book === "string" ? parseJson(book) : book);
}

/**
 * Reads a book from plain data of unknown type, as `JSON.parse` returns it. `parseBook` does the same for data whose
 * type TypeScript knows.
 *
 * @param value the book.
 * @returns as `parseBook`.
 * @throws BookError as `parseBook`.
 * @example
 * import { readBook } from "feynkac";
 *
 * const text = `{ "asOf": "2026-11-20", "market": { "rates": {}, "underlyings": {} }, "trades": [] }`;
 * console.log(readBook(JSON.parse(text)).asOf); // 2026-11-20T00:00:00.000Z
 * @stable
 */
export function readBook(value: unknown): Book {
  const header = readWholeBook(value);
  return { ...contextOf(header), trades: [...readTrades(header)] };
}

/**
 * Reads the market and the other common parts of a book. The book must have a list of trades, which may be empty and is
 * not read yet.
 */
export function readWholeBook(value: unknown): BookHeader {
  const header = readHeader(value);
  if (isPlainObject(value) && value.trades === undefined)
    throw new BookError("trades", "expected a list of trades, got nothing");
  return header;
}

/**
 * Reads the trades of a book one by one, so that a long list need not be parsed at once. Pass the generator to
 * `priceTrades`.
 *
 * @param header the result of `readHeader`: the market, and the trades that are not yet read.
 * @returns each trade, or its error, in the order of the book.
 *
 * @example
 * import { openDevice, priceTrades, readHeader, readTrades } from "feynkac";
 *
 * const header = readHeader({
 *   asOf: "2026-11-20",
 *   market: { rates: { EUR: 0.05 }, underlyings: { ACME: { spot: 100, currency: "EUR", volatility: 0.2 } } },
 *   trades: [80, 100].map((strike) => ({ id: `K${strike}`, underlying: "ACME", payoff: "call", strike, expiry: 1 })),
 * });
 * using device = await openDevice({ backend: "cpu" });
 * for await (const batch of priceTrades(readTrades(header), header, { device }))
 *   for (const { id, value } of batch) console.log(id, value?.toFixed(4)); // K80 24.5888; then K100 10.4506
 * @stable
 */
export function* readTrades(header: BookHeader): Generator<ParsedTrade> {
  for (const [index, entry] of header.trades.entries()) yield header.readEntry(entry, index);
}
