/** A JSON book, held in memory, whose list of trades is read part by part. */
import { readWholeBook } from "../book.ts";
import { type BookHeader, contextOf, readHeader } from "../header.ts";
import { tagsOf } from "../tags.ts";
import { parseJson } from "../json.ts";
import type { RandomAccess } from "../parquet.ts";
import { isPlainObject } from "../schema/index.ts";
import { decodeText, readWholeText } from "../text.ts";
import type { ParsedTrade } from "../types.ts";
import { type ChunkedBook, type ChunkPlace, isRepeated, SCANNED_AT_ONCE, type ScannedTrade } from "./chunked-book.ts";
import { entryPlaces } from "./entry-places.ts";

/** @throws BookError as `parseBook` */
export async function openJson(file: RandomAccess): Promise<ChunkedBook> {
  const bytes = new Uint8Array(await file.slice(0, file.byteLength));
  const written = parseJson(await readWholeText(decodeText(one(bytes))));
  const { trades, ...rest } = written as { readonly trades: readonly unknown[] };
  return bookOf(file, readWholeBook(written), { rest, trades, bytes });
}

/**
 * A book whose header somebody has read already: only the bytes of its chunks are read, which have to have a place.
 * @throws BookError an unusable header
 */
export function openJsonUnder(file: RandomAccess, rest: unknown): ChunkedBook {
  return bookOf(file, readHeader(rest), { rest, trades: [], bytes: new Uint8Array() });
}

/** A book as it is written: what is no trade, the trades, and all of its bytes. */
interface Written {
  readonly rest: unknown;
  readonly trades: readonly unknown[];
  readonly bytes: Uint8Array;
}

function bookOf(file: RandomAccess, header: BookHeader, { rest, trades, bytes }: Written): ChunkedBook {
  const idOf = (entry: unknown): string | undefined =>
    isPlainObject(entry) && typeof entry.id === "string" ? entry.id : undefined;
  return {
    ...contextOf(header),
    header: rest,
    tags: tagsOf(trades),
    async *scan() {
      for (let first = 0; first < trades.length; first += SCANNED_AT_ONCE)
        yield trades.slice(first, first + SCANNED_AT_ONCE).map((entry, i): ScannedTrade => ({
          id: idOf(entry),
          read: () => header.readEntry(entry, first + i, false),
        }));
    },
    async *places(rows: number) {
      yield* entryPlaces(bytes, rows);
    },
    async *read(place: ChunkPlace): AsyncGenerator<ParsedTrade> {
      const { first, rows } = place;
      const repeated = isRepeated(place);
      const entries =
        place.bytes === undefined ? trades.slice(first, first + rows) : await entriesAt(file, place.bytes);
      for (const [i, entry] of entries.entries()) yield header.readEntry(entry, first + i, repeated(first + i));
    },
  };
}

/** Entries of a list whose text has been found to be JSON. */
async function entriesAt(
  file: RandomAccess,
  { start, end }: { readonly start: number; readonly end: number },
): Promise<readonly unknown[]> {
  const text = new TextDecoder("utf-8", { fatal: true }).decode(await file.slice(start, end));
  return JSON.parse(`[${text}]`) as unknown[];
}

async function* one(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
