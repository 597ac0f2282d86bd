import { BookError } from "../errors.ts";
import { type BookHeader, contextOf, readHeader } from "./header.ts";
import { parseJson } from "./json.ts";
import { type BookInput, isPlainObject } from "./schema/index.ts";
import type { Book, ParsedTrade } from "./types.ts";

/**
 * A book from its JSON text, or from a plain object of the same form. Trades that cannot be used are in the result,
 * each with its error; nothing else is let pass.
 * @throws BookError not JSON (with line and column); no usable asOf, market, scenarios, or no list of trades
 */
export function parseBook(book: string | BookInput): Book {
  return readBook(typeof book === "string" ? parseJson(book) : book);
}

/** A book from plain data, as `JSON.parse` gives it. @throws BookError as `parseBook` */
export function readBook(value: unknown): Book {
  const header = readWholeBook(value);
  return { ...contextOf(header), trades: [...readTrades(header)] };
}

/** The header of a book that has to have a list of trades (an empty one is a list). */
export function readWholeBook(value: unknown): BookHeader {
  const header = readHeader(value);
  if (isPlainObject(value) && value.trades === undefined)
    throw new BookError("trades", "expected a list of trades, got nothing");
  return header;
}

/** The trades that came with the header, one by one. */
export function* readTrades(header: BookHeader): Generator<ParsedTrade> {
  for (const [index, entry] of header.trades.entries()) yield header.readEntry(entry, index);
}
