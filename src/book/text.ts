import { BookError } from "../base/errors.ts";

/** Yields the items of lists that arrive one after another, one by one. */
export async function* flatten<T>(batches: AsyncIterable<readonly T[]>): AsyncGenerator<T, undefined> {
  for await (const batch of batches) yield* batch;
}

/** Tells whether a line has only white space. */
export function isBlank({ text }: Line): boolean {
  return text !== undefined && text.trim() === "";
}

/** A line of a text, without its line break. Numbers count from 1. */
export type Line =
  | { readonly number: number; readonly text: string }
  /** A line that is longer than the limit. It is skipped and never held in memory. */
  | { readonly number: number; readonly text: undefined };

/** The maximum length in characters of a line with a trade. */
export const MAX_LINE = 1 << 20;
/** The maximum length in characters of the first line, which may hold a whole market. */
export const MAX_FIRST_LINE = 1 << 26;

/**
 * Splits text into lines, which end with LF or CRLF. Each chunk of text that completes lines yields a list of them.
 * Memory is bounded by the maximum line length.
 */
export async function* readLines(chunks: AsyncIterable<string>): AsyncGenerator<Line[]> {
  const splitter = new LineSplitter();
  for await (const chunk of chunks) {
    const lines = splitter.push(chunk);
    if (lines.length > 0) yield lines;
  }
  const last = splitter.end();
  if (last.length > 0) yield last;
}

class LineSplitter {
  /** The pieces of the current line. They are joined once, so that the time for a long line is linear. */
  #pieces: string[] = [];
  #length = 0;
  #tooLong = false;
  #number = 1;

  push(chunk: string): Line[] {
    const lines: Line[] = [];
    let start = 0;
    for (let end = chunk.indexOf("\n"); end >= 0; end = chunk.indexOf("\n", start)) {
      this.#add(chunk.slice(start, end));
      this.#finish(lines);
      start = end + 1;
    }
    this.#add(chunk.slice(start));
    return lines;
  }

  end(): Line[] {
    const lines: Line[] = [];
    if (this.#length > 0 || this.#tooLong) this.#finish(lines);
    return lines;
  }

  #add(piece: string): void {
    if (this.#tooLong || piece === "") return;
    this.#length += piece.length;
    this.#tooLong = this.#length > (this.#number === 1 ? MAX_FIRST_LINE : MAX_LINE);
    if (this.#tooLong) this.#pieces = [];
    else this.#pieces.push(piece);
  }

  #finish(lines: Line[]): void {
    const text = this.#pieces.length === 1 ? this.#pieces[0] : this.#pieces.join("");
    if (this.#tooLong) lines.push({ number: this.#number, text: undefined });
    else lines.push({ number: this.#number, text: text.endsWith("\r") ? text.slice(0, -1) : text });
    this.#pieces = [];
    this.#length = 0;
    this.#tooLong = false;
    this.#number++;
  }
}

/** The bytes of a file, a socket or standard input, in pieces of any length. */
export type ByteStream = AsyncIterable<Uint8Array>;

/**
 * Replaces invalid UTF-8. It is half of a surrogate pair, which valid UTF-8 never contains, so that `findInvalid` can
 * find it and only the line that contains it is an error.
 */
const INVALID = "\udcff";

/**
 * Decodes UTF-8 text piece by piece. A byte order mark is dropped. Invalid UTF-8 is replaced by a mark, so that only
 * the line that contains it is an error. @throws BookError for compressed or UTF-16 input
 */
export async function* decodeText(bytes: ByteStream): AsyncGenerator<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let rest: Uint8Array = new Uint8Array();
  let first = true;
  for await (const chunk of bytes) {
    const all = joined(rest, chunk);
    if (first && all.length > 1) refuseOtherEncodings(all);
    const end = wholeCharacters(all);
    rest = all.slice(end);
    if (end === 0) continue;
    const text = decodeMarked(decoder, all.subarray(0, end));
    yield first && text.startsWith("\ufeff") ? text.slice(1) : text;
    first = false;
  }
  if (rest.length > 0) yield decodeMarked(decoder, rest);
}

function joined(a: Uint8Array, b: Uint8Array): Uint8Array {
  if (a.length === 0) return b;
  const both = new Uint8Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}

/** The number of bytes up to the last complete character. */
function wholeCharacters(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back];
    if (byte < 0x80) break;
    if (byte < 0xc0) continue; // a character's second byte or a later one
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    return length > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

/**
 * Decodes bytes as UTF-8. If some are invalid, it decodes line by line and puts a mark into the affected lines only.
 */
export function decodeMarked(decoder: TextDecoder, bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch {
    const lines = linesOf(bytes);
    if (lines.length > 1) return lines.map((line) => decodeMarked(decoder, line)).join("");
    return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes).replaceAll("\ufffd", INVALID);
  }
}

function linesOf(bytes: Uint8Array): Uint8Array[] {
  const lines: Uint8Array[] = [];
  for (let start = 0; start < bytes.length;) {
    const end = bytes.indexOf(0x0a, start) + 1 || bytes.length;
    lines.push(bytes.subarray(start, end));
    start = end;
  }
  return lines;
}

/** The error message for text with invalid or truncated UTF-8. */
export const NOT_UTF8 = "expected UTF-8 text, got other bytes; save the file as UTF-8";

/** Returns the index of the first mark that stands for invalid UTF-8; −1 if there is none. */
export function findInvalid(text: string): number {
  return text.search(/\p{Surrogate}/u);
}

/** Checks the first bytes of a text for encodings other than UTF-8 and for compression. @throws BookError */
export function refuseOtherEncodings([a, b]: Uint8Array): void {
  if (a === 0x1f && b === 0x8b)
    throw new BookError("", "the input is compressed (gzip); decompress it first: gunzip -c FILE | feynkac price -");
  if ((a === 0xff && b === 0xfe) || (a === 0xfe && b === 0xff))
    throw new BookError("", "the input is UTF-16; save it as UTF-8");
}

/** The maximum length of a whole text. V8's maximum is 2²⁹ − 24 code units, and larger books should be NDJSON. */
const MAX_WHOLE = 1 << 28;

/** Returns the concatenation of all pieces of a text. @throws BookError when it is longer than 256 Mi characters */
export async function readWholeText(chunks: AsyncIterable<string>): Promise<string> {
  const parts: string[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    length += chunk.length;
    if (length > MAX_WHOLE)
      throw new BookError(
        "",
        "the book is too large to be read at once (256 MiB); write its trades as NDJSON, one a line, which is streamed",
      );
    parts.push(chunk);
  }
  return parts.join("");
}
