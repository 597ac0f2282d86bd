/** Finds the positions of the nonblank lines of a text without decoding it. */
import { decodeMarked, isBlank } from "../text.ts";
import type { RandomAccess } from "../parquet.ts";
import type { LineStart } from "./byte-lines.ts";
import type { ChunkPosition, RowsAt } from "./chunked-book.ts";

/** The number of bytes that are read from the file at a time. */
const SLICE = 1 << 20;

const LF = 0x0a;

/** Yields the positions of chunks of lines of a file, without counting blank lines. Cost: one pass over the bytes. */
export async function* chunksOfLines(
  file: RandomAccess,
  begin: LineStart,
  rowsAt: RowsAt,
): AsyncGenerator<ChunkPosition> {
  let { start, line } = begin;
  let rows = rowsAt(0);
  let first = 0;
  let found = 0;
  let number = line;
  let lineStart = start;
  let hasText = false;
  const chunk = (end: number): ChunkPosition => {
    const place = { first, rows: found - first, bytes: { start, end, line } };
    first = found;
    start = end;
    line = number;
    rows = rowsAt(start / file.byteLength);
    return place;
  };
  for (let at = start; at < file.byteLength;) {
    const slice = new Uint8Array(await file.slice(at, Math.min(at + SLICE, file.byteLength)));
    if (slice.length === 0) break; // the file has become shorter
    for (let used = 0; used < slice.length;) {
      const feed = slice.indexOf(LF, used);
      const end = feed < 0 ? slice.length : feed;
      hasText ||= hasLetter(slice, used, end);
      used = end + 1;
      if (feed < 0) break;
      if (hasText || !(await isBlankAt(file, lineStart, at + used))) found++;
      hasText = false;
      number++;
      lineStart = at + used;
      if (found - first === rows) yield chunk(lineStart);
    }
    at += slice.length;
  }
  if (lineStart < file.byteLength && (hasText || !(await isBlankAt(file, lineStart, file.byteLength)))) found++;
  if (found > first) yield chunk(file.byteLength);
}

/** Tells whether a range of bytes contains a printable ASCII character other than a space. Every line of JSON does. */
function hasLetter(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (bytes[at] > 0x20 && bytes[at] < 0x7f) return true;
  return false;
}

/**
 * Tells whether a line without such characters is blank. It is decoded for that, because there is white space outside
 * ASCII.
 */
async function isBlankAt(file: RandomAccess, start: number, end: number): Promise<boolean> {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  const text = decodeMarked(decoder, new Uint8Array(await file.slice(start, end)));
  return isBlank({ number: 0, text });
}
