/** Lines of generated code under construction, each at its depth of indentation. */
export class Lines {
  readonly #lines: string[] = [];
  #depth: number;

  constructor(depth = 0) {
    this.#depth = depth;
  }

  get isEmpty(): boolean {
    return this.#lines.length === 0;
  }

  add(...lines: readonly string[]): void {
    for (const line of lines) this.#lines.push(line === "" ? "" : "  ".repeat(this.#depth) + line);
  }

  /** `open`, what `fill` writes one level deeper, `close`. */
  block(open: string, fill: () => void, close = "}"): void {
    this.add(open);
    this.indented(fill);
    this.add(close);
  }

  indented(fill: () => void): void {
    this.#depth++;
    fill();
    this.#depth--;
  }

  /** An empty list at this depth, for code that may or may not be used; see `append`. */
  fork(): Lines {
    return new Lines(this.#depth);
  }

  append(other: Lines): void {
    this.#lines.push(...other.#lines);
  }

  /** Takes over lines from a fork, one level deeper than they were written. */
  appendIndented(other: Lines): void {
    for (const line of other.#lines) this.#lines.push(line === "" ? "" : `  ${line}`);
  }

  toString(): string {
    return this.#lines.join("\n");
  }
}
