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
