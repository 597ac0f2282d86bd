/** A book whose trades can be read part by part, by several processes, and again. */
import type { BookContext, Market, ParsedTrade } from "../types.ts";

/** The place in a book of some trades that follow one another: what a reader needs to find them again. */
export interface ChunkPlace {
  /** The first trade's index in the book, from 0. */
  readonly first: number;
  /** The number of trades. */
  readonly rows: number;
  /** The indices of those whose ids belong to earlier trades of the book; undefined for none. */
  readonly repeated?: readonly number[] | undefined;
  /**
   * The bytes `start` to `end` of the file: lines of text, the first of them line number `line`; or entries of the list
   * of a JSON book, whose lines nobody counts.
   */
  readonly bytes?: { readonly start: number; readonly end: number; readonly line: number } | undefined;
}

/** Returns the number of trades of the chunk that begins behind a part of the file, which is from 0 to 1. */
export type RowsAt = (part: number) => number;

/** A trade that has been found, and not read yet. */
export interface ScannedTrade {
  /** The id as written; undefined where it has none, or where it is no trade at all. */
  readonly id: string | undefined;
  readonly bytes?: NonNullable<ChunkPlace["bytes"]>;
  /** Reads it, as if no other trade had its id. */
  read(): ParsedTrade;
}

/** A book that can be read from any place. */
export interface ChunkedBook extends BookContext {
  readonly market: Market;
  /** The market as it is written, with all that is not a trade: for a hash. */
  readonly header: unknown;
  /**
   * The names of all tags; undefined where only the trades tell, which are read one by one.
   * @throws BookError a JSON book that is no JSON
   */
  tags(): Promise<readonly string[] | undefined>;
  /** All trades in the book's order, some thousands at a time. */
  scan(): AsyncIterable<readonly ScannedTrade[]>;
  /** The places of the trades, some at a time, found without reading them. */
  places(rows: RowsAt): AsyncIterable<ChunkPlace>;
  /** The trades of a chunk, as many at a time. */
  read(place: ChunkPlace): AsyncIterable<readonly ParsedTrade[]>;
}

/**
 * The number of trades that `scan` and `read` give at a time, about: to wait for each of them costs more than to read
 * it.
 */
export const AT_ONCE = 4096;

/** Collects items into lists of some thousand. */
export async function* inLists<T>(items: AsyncIterable<T>): AsyncGenerator<T[]> {
  let list: T[] = [];
  for await (const item of items) {
    list.push(item);
    if (list.length < AT_ONCE) continue;
    yield list;
    list = [];
  }
  if (list.length > 0) yield list;
}

/** Tells whether the trade of an index is one of those whose id is taken. */
export function isRepeated({ repeated }: ChunkPlace): (index: number) => boolean {
  const indices = new Set(repeated);
  return (index) => indices.has(index);
}
