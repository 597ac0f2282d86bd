/**
 * Reads the list of trades of a JSON book in chunks, so that several threads can share the work and none has to parse
 * the whole text. If the text of a chunk is not valid JSON, the whole book is parsed to report the position of the
 * error.
 */
import { BookError } from "../../base/errors.ts";
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
 * Opens a JSON book of which `rest`, the members other than its trades, was parsed before. Only chunks with byte
 * positions can be read. @throws BookError if `rest` cannot be used
 */
export function openJsonUnder(file: RandomAccess, rest: unknown, fits?: MarketFits): ChunkedBook {
  const whole = (): never => {
    throw new BookError("trades", "expected JSON, got something else");
  };
  return bookOf(file, readHeaderWith(rest, fits), { rest, places: undefined, whole });
}

/** The contents of a JSON book. */
interface Written {
  /** The members of the book other than its trades. */
  readonly rest: unknown;
  /** The positions of the trades; undefined if there are none, or if only given chunks will be read. */
  readonly places: EntryPlaces | undefined;
  /** Parses the whole book. @throws BookError with line and column if it is not valid JSON */
  readonly whole: () => unknown;
}

/**
 * Parses a book without its list of trades. Returns undefined if the text around the list is not a valid JSON object.
 */
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

/**
 * Parses `rows` entries of a list. Returns undefined if the text is not valid JSON, has another number of entries, or
 * has an object that repeats a name.
 */
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
