/** Reads the lines of a file with their byte positions, so that a range of lines can be read again later. */
import type { RandomAccess } from "../parquet.ts";
import { decodeMarked, refuseOtherEncodings, type Line, MAX_FIRST_LINE, MAX_LINE } from "../text.ts";

/** A line of a file, with the bytes `start` to `end` that it occupies, including its line break. */
export type ByteLine = Line & { readonly start: number; readonly end: number };

/** The number of bytes that are read from the file at a time. */
const SLICE = 1 << 20;

const LF = 0x0a;

/** The beginning of a line of a file: the position of its first byte, and the number of the line. */
export interface LineStart {
  readonly start: number;
  readonly line: number;
}

/**
 * Yields the lines of a file between two byte positions, as `readLines` does for text. Memory is bounded by the maximum
 * line length. @throws BookError for a file that is evidently not UTF-8 text
 */
export async function* byteLines(
  file: RandomAccess,
  { start: from, line: first }: LineStart = { start: 0, line: 1 },
  until: number = file.byteLength,
): AsyncGenerator<ByteLine, undefined> {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let number = first;
  let start = from;
  /** The pieces of the current line that were read so far; empty if the line is too long. */
  let pieces: Uint8Array[] = [];
  const take = (end: number): ByteLine => {
    const bytes = joined(pieces);
    const place = { number, start, end };
    const isTooLong = end - start > bytesOf(number);
    pieces = [];
    start = end;
    number++;
    return isTooLong ? { ...place, text: undefined } : { ...place, text: lineOf(bytes, decoder, place) };
  };
  for (let at = from; at < until;) {
    const slice = new Uint8Array(await file.slice(at, Math.min(at + SLICE, until)));
    if (at === 0 && slice.length > 1) refuseOtherEncodings(slice);
    let used = 0;
    for (let feed = slice.indexOf(LF); feed >= 0; feed = slice.indexOf(LF, used)) {
      pieces.push(slice.subarray(used, feed + 1));
      used = feed + 1;
      yield take(at + used);
    }
    if (at + slice.length - start <= bytesOf(number)) pieces.push(slice.subarray(used));
    else pieces = [];
    at += slice.length;
    if (slice.length === 0) break; // the file has become shorter
  }
  if (start < until) yield take(until);
}

/**
 * The maximum number of bytes of a line. A longer line has more characters than are allowed, because a character
 * (UTF-16 code unit) takes at most 3 bytes.
 */
function bytesOf(line: number): number {
  return 3 * (line === 1 ? MAX_FIRST_LINE : MAX_LINE);
}

function lineOf(
  bytes: Uint8Array,
  decoder: TextDecoder,
  { number, start }: { readonly number: number; readonly start: number },
): string | undefined {
  const marked = decodeMarked(decoder, bytes);
  const text = start === 0 && marked.startsWith("\ufeff") ? marked.slice(1) : marked;
  const line = text.replace(/\r?\n?$/, "");
  return line.length > (number === 1 ? MAX_FIRST_LINE : MAX_LINE) ? undefined : line;
}

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  if (pieces.length === 1) return pieces[0];
  const all = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}
