/**
 * Reads the list of trades of a JSON book in chunks, so that several threads can share the work and none has to parse
 * the whole text. If the text of a chunk is not valid JSON, the whole book is parsed to report the position of the
 * error.
 */
import { BookError } from "../../base/errors.ts";
import { readWholeBook, type BookHeader, contextOf, readHeaderWith } from "../book.ts";
import { isWellNamed, parseJson } from "../json.ts";
import type { MarketFits } from "../moved-quotes.ts";
import type { RandomAccess } from "../parquet.ts";
import { isPlainObject } from "../schema/index.ts";
import { tagsOf } from "../columns.ts";
import { decodeText, readWholeText } from "../text.ts";
import type { ParsedTrade } from "../types.ts";
import {
  type ChunkedBook,
  TRADES_PER_LIST,
  type ChunkPosition,
  isRepeated,
  type ScannedTrade,
  type RowsAt,
} from "./chunked-book.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const BRACKET = 0x5b;
const BRACE = 0x7b;
const BRACE_END = 0x7d;
/** The only bit in which the codes of `[` and `{`, and those of `]` and `}`, differ. */
const BRACKET_TO_BRACE = 0x20;

/** The nesting depths of the book's members, and of the entries of a list that is such a member. */
const MEMBERS = 1;
const ENTRIES = 2;

/** The byte positions of the entries of a JSON list: the start of the first entry, and the end of each. */
interface EntryPlaces {
  readonly start: number;
  readonly ends: readonly number[];
}

/**
 * Finds the entries of the list `trades` in a JSON book without parsing them, by the commas outside strings and inner
 * brackets. Cost: one pass over the bytes, about 0.5 GB/s.
 *
 * @param bytes UTF-8 text of JSON, which is not checked.
 * @returns undefined if there is no such list, or if it is empty.
 */
function entryPlaces(bytes: Uint8Array): EntryPlaces | undefined {
  const ends: number[] = [];
  let depth = 0;
  let name = { start: 0, end: 0 };
  let inTrades = false;
  let start = 0;
  let hasEntry = false;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      const end = stringEnd(bytes, at);
      if (depth === MEMBERS) name = { start: at, end };
      if (depth === ENTRIES) hasEntry = true;
      at = end;
    } else if ((byte | BRACKET_TO_BRACE) === BRACE) {
      if (depth === ENTRIES) hasEntry = true;
      if (depth++ === MEMBERS && byte === BRACKET && isTrades(bytes, name)) {
        inTrades = true;
        start = at + 1;
        hasEntry = false;
      }
    } else if ((byte | BRACKET_TO_BRACE) === BRACE_END) {
      if (depth-- === ENTRIES && inTrades) {
        if (hasEntry) ends.push(at);
        return ends.length === 0 ? undefined : { start, ends };
      }
    } else if (depth === ENTRIES && inTrades) {
      if (byte === COMMA) ends.push(at);
      else if (byte > 0x20) hasEntry = true;
    }
  }
  return undefined;
}

/** Yields the positions of chunks of consecutive entries of a JSON list. */
function* entryChunks({ start, ends }: EntryPlaces, rowsAt: RowsAt): Generator<ChunkPosition> {
  for (let first = 0, next = 0; first < ends.length; first = next) {
    next = Math.min(first + rowsAt(first / ends.length), ends.length);
    const bytes = { start: first === 0 ? start : ends[first - 1] + 1, end: ends[next - 1], line: 1 };
    yield { first, rows: next - first, bytes };
  }
}

/** Returns the position of the closing quote of a string, or the number of bytes if there is none. */
function stringEnd(bytes: Uint8Array, open: number): number {
  let at = open + 1;
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  return at;
}

function isTrades(bytes: Uint8Array, { start, end }: { readonly start: number; readonly end: number }): boolean {
  return JSON.parse(new TextDecoder().decode(bytes.subarray(start, end + 1))) === "trades";
}

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
  const entriesAt = async ({ bytes: span, first, rows }: ChunkPosition): Promise<readonly unknown[]> => {
    const own = span && entriesIn(await file.slice(span.start, span.end), rows);
    return own ?? (await all()).slice(first, first + rows);
  };
  return {
    ...contextOf(header),
    header: rest,
    tags: async () => tagsOf(await all()),
    async *scan() {
      const trades = await all();
      for (let first = 0; first < trades.length; first += TRADES_PER_LIST)
        yield trades.slice(first, first + TRADES_PER_LIST).map((entry, i): ScannedTrade => ({
          id: isPlainObject(entry) && typeof entry.id === "string" ? entry.id : undefined,
          read: () => header.readEntry(entry, first + i, false),
        }));
    },
    async *places(rowsAt) {
      if (places !== undefined) yield* entryChunks(places, rowsAt);
    },
    async *read(chunk: ChunkPosition): AsyncGenerator<readonly ParsedTrade[]> {
      const { first } = chunk;
      const repeated = isRepeated(chunk);
      const entries = await entriesAt(chunk);
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
