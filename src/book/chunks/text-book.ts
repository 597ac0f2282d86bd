/** Reads the trades of NDJSON and CSV files in chunks of lines. */
import { BookError } from "../../base/errors.ts";
import { idOf, type TableOptions, tagNames } from "../columns.ts";
import { csvColumns, readCsvRow, readCells } from "../csv.ts";
import { type BookHeader, contextOf } from "../book.ts";
import { parseJson } from "../json.ts";
import { isBlank } from "../text.ts";
import type { MarketFits } from "../moved-quotes.ts";
import { readNdjsonHeader, readNdjsonLine } from "../ndjson.ts";
import type { RandomAccess } from "../parquet.ts";
import type { ParsedTrade } from "../types.ts";
import { type ByteLine, byteLines, type LineStart } from "./byte-lines.ts";
import { chunksOfLines } from "./lines.ts";
import { type ChunkedBook, type ChunkPosition, inLists, isRepeated, type ScannedTrade } from "./chunked-book.ts";

/** Reads the trade on a line. */
interface LineReader {
  /** Returns the id, also if the line is not a valid trade; undefined if there is none. */
  id(line: ByteLine): string | undefined;
  read(line: ByteLine, index: number, repeated: boolean): ParsedTrade;
}

/** A text file of trades, which start at the line `begin`, and the header that they refer to. */
interface Text {
  readonly file: RandomAccess;
  readonly header: BookHeader;
  readonly written: unknown;
  readonly begin: LineStart;
  readonly reader: LineReader;
  readonly tags: readonly string[] | undefined;
}

/**
 * Opens an NDJSON book whose trades are read in chunks. `beside` is a market from a separate file, if there is one.
 * @throws BookError as `readNdjson`; a header that contains trades
 */
export async function openNdjson(
  file: RandomAccess,
  beside: SeparateMarket | undefined,
  fits?: MarketFits,
): Promise<ChunkedBook> {
  if (beside !== undefined) return bookOf(ndjson(file, beside.header, beside.written, { start: 0, line: 1 }));
  const first = await firstLine(byteLines(file));
  const header = readNdjsonHeader(first, fits);
  if (header.trades.length > 0)
    throw new BookError(
      "trades",
      "expected none in the first line; of a run in parts, each trade has a line of its own",
    );
  return bookOf(ndjson(file, header, parseJson(first?.text ?? ""), after(first)));
}

/** A market from a separate file: `header` after reading, and `written` as the plain data of the file. */
export interface SeparateMarket {
  readonly header: BookHeader;
  readonly written: unknown;
}

/** Opens a CSV book whose trades are read in chunks. @throws BookError as `readCsv` */
export async function openCsv(
  file: RandomAccess,
  { header, written }: SeparateMarket,
  options?: TableOptions,
): Promise<ChunkedBook> {
  const first = await firstLine(byteLines(file));
  const columns = await csvColumns(first && readCells(first), () => rowsOf(file, after(first)), options);
  const reader: LineReader = {
    id: (line) => {
      const { cells } = readCells(line);
      return cells && idOf(columns, cells);
    },
    read: (line, index, repeated) => readCsvRow(readCells(line), index, columns, header, repeated),
  };
  return bookOf({ file, header, written, begin: after(first), reader, tags: tagNames(columns) });
}

async function* rowsOf(file: RandomAccess, begin: LineStart): AsyncGenerator<ReturnType<typeof readCells>> {
  for await (const line of byteLines(file, begin)) if (!isBlank(line)) yield readCells(line);
}

function ndjson(file: RandomAccess, header: BookHeader, written: unknown, begin: LineStart): Text {
  const reader: LineReader = {
    id: ({ text }) => idOfJson(text),
    read: (line, index, repeated) => readNdjsonLine(line, index, header, repeated),
  };
  return { file, header, written, begin, reader, tags: undefined };
}

function idOfJson(text: string | undefined): string | undefined {
  try {
    const { id } = JSON.parse(text ?? "{}") as { readonly id?: unknown };
    return typeof id === "string" ? id : undefined;
  } catch {
    return undefined;
  }
}

async function firstLine(lines: AsyncIterable<ByteLine>): Promise<ByteLine | undefined> {
  for await (const line of lines) if (!isBlank(line)) return line;
  return undefined;
}

function after(line: ByteLine | undefined): LineStart {
  return { start: line?.end ?? 0, line: (line?.number ?? 0) + 1 };
}

function bookOf({ file, header, written, begin, reader, tags }: Text): ChunkedBook {
  return {
    ...contextOf(header),
    header: written,
    tags: () => Promise.resolve(tags),
    scan: () => inLists(scanned()),
    places: (rowsAt) => chunksOfLines(file, begin, rowsAt),
    read: (chunk) => inLists(trades(chunk)),
  };

  async function* scanned(): AsyncGenerator<ScannedTrade> {
    let index = 0;
    for await (const line of byteLines(file, begin)) {
      if (isBlank(line)) continue;
      const { start, end, number } = line;
      const at = index++;
      yield { id: reader.id(line), bytes: { start, end, line: number }, read: () => reader.read(line, at, false) };
    }
  }

  async function* trades(chunk: ChunkPosition): AsyncGenerator<ParsedTrade> {
    const { first, bytes } = chunk;
    const repeated = isRepeated(chunk);
    let index = first;
    for await (const line of byteLines(file, bytes, bytes?.end)) {
      if (isBlank(line)) continue;
      yield reader.read(line, index, repeated(index));
      index++;
    }
  }
}
