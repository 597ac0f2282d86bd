/** The lines of generated code under construction, with their indentation. */
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

  /** Writes `open`, the lines of `fill` one level deeper, and `close`. */
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

  /** Returns an empty list at this depth for code that may be discarded; see `append`. */
  fork(): Lines {
    return new Lines(this.#depth);
  }

  append(other: Lines): void {
    this.#lines.push(...other.#lines);
  }

  /** Appends the lines of a fork one level deeper. */
  appendIndented(other: Lines): void {
    for (const line of other.#lines) this.#lines.push(line === "" ? "" : `  ${line}`);
  }

  toString(): string {
    return this.#lines.join("\n");
  }
}
