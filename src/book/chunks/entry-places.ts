/** Finds the byte positions of the entries in the list of trades of a JSON book. */
import type { ChunkPlace, RowsAt } from "./chunked-book.ts";

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
export interface EntryPlaces {
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
export function entryPlaces(bytes: Uint8Array): EntryPlaces | undefined {
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
export function* entryChunks({ start, ends }: EntryPlaces, rowsAt: RowsAt): Generator<ChunkPlace> {
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
