/** Where the entries of a JSON book's list of trades stand in its bytes. */
import type { ChunkPlace, RowsAt } from "./chunked-book.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const BRACKET = 0x5b;
const BRACKET_END = 0x5d;
const BRACE = 0x7b;
const BRACE_END = 0x7d;

/** The book's own members, and the entries of one of them that is a list, stand so deep. */
const MEMBERS = 1;
const ENTRIES = 2;

/**
 * Chunks of some entries of the member `trades`, which need not be parsed to be found: commas between entries stand
 * outside of strings and of inner brackets. Cost: one pass over the bytes, some 0.5 GB/s.
 * @param bytes text that is JSON in UTF-8. Nothing is checked here: of other text the chunks are not JSON, or what
 *   surrounds them is not.
 */
export function* entryPlaces(bytes: Uint8Array, rowsAt: RowsAt): Generator<ChunkPlace> {
  let depth = 0;
  let name = { start: 0, end: 0 };
  let inTrades = false;
  let first = 0;
  let found = 0;
  let start = 0;
  let rows = 0;
  let hasEntry = false;
  const chunk = (end: number): ChunkPlace => {
    const place = { first, rows: found - first, bytes: { start, end, line: 1 } };
    first = found;
    start = end + 1;
    rows = rowsAt(start / bytes.length);
    return place;
  };
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte > BACKSLASH && byte !== BRACKET_END && byte !== BRACE && byte !== BRACE_END) {
      if (depth === ENTRIES) hasEntry = true;
      continue;
    }
    if (byte === QUOTE) {
      const end = stringEnd(bytes, at);
      if (depth === MEMBERS) name = { start: at, end };
      if (depth === ENTRIES) hasEntry = true;
      at = end;
    } else if (byte === BRACKET || byte === BRACE) {
      if (depth === ENTRIES) hasEntry = true;
      if (depth++ === MEMBERS && byte === BRACKET && isTrades(bytes, name)) {
        inTrades = true;
        start = at + 1;
        rows = rowsAt(0);
        hasEntry = false;
      }
    } else if (byte === BRACKET_END || byte === BRACE_END) {
      if (depth-- === ENTRIES && inTrades) {
        if (hasEntry) found++;
        if (found > first) yield chunk(at);
        return;
      }
    } else if (depth === ENTRIES && inTrades) {
      if (byte === COMMA) {
        found++;
        if (found - first === rows) yield chunk(at);
      } else if (byte > 0x20) hasEntry = true;
    }
  }
}

/** The closing quote of a string; the end of the bytes where it has none. */
function stringEnd(bytes: Uint8Array, open: number): number {
  let at = open + 1;
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  return at;
}

function isTrades(bytes: Uint8Array, { start, end }: { readonly start: number; readonly end: number }): boolean {
  return JSON.parse(new TextDecoder().decode(bytes.subarray(start, end + 1))) === "trades";
}
