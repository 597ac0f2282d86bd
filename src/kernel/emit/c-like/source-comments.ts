import type { Place, SourceText } from "../../ir.ts";
import type { Lines } from "./lines.ts";

const maxQuote = 100;

/** Writes a comment with the kernel's source line into the generated code whenever that line changes. */
export class SourceComments {
  readonly #sources: readonly SourceText[];
  readonly #linesOf = new Map<number, readonly string[]>();
  #last = "";

  constructor(sources: readonly SourceText[]) {
    this.#sources = sources;
  }

  mark(place: Place, out: Lines): void {
    const key = `${place.source}:${place.line}`;
    if (key === this.#last) return;
    this.#last = key;
    const comment = this.#comment(place);
    if (comment !== undefined) out.add(comment);
  }

  #comment({ source, line }: Place): string | undefined {
    const name = this.#sources[source]?.name;
    if (name === undefined) return undefined;
    const quote = this.#quote(source, line);
    // The file's path stays out: it would make the text, and with it the cache key, depend on the machine.
    return `// ${printable(name)}:${line}  ${quote}`.trimEnd();
  }

  #quote(source: number, line: number): string {
    let lines = this.#linesOf.get(source);
    if (lines === undefined)
      this.#linesOf.set(source, (lines = this.#sources[source].text.split(/\r\n|[\n\r\u2028\u2029]/)));
    return printable((lines[line - 1] ?? "").trim()).slice(0, maxQuote);
  }
}

/**
 * Returns printable ASCII text for a comment. A line separator would end the comment, and a final backslash would
 * continue it in C++.
 */
function printable(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, "?").replace(/\\/g, "/");
}
