/** Divides a book into chunks with about the same expected cost. */
import { SeenIds } from "../book.ts";
import type { ParsedTrade } from "../types.ts";
import type { ChunkedBook, ChunkPosition, ScannedTrade } from "./chunked-book.ts";

/** The limits of a chunk of consecutive trades. The chunk ends when it reaches either of them. */
export interface ChunkLimits {
  /** The maximum number of trades. */
  readonly rows: number;
  /** The maximum expected time of pricing the trades on one core, in seconds. */
  readonly seconds: number;
}

/** A chunk of consecutive trades, with the seconds that pricing it is expected to take on one core. */
export interface Chunk extends ChunkPosition {
  readonly seconds: number;
}

/**
 * A function that returns the expected seconds on one core for pricing each of the given trades; 0 for a trade that
 * cannot be priced.
 */
export type CostOf = (trades: readonly ParsedTrade[]) => readonly number[];

/**
 * The cost is computed for every 16th trade only. The trades between are assumed to cost as much as the last one
 * computed.
 */
const COST_SAMPLE = 16;

/** The maximum number of bytes of text in a chunk. */
const MAX_BYTES = 1 << 25;

/**
 * Divides a book into chunks of consecutive trades. The result depends only on the book, the limits and the costs.
 * Memory is bounded by the number of chunks and of ids (`SeenIds`).
 */
export async function cutBook(book: ChunkedBook, limits: ChunkLimits, costOf: CostOf): Promise<readonly Chunk[]> {
  const chunks: Chunk[] = [];
  const seen = new SeenIds();
  const again = new SeenIds();
  let open: OpenChunk | undefined;
  let first = 0;
  let cost = 0;
  for await (const trades of book.scan()) {
    const sampled = trades.filter((_, i) => (first + i) % COST_SAMPLE === 0);
    const costs = costOf(sampled.map((trade) => trade.read()));
    let next = 0;
    for (const [i, trade] of trades.entries()) {
      if ((first + i) % COST_SAMPLE === 0) cost = costs[next++];
      if (trade.id !== undefined && seen.seenBefore(trade.id)) again.seenBefore(trade.id);
      if (open === undefined || isFull(open, trade, limits)) {
        if (open !== undefined) chunks.push(open);
        open = { first: first + i, rows: 0, seconds: 0, bytes: trade.bytes };
      }
      grow(open, trade, cost);
    }
    first += trades.length;
  }
  if (open !== undefined) chunks.push(open);
  return again.count === 0 ? chunks : withRepeated(chunks, await repeatedIn(book, again));
}

type OpenChunk = { -readonly [K in keyof Chunk]: Chunk[K] };

function isFull({ rows, seconds, bytes }: OpenChunk, trade: ScannedTrade, limits: ChunkLimits): boolean {
  const length = (trade.bytes?.end ?? 0) - (bytes?.start ?? 0);
  return rows >= limits.rows || seconds >= limits.seconds || length > MAX_BYTES;
}

function grow(chunk: OpenChunk, { bytes }: ScannedTrade, cost: number): void {
  chunk.rows++;
  chunk.seconds += cost;
  if (chunk.bytes !== undefined && bytes !== undefined) chunk.bytes = { ...chunk.bytes, end: bytes.end };
}

/**
 * Returns the indices of the trades whose id an earlier trade has, among the given ids. A trade that cannot be read has
 * no id, as for a reader of the whole book.
 */
async function repeatedIn(book: ChunkedBook, ids: SeenIds): Promise<number[]> {
  const taken = new SeenIds();
  const repeated: number[] = [];
  let index = 0;
  for await (const trades of book.scan())
    for (const trade of trades) {
      const at = index++;
      if (trade.id === undefined || !ids.has(trade.id)) continue;
      const parsed = trade.read();
      if (parsed.ok && taken.seenBefore(parsed.trade.id)) repeated.push(at);
    }
  return repeated;
}

function withRepeated(chunks: readonly Chunk[], repeated: readonly number[]): readonly Chunk[] {
  let next = 0;
  return chunks.map((chunk) => {
    const begin = next;
    while (next < repeated.length && repeated[next] < chunk.first + chunk.rows) next++;
    return next === begin ? chunk : { ...chunk, repeated: repeated.slice(begin, next) };
  });
}
