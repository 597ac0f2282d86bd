import { BookError } from "../../base/errors.ts";
import { type TableOptions, idOf, tagNames } from "../columns.ts";
import { readMarketFile, contextOf } from "../book.ts";
import { parseJson } from "../json.ts";
import type { MarketFits } from "../moved-quotes.ts";
import { type RandomAccess, openTable } from "../parquet.ts";
import { decodeText, readWholeText } from "../text.ts";
import { type ChunkedBook, type ChunkPosition, inLists, isRepeated, type ScannedTrade } from "./chunked-book.ts";
import { openJson, openJsonUnder } from "./json-book.ts";
import { type SeparateMarket, openCsv, openNdjson } from "./text-book.ts";
import type { ParsedTrade } from "../types.ts";

/**
 * Opens a Parquet book whose trades are read in chunks. Its market comes from a separate file: `header` as it was read,
 * `written` as the plain data of the file. @throws BookError as `readParquet`
 */
async function openParquet(
  file: RandomAccess,
  { header, written }: SeparateMarket,
  options?: TableOptions,
): Promise<ChunkedBook> {
  const table = await openTable(file, header, options);
  return {
    ...contextOf(header),
    header: written,
    tags: () => Promise.resolve(tagNames(table.columns)),
    scan: () => inLists(scanned()),
    async *places(rowsAt) {
      for (let first = 0, rows = 0; first < table.total; first += rows) {
        rows = Math.min(rowsAt(first / table.total), table.total - first);
        yield { first, rows };
      }
    },
    read: (chunk) => inLists(trades(chunk)),
  };

  async function* scanned(): AsyncGenerator<ScannedTrade> {
    for await (const { cells, index } of table.rows(0, table.total))
      yield { id: idOf(table.columns, cells), read: () => table.read(cells, index, false) };
  }

  async function* trades(chunk: ChunkPosition): AsyncGenerator<ParsedTrade> {
    const repeated = isRepeated(chunk);
    for await (const { cells, index } of table.rows(chunk.first, chunk.first + chunk.rows))
      yield table.read(cells, index, repeated(index));
  }
}

/** The format of a book that is read in chunks of trades. */
export type ChunkedFormat = "json" | "ndjson" | "csv" | "parquet";

/** The options of `openChunkedBook`. */
export interface ChunkedBookOptions extends TableOptions {
  /**
   * All parts of a JSON book except its trades (`ChunkedBook.header`), if they were read before. Then chunks need byte
   * positions (`bytes`), and only these bytes are read.
   */
  readonly header?: unknown;
  /**
   * The volatilities that another thread or process fitted to the quotes of the market, so that they are not fitted
   * again.
   */
  readonly fits?: MarketFits | undefined;
}

/**
 * Opens a book whose trades are read in chunks. `market` is a separate file with the market, if there is one. @throws
 * BookError an unusable book or market
 */
export async function openChunkedBook(
  file: RandomAccess,
  format: ChunkedFormat,
  market: RandomAccess | undefined,
  { header, fits, ...table }: ChunkedBookOptions = {},
): Promise<ChunkedBook> {
  const beside = market && (await readBeside(market, fits));
  if (format !== "csv" && format !== "parquet" && ((table.keep ?? []).length > 0 || table.map !== undefined))
    throw new BookError(
      "",
      'only columns of CSV or Parquet can be kept or mapped; in JSON a trade has "tags": { "desk": "Paris" }',
    );
  switch (format) {
    case "json":
      if (beside !== undefined) throw new BookError("market", "a JSON book has its own; no other can stand beside it");
      return header === undefined ? openJson(file) : openJsonUnder(file, header, fits);
    case "ndjson":
      return openNdjson(file, beside, fits);
    case "csv":
      return openCsv(file, needed(beside), table);
    case "parquet":
      return openParquet(file, needed(beside), table);
    default:
      return format satisfies never;
  }
}

async function readBeside(file: RandomAccess, fits: MarketFits | undefined): Promise<SeparateMarket> {
  const bytes = new Uint8Array(await file.slice(0, file.byteLength));
  const written = parseJson(await readWholeText(decodeText(one(bytes))));
  return { header: readMarketFile(written, fits), written };
}

async function* one(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

function needed(beside: SeparateMarket | undefined): SeparateMarket {
  if (beside === undefined) throw new BookError("market", "a table of trades needs a market beside it, got none");
  return beside;
}
