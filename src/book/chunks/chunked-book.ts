/** A book whose trades can be read part by part, by several processes, and again. */
import type { BookContext, Market, ParsedTrade } from "../types.ts";

/** The position in a book of consecutive trades, from which a reader can find them again. */
export interface ChunkPlace {
  /** The first trade's index in the book, from 0. */
  readonly first: number;
  /** The number of trades. */
  readonly rows: number;
  /** The indices of trades whose ids repeat those of earlier trades; undefined for none. */
  readonly repeated?: readonly number[] | undefined;
  /**
   * The bytes `start` to `end` of the file: lines of text, the first of them line number `line`; or entries of the list
   * of a JSON book, whose lines are not counted.
   */
  readonly bytes?: { readonly start: number; readonly end: number; readonly line: number } | undefined;
}

/** A function for the number of trades of the chunk that begins at a fraction of the file from 0 to 1. */
export type RowsAt = (part: number) => number;

/** A trade that has been found and not yet read. */
export interface ScannedTrade {
  /** The id as written; undefined for a trade without one, or an entry that is not a trade. */
  readonly id: string | undefined;
  readonly bytes?: NonNullable<ChunkPlace["bytes"]>;
  /** Reads the trade, without regard to repeated ids. */
  read(): ParsedTrade;
}

/** A book that can be read from any position. */
export interface ChunkedBook extends BookContext {
  readonly market: Market;
  /** The market and other parts of the book but the trades, as written, for a hash. */
  readonly header: unknown;
  /**
   * Returns the names of all tags; undefined where they are known only from the trades. @throws BookError a JSON book
   * that is not JSON
   */
  tags(): Promise<readonly string[] | undefined>;
  /** Yields all trades in the book's order, some thousands at a time. */
  scan(): AsyncIterable<readonly ScannedTrade[]>;
  /** Yields the positions of chunks, found without reading the trades. */
  places(rows: RowsAt): AsyncIterable<ChunkPlace>;
  /** Yields the trades of a chunk in batches. */
  read(place: ChunkPlace): AsyncIterable<readonly ParsedTrade[]>;
}

/**
 * The approximate number of trades that `scan` and `read` yield at a time, since awaiting each costs more than reading
 * it.
 */
export const AT_ONCE = 4096;

/** Collects items into lists of some thousands. */
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

/** Returns a test of whether the trade of an index has a repeated id. */
export function isRepeated({ repeated }: ChunkPlace): (index: number) => boolean {
  const indices = new Set(repeated);
  return (index) => indices.has(index);
}
