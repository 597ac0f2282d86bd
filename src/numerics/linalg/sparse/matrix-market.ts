/**
 * Matrix Market files (R. F. Boisvert, R. Pozo & K. A. Remington, The Matrix Market exchange formats, NISTIR 5935,
 * 1996): the coordinate and array formats; real, integer and pattern; general, symmetric and skew-symmetric.
 */
import { FeynkacError, SpecError } from "../../../base/errors.ts";
import { csrFromEntries } from "./entries.ts";
import { toCsr } from "./convert.ts";
import type { CsrMatrix, SparseMatrix } from "./formats.ts";

/**
 * The error of a Matrix Market file that cannot be read. `line` counts from 1.
 *
 * @example
 * import { MatrixMarketError, parseMatrixMarket } from "feynkac/linalg";
 *
 * try {
 *   parseMatrixMarket("%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 5\n");
 * } catch (error) {
 *   if (error instanceof MatrixMarketError) console.log(error.message);
 *   // Matrix Market, line 3: row "3", expected a whole number from 1 to 2
 * }
 * @stable
 */
export class MatrixMarketError extends FeynkacError {
  readonly code = "MATRIX_MARKET";
  readonly line: number;

  constructor(line: number, message: string) {
    super(`Matrix Market, line ${line}: ${message}`);
    this.line = line;
  }
}

const LAYOUTS = ["coordinate", "array"] as const;
const FIELDS = ["real", "integer", "pattern"] as const;
const SYMMETRIES = ["general", "symmetric", "skew-symmetric"] as const;
type Symmetry = (typeof SYMMETRIES)[number];

interface Header {
  readonly layout: (typeof LAYOUTS)[number];
  readonly field: (typeof FIELDS)[number];
  readonly symmetry: Symmetry;
}

/**
 * Reads a matrix from the text of a Matrix Market file. Symmetric and skew-symmetric files are expanded to both
 * triangles; entries of a pattern are 1; zeros of the array format are not stored; repeated entries are an error.
 *
 * Cost: one pass over the text, and the sorting of `sparseMatrix`.
 *
 * @param text the whole file, or its lines one after the other, since files beyond 512 MiB do not fit into one string.
 * @throws MatrixMarketError with the number of the line; SpecError for bytes
 * @example
 * import { parseMatrixMarket } from "feynkac/linalg";
 *
 * const text = "%%MatrixMarket matrix coordinate real symmetric\n% lower triangle\n2 2 2\n1 1 4\n2 1 -1\n";
 * const a = parseMatrixMarket(text);
 * console.log(a.starts.join(" "), a.values.join(" ")); // 0 2 3 4 -1 -1
 * @stable
 */
export function parseMatrixMarket(text: string | Iterable<string>): CsrMatrix {
  if (ArrayBuffer.isView(text) || typeof text?.[Symbol.iterator] !== "function")
    throw new SpecError(
      "parseMatrixMarket: got bytes or no text, expected the text of the file or its lines; " +
        'read it with the encoding "utf8"',
    );
  const reader = new Reader();
  for (const line of typeof text === "string" ? linesOf(text) : text) reader.line(line);
  return reader.end();
}

/** The lines of a text, one after another, without an array of all of them. */
function* linesOf(text: string): Generator<string> {
  for (let from = 0; from < text.length;) {
    const end = text.indexOf("\n", from);
    yield text.slice(from, end < 0 ? text.length : end);
    from = end < 0 ? text.length : end + 1;
  }
}

class Reader {
  #at = 0;
  #header: Header | undefined;
  #size: { readonly rows: number; readonly columns: number; readonly count: number } | undefined;
  /** Entries read, zeros of the array format included. */
  #read = 0;
  readonly #row: number[] = [];
  readonly #column: number[] = [];
  readonly #values: number[] = [];
  /** Lines of the entries, to name them later. */
  readonly #lines: number[] = [];

  line(text: string): void {
    this.#at++;
    if (this.#header === undefined) {
      this.#header = this.#headerOf(text);
      return;
    }
    const words = text.trim().split(/\s+/);
    if (words[0] === "" || words[0].startsWith("%")) return;
    if (this.#size === undefined) this.#size = this.#sizeOf(words, this.#header);
    else this.#entry(words, this.#header, this.#size);
  }

  end(): CsrMatrix {
    if (this.#header === undefined || this.#size === undefined)
      throw this.#wrong("the file ends", "a header and a line of sizes");
    const { rows, columns, count } = this.#size;
    if (this.#read < count) throw this.#wrong(`the file ends after ${this.#read} entries`, `${count}`);
    this.#mirror(this.#header.symmetry);
    const entries = { rows, columns, row: this.#row, column: this.#column, values: this.#values };
    return csrFromEntries(entries, (k, before) => {
      throw new MatrixMarketError(
        this.#lines[k],
        `entry (${this.#row[k] + 1}, ${this.#column[k] + 1}) is on line ${this.#lines[before]} already, expected once; ` +
          'add the two, or read the entries yourself and take sparseMatrix with duplicates: "sum"',
      );
    });
  }

  #headerOf(text: string): Header {
    const [banner, object, layout, field, symmetry] = text.trim().toLowerCase().split(/\s+/);
    if (banner !== "%%matrixmarket")
      throw this.#wrong(JSON.stringify(text.slice(0, 40)), 'a header that begins with "%%MatrixMarket"');
    this.#oneOf("object", object, ["matrix"]);
    this.#oneOf("format", layout, LAYOUTS);
    this.#oneOf("field", field, FIELDS);
    this.#oneOf("symmetry", symmetry, SYMMETRIES);
    if (layout === "array" && field === "pattern") throw this.#wrong("an array of field pattern", "real or integer");
    return { layout, field, symmetry } as Header;
  }

  #sizeOf(words: readonly string[], { layout, symmetry }: Header): { rows: number; columns: number; count: number } {
    const wanted = layout === "array" ? 2 : 3;
    if (words.length !== wanted) throw this.#wrong(`${words.length} sizes`, `${wanted}`);
    const names = ["rows", "columns", "entries"];
    const [rows, columns, entries] = words.map((word, i) => this.#whole(names[i], word, 0, 2 ** 31 - 1));
    if (symmetry !== "general" && rows !== columns)
      throw this.#wrong(`a ${symmetry} matrix of ${rows} × ${columns}`, "a square one");
    const triangle = symmetry === "symmetric" ? (rows * (rows + 1)) / 2 : (rows * (rows - 1)) / 2;
    return { rows, columns, count: entries ?? (symmetry === "general" ? rows * columns : triangle) };
  }

  #entry(words: readonly string[], header: Header, size: { rows: number; columns: number; count: number }): void {
    if (this.#read === size.count) throw this.#wrong("another entry", `no more than ${size.count}`);
    const { layout, field, symmetry } = header;
    const wanted = layout === "array" ? 1 : field === "pattern" ? 2 : 3;
    if (words.length !== wanted) throw this.#wrong(`${words.length} words`, `${wanted} for this header`);
    const value = field === "pattern" ? 1 : this.#value(words[wanted - 1], field);
    const [i, j] =
      layout === "array"
        ? placeInArray(this.#read, size.rows, symmetry)
        : [this.#whole("row", words[0], 1, size.rows) - 1, this.#whole("column", words[1], 1, size.columns) - 1];
    if (symmetry !== "general" && (symmetry === "symmetric" ? i < j : i <= j))
      throw this.#wrong(`entry (${i + 1}, ${j + 1})`, `one below the diagonal: the file is ${symmetry}`);
    this.#read++;
    if (layout === "array" && value === 0) return;
    this.#row.push(i);
    this.#column.push(j);
    this.#values.push(value);
    this.#lines.push(this.#at);
  }

  #mirror(symmetry: Symmetry): void {
    if (symmetry === "general") return;
    const sign = symmetry === "symmetric" ? 1 : -1;
    for (let k = 0, end = this.#row.length; k < end; k++) {
      if (this.#row[k] === this.#column[k]) continue;
      this.#row.push(this.#column[k]);
      this.#column.push(this.#row[k]);
      this.#values.push(sign * this.#values[k]);
      this.#lines.push(this.#lines[k]);
    }
  }

  #value(word: string, field: "real" | "integer"): number {
    const isNumber = field === "integer" ? /^[+-]?\d+$/.test(word) : NUMBER.test(word);
    if (!isNumber) throw this.#wrong(`value ${JSON.stringify(word)}`, field === "integer" ? "an integer" : "a number");
    return /^[+-]?(inf|nan)/i.test(word) ? special(word) : Number(word.replace(/[dD]/, "e"));
  }

  #whole(name: string, word: string, min: number, max: number): number {
    const value = Number(word);
    if (!/^\+?\d+$/.test(word) || value < min || value > max)
      throw this.#wrong(`${name} ${JSON.stringify(word)}`, `a whole number from ${min} to ${max}`);
    return value;
  }

  #oneOf(name: string, word: string | undefined, allowed: readonly string[]): void {
    if (word === undefined || !allowed.includes(word))
      throw this.#wrong(`${name} ${word === undefined ? "is missing" : JSON.stringify(word)}`, allowed.join(", "));
  }

  #wrong(got: string, expected: string): MatrixMarketError {
    return new MatrixMarketError(this.#at, `${got}, expected ${expected}`);
  }
}

const NUMBER = /^[+-]?((\d+\.?\d*|\.\d+)([eEdD][+-]?\d+)?|inf(inity)?|nan)$/i;
const special = (word: string): number => (/nan/i.test(word) ? NaN : word.startsWith("-") ? -Infinity : Infinity);

/** Entry k of an array: column by column; of symmetric ones the lower triangle, of skew-symmetric ones below it. */
function placeInArray(k: number, rows: number, symmetry: Symmetry): readonly [number, number] {
  if (symmetry === "general") return [k % rows, Math.floor(k / rows)];
  const first = symmetry === "symmetric" ? 0 : 1;
  for (let [j, left] = [0, k]; ; left -= rows - j - first, j++)
    if (left < rows - j - first) return [j + first + left, j];
}

/** The options of `formatMatrixMarket`. @stable */
export interface MatrixMarketOptions {
  /**
   * The symmetry, "general" by default. The others write one triangle, and are an error for a matrix without the
   * symmetry.
   */
  readonly symmetry?: Symmetry;
  /** The field, "real" by default. "pattern" omits the values. */
  readonly field?: (typeof FIELDS)[number];
  readonly comment?: string;
}

/**
 * Generates the text of a Matrix Market file, in the coordinate format, line by line:
 * `[...formatMatrixMarket(a)].join("")`. Values have as many digits as it takes to read the same f64 back.
 *
 * @param matrix in any format.
 * @param options the symmetry, the field and a comment.
 * @throws SpecError (the matrix does not have the symmetry; a value is no integer)
 * @example
 * import { formatMatrixMarket, sparseMatrix } from "feynkac/linalg";
 *
 * const a = sparseMatrix({ rows: 1, columns: 2, row: [0], column: [1], values: [0.1] });
 * console.log([...formatMatrixMarket(a)].join("").split("\n")[2]); // 1 2 0.1
 * @stable
 */
export function* formatMatrixMarket(matrix: SparseMatrix, options: MatrixMarketOptions = {}): Generator<string> {
  const { symmetry = "general", field = "real", comment } = options;
  const all = toCsr(matrix);
  const { rows, columns, starts, column, values } = all;
  checkSymmetry(all, symmetry);
  const written = (i: number, j: number): boolean =>
    symmetry === "general" || (symmetry === "symmetric" ? i >= j : i > j);
  let count = 0;
  for (let i = 0; i < rows; i++) for (let k = starts[i]; k < starts[i + 1]; k++) if (written(i, column[k])) count++;
  yield `%%MatrixMarket matrix coordinate ${field} ${symmetry}\n`;
  for (const line of comment?.split("\n") ?? []) yield `% ${line}\n`;
  yield `${rows} ${columns} ${count}\n`;
  for (let i = 0; i < rows; i++) {
    for (let k = starts[i]; k < starts[i + 1]; k++) {
      if (!written(i, column[k])) continue;
      if (field === "integer" && !Number.isInteger(values[k]))
        throw new SpecError(`formatMatrixMarket: (${i}, ${column[k]}) is ${values[k]}, expected integers`);
      yield field === "pattern" ? `${i + 1} ${column[k] + 1}\n` : `${i + 1} ${column[k] + 1} ${values[k]}\n`;
    }
  }
}

function checkSymmetry({ rows, columns, starts, column, values }: CsrMatrix, symmetry: Symmetry): void {
  if (symmetry === "general") return;
  const sign = symmetry === "symmetric" ? 1 : -1;
  const at = (i: number, j: number): number | undefined => {
    if (i >= rows) return undefined;
    const k = column.subarray(starts[i], starts[i + 1]).indexOf(j);
    return k < 0 ? undefined : values[starts[i] + k];
  };
  for (let i = 0; i < rows; i++)
    for (let k = starts[i]; k < starts[i + 1]; k++) {
      const opposite = at(column[k], i);
      if (rows !== columns || opposite !== sign * values[k])
        throw new SpecError(
          `formatMatrixMarket: (${i}, ${column[k]}) is ${values[k]} and (${column[k]}, ${i}) is ` +
            `${opposite ?? "no entry"}, expected a ${symmetry} matrix`,
        );
    }
}
