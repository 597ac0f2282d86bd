/** Reads books in NDJSON, which has one JSON object per line, as a stream. */
import { BookError } from "../base/errors.ts";
import { readTrades, type BookHeader, contextOf, readHeaderWith, underMarket } from "./book.ts";
import { parseJson } from "./json.ts";
import { flatten, isBlank, type Line, MAX_LINE, readLines } from "./text.ts";
import type { MarketFits } from "./moved-quotes.ts";
import { isPlainObject } from "./schema/index.ts";
import { failedTrade } from "./trade.ts";
import type { BookContext, Market, ParsedTrade } from "./types.ts";

/** A book whose trades arrive one after another. */
export interface BookStream extends BookContext {
  readonly market: Market;
  readonly trades: AsyncIterable<ParsedTrade>;
  /** The names of all tags of trades, if they are known before the trades are read. */
  readonly tags: readonly string[] | undefined;
}

/**
 * Reads a book from NDJSON. The first line is the book without its trades (`asOf`, `market`, `scenarios`), and every
 * other line is a trade. If a market from another file is given as `beside`, every line is a trade. With `ownHeader`
 * and `beside`, the first line is a header whose market `beside` replaces. An invalid line becomes that trade's error,
 * with its line. Blank lines are skipped. Memory is bounded by the maximum line length: 64 Mi characters for the first
 * line, 1 Mi for the others.
 *
 * @param chunks the text of the file, in pieces of any length.
 * @throws BookError an unusable header, before any trade is read.
 */
export async function readNdjson(
  chunks: AsyncIterable<string>,
  beside?: BookHeader,
  ownHeader = beside === undefined,
): Promise<BookStream> {
  const lines = notBlank(flatten(readLines(chunks)));
  const own = ownHeader ? await readFirstLine(lines) : undefined;
  const header = underMarket(own, beside);
  return { ...contextOf(header), trades: tradesOf(header, lines), tags: undefined };
}

async function* notBlank(lines: AsyncIterable<Line>): AsyncGenerator<Line, undefined> {
  for await (const line of lines) if (!isBlank(line)) yield line;
}

async function readFirstLine(lines: AsyncGenerator<Line, undefined>): Promise<BookHeader> {
  return readNdjsonHeader((await lines.next()).value);
}

/** Reads the header of a book from the first line of its NDJSON file. @throws BookError */
export function readNdjsonHeader(first: Line | undefined, fits?: MarketFits): BookHeader {
  if (first === undefined) throw new BookError("", "expected a book, got an empty input");
  if (first.text === undefined)
    throw new BookError(`line ${first.number}`, "the book's first line is longer than 64 Mi characters");
  const value = parseJson(first.text, `line ${first.number}`);
  if (!isPlainObject(value) || !("asOf" in value || "market" in value)) {
    throw new BookError(
      `line ${first.number}`,
      "expected the book without its trades (asOf, market) on the first line; " +
        "or give the market in a file of its own: --market MARKET.json",
    );
  }
  return readHeaderWith(value, fits);
}

async function* tradesOf(header: BookHeader, lines: AsyncIterable<Line>): AsyncGenerator<ParsedTrade> {
  yield* readTrades(header);
  let index = header.trades.length;
  for await (const line of lines) yield readNdjsonLine(line, index++, header);
}

/**
 * Reads the trade in a line of NDJSON, or its error. `index` is the trade's number from 0. `repeated` tells whether an
 * earlier trade has its id.
 */
export function readNdjsonLine(
  { number, text }: Line,
  index: number,
  header: BookHeader,
  repeated?: boolean,
): ParsedTrade {
  const where = `line ${number}`;
  if (text === undefined)
    return failedTrade(
      undefined,
      index,
      new BookError(where, `longer than ${MAX_LINE} characters; one trade a line is expected`),
    );
  let value: unknown;
  try {
    value = parseJson(text, where);
  } catch (error) {
    if (error instanceof BookError) return failedTrade(undefined, index, error);
    throw error;
  }
  return header.readRow(value, index, where, repeated);
}
