/** The interface of a book whose trades can be read in chunks, repeatedly and by several processes. */
import type { BookContext, Market, ParsedTrade } from "../types.ts";

/**
 * The position of a chunk of a book, which is a sequence of consecutive trades. A reader can find the trades again by
 * it.
 */
export interface ChunkPosition {
  /** The first trade's index in the book, from 0. */
  readonly first: number;
  /** The number of trades. */
  readonly rows: number;
  /** The indexes of trades whose ids are also those of earlier trades; undefined if there are none. */
  readonly repeated?: readonly number[] | undefined;
  /**
   * The bytes `start` to `end` of the file that contain the trades. They are lines of text, the first of which has the
   * number `line`; or entries of the list in a JSON book, whose lines are not counted.
   */
  readonly bytes?: { readonly start: number; readonly end: number; readonly line: number } | undefined;
}

/**
 * A function that returns the number of trades that a chunk shall have. Its argument is the fraction of the file, from
 * 0 to 1, at which the chunk begins.
 */
export type RowsAt = (part: number) => number;

/** A trade whose position in the file has been found and whose terms are not read yet. */
export interface ScannedTrade {
  /** The trade's id; undefined for a trade without one, or for an entry that is not a trade. */
  readonly id: string | undefined;
  /** The position of the trade in the file, if it is text. */
  readonly bytes?: NonNullable<ChunkPosition["bytes"]>;
  /** Reads the trade. It does not check whether the id is repeated. */
  read(): ParsedTrade;
}

/** A book whose trades can be read from any position, in chunks of consecutive trades. */
export interface ChunkedBook extends BookContext {
  readonly market: Market;
  /**
   * The market and all other parts of the book except its trades, in the book's own form, from which a hash is
   * computed.
   */
  readonly header: unknown;
  /**
   * Returns the names of all tags of trades; undefined if they are known only after reading the trades. @throws
   * BookError a JSON book that is not JSON
   */
  tags(): Promise<readonly string[] | undefined>;
  /** Yields all trades in the book's order, some thousands at a time, before they are read. */
  scan(): AsyncIterable<readonly ScannedTrade[]>;
  /** Yields the positions of chunks. Their trades are not read. */
  places(rows: RowsAt): AsyncIterable<ChunkPosition>;
  /** Yields the trades of a chunk in batches. */
  read(chunk: ChunkPosition): AsyncIterable<readonly ParsedTrade[]>;
}

/**
 * The approximate number of trades that `scan` and `read` yield together. Awaiting each trade separately would cost
 * more than reading it.
 */
export const TRADES_PER_LIST = 4096;

/** Collects items that arrive one by one into lists of `TRADES_PER_LIST` items; the last list may be shorter. */
export async function* inLists<T>(items: AsyncIterable<T>): AsyncGenerator<T[]> {
  let list: T[] = [];
  for await (const item of items) {
    list.push(item);
    if (list.length < TRADES_PER_LIST) continue;
    yield list;
    list = [];
  }
  if (list.length > 0) yield list;
}

/** Returns a function that tells whether the trade with a given index has the id of an earlier trade. */
export function isRepeated({ repeated }: ChunkPosition): (index: number) => boolean {
  const indices = new Set(repeated);
  return (index) => indices.has(index);
}
