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

  /** Appends `open`, the lines that `fill` appends, indented by one level, and `close`. */
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

  /** Returns an empty list at the same indentation, for code that is appended later or discarded. */
  fork(): Lines {
    return new Lines(this.#depth);
  }

  append(other: Lines): void {
    this.#lines.push(...other.#lines);
  }

  /** Appends the lines of another list, indented by one more level. */
  appendIndented(other: Lines): void {
    for (const line of other.#lines) this.#lines.push(line === "" ? "" : `  ${line}`);
  }

  toString(): string {
    return this.#lines.join("\n");
  }
}
