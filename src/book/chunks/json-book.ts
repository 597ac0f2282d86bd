/**
 * A JSON book whose list of trades is read part by part, by several threads: no one parses all of it at once. A part
 * that is no JSON is found when it is read, and the whole book then says where and why.
 */
import { BookError } from "../../errors.ts";
import { readWholeBook } from "../book.ts";
import { type BookHeader, contextOf, readHeaderWith } from "../header.ts";
import { isWellNamed, parseJson } from "../json.ts";
import type { MarketFits } from "../moved-quotes.ts";
import type { RandomAccess } from "../parquet.ts";
import { isPlainObject } from "../schema/index.ts";
import { tagsOf } from "../tags.ts";
import { decodeText, readWholeText } from "../text.ts";
import type { ParsedTrade } from "../types.ts";
import { type ChunkedBook, AT_ONCE, type ChunkPlace, isRepeated, type ScannedTrade } from "./chunked-book.ts";
import { entryChunks, type EntryPlaces, entryPlaces } from "./entry-places.ts";

/**
 * Opens a JSON book whose trades are read in chunks. @throws BookError as `parseBook`; errors inside the list of trades
 * occur when the trades are read
 */
export async function openJson(file: RandomAccess): Promise<ChunkedBook> {
  const bytes = new Uint8Array(await file.slice(0, file.byteLength));
  const whole = async (): Promise<unknown> => parseJson(await readWholeText(decodeText(one(bytes))));
  const places = entryPlaces(bytes);
  const rest = places && headerIn(bytes, places);
  if (rest !== undefined) return bookOf(file, readWholeBook({ ...rest, trades: [] }), { rest, places, whole });
  const written = await whole();
  const header = readWholeBook(written);
  const { trades: _, ...others } = written as Record<string, unknown>;
  return bookOf(file, header, { rest: others, places, whole });
}

/**
 * Opens a JSON book whose parts other than its trades were read before, `rest`. Only chunks with byte positions can be
 * read. @throws BookError if `rest` cannot be used
 */
export function openJsonUnder(file: RandomAccess, rest: unknown, fits?: MarketFits): ChunkedBook {
  const whole = (): never => {
    throw new BookError("trades", "expected JSON, got something else");
  };
  return bookOf(file, readHeaderWith(rest, fits), { rest, places: undefined, whole });
}

/** A book as it is written. */
interface Written {
  /** The part of the book that is no trade. */
  readonly rest: unknown;
  /** Its trades; undefined where it has none, or only chunks are read. */
  readonly places: EntryPlaces | undefined;
  /** Parses all of it. @throws BookError with the line and the column where it is no JSON */
  readonly whole: () => unknown;
}

/** The book without its list of trades; undefined where what surrounds it is no JSON. */
function headerIn(bytes: Uint8Array, { start, ends }: EntryPlaces): Record<string, unknown> | undefined {
  try {
    const decoder = new TextDecoder("utf-8", { fatal: true });
    const before = decoder.decode(bytes.subarray(0, start));
    const written = parseJson(`${before}${decoder.decode(bytes.subarray(ends[ends.length - 1]))}`);
    if (!isPlainObject(written)) return undefined;
    const { trades: _, ...rest } = written;
    return rest;
  } catch {
    return undefined;
  }
}

function bookOf(file: RandomAccess, header: BookHeader, { rest, places, whole }: Written): ChunkedBook {
  let parsed: Promise<readonly unknown[]> | undefined;
  const all = (): Promise<readonly unknown[]> =>
    (parsed ??= Promise.resolve(whole()).then((book) => (book as { readonly trades: readonly unknown[] }).trades));
  const entriesAt = async ({ bytes: span, first, rows }: ChunkPlace): Promise<readonly unknown[]> => {
    const own = span && entriesIn(await file.slice(span.start, span.end), rows);
    return own ?? (await all()).slice(first, first + rows);
  };
  return {
    ...contextOf(header),
    header: rest,
    tags: async () => tagsOf(await all()),
    async *scan() {
      const trades = await all();
      for (let first = 0; first < trades.length; first += AT_ONCE)
        yield trades.slice(first, first + AT_ONCE).map((entry, i): ScannedTrade => ({
          id: isPlainObject(entry) && typeof entry.id === "string" ? entry.id : undefined,
          read: () => header.readEntry(entry, first + i, false),
        }));
    },
    async *places(rowsAt) {
      if (places !== undefined) yield* entryChunks(places, rowsAt);
    },
    async *read(place: ChunkPlace): AsyncGenerator<readonly ParsedTrade[]> {
      const { first } = place;
      const repeated = isRepeated(place);
      const entries = await entriesAt(place);
      yield entries.map((entry, i) => header.readEntry(entry, first + i, repeated(first + i)));
    },
  };
}

/** So many entries of a list; undefined where the text holds others, is no JSON, or has a name twice in an object. */
function entriesIn(bytes: ArrayBuffer, rows: number): readonly unknown[] | undefined {
  try {
    const text = `[${new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes)}]`;
    const entries = JSON.parse(text) as unknown[];
    return entries.length === rows && isWellNamed(text, entries) ? entries : undefined;
  } catch {
    return undefined;
  }
}

async function* one(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
