/** A JSON book, held in memory, whose list of trades is read part by part. */
import { readWholeBook } from "../book.ts";
import { contextOf } from "../header.ts";
import { parseJson } from "../json.ts";
import type { RandomAccess } from "../parquet.ts";
import { isPlainObject } from "../schema/index.ts";
import { decodeText, readWholeText } from "../text.ts";
import type { ParsedTrade } from "../types.ts";
import { type ChunkedBook, type ChunkPlace, isRepeated, SCANNED_AT_ONCE, type ScannedTrade } from "./chunked-book.ts";

/** @throws BookError as `parseBook` */
export async function openJson(file: RandomAccess): Promise<ChunkedBook> {
  const bytes = new Uint8Array(await file.slice(0, file.byteLength));
  const written = parseJson(await readWholeText(decodeText(one(bytes))));
  const header = readWholeBook(written);
  const { trades, ...rest } = written as { readonly trades: readonly unknown[] };
  const idOf = (entry: unknown): string | undefined =>
    isPlainObject(entry) && typeof entry.id === "string" ? entry.id : undefined;
  return {
    ...contextOf(header),
    header: rest,
    async *scan() {
      for (let first = 0; first < trades.length; first += SCANNED_AT_ONCE)
        yield trades.slice(first, first + SCANNED_AT_ONCE).map((entry, i): ScannedTrade => ({
          id: idOf(entry),
          read: () => header.readEntry(entry, first + i, false),
        }));
    },
    async *read(place: ChunkPlace): AsyncGenerator<ParsedTrade> {
      const { first, rows } = place;
      const repeated = isRepeated(place);
      for (let index = first; index < first + rows; index++)
        yield header.readEntry(trades[index], index, repeated(index));
    },
  };
}

async function* one(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
