/** Matrices from what a user has: lists of entries, compressed rows, dense arrays. */
import { ShapeError, SpecError } from "../../../base/errors.ts";
import { checkObject, checkOneOf, checkWholeNumber } from "../../../base/argument-checks.ts";
import { checkNumberList } from "../given.ts";
import type { CooMatrix, CsrMatrix } from "./formats.ts";

/** The entries of a matrix in any order. @stable */
export interface SparseEntries {
  readonly rows: number;
  readonly columns: number;
  readonly row: ArrayLike<number>;
  readonly column: ArrayLike<number>;
  readonly values: ArrayLike<number>;
  /** The treatment of repeated entries: an error (the default), or their sum in the given order. */
  readonly duplicates?: "error" | "sum";
}

/** Compressed rows as other programs have them: columns ascend within each row. @stable */
export type CompressedRows = Pick<CsrMatrix, "rows" | "columns"> & {
  readonly starts: ArrayLike<number>;
  readonly column: ArrayLike<number>;
  readonly values: ArrayLike<number>;
};

/** The largest index: indices on devices have 32 bits. */
export const MAX_INDEX = 2 ** 31 - 1;

/**
 * Makes a matrix from its entries, as compressed rows. Entries may come in any order: they are sorted by row and
 * column. Explicit zeros are kept.
 *
 * Cost: two passes of counting sort, O(entries + rows + columns).
 *
 * @param entries shape, rows, columns and values; rows and columns count from 0.
 * @throws SpecError (the shape; an index out of range; a repeated entry, unless `duplicates: "sum"`) | ShapeError
 * (lists of different lengths)
 * @example
 * import { sparseMatrix } from "feynkac/linalg";
 *
 * const a = sparseMatrix({ rows: 2, columns: 2, row: [1, 0, 1], column: [1, 0, 0], values: [4, 1, 3] });
 * console.log(a.starts.join(" "), a.column.join(" "), a.values.join(" ")); // 0 1 3 0 0 1 1 3 4
 * @stable
 */
export function sparseMatrix(entries: SparseEntries): CsrMatrix {
  checkObject("sparseMatrix", entries, "an object with rows, columns, row, column, values");
  const { rows, columns, row, column, values, duplicates = "error" } = entries;
  checkShape("sparseMatrix", rows, columns);
  for (const [name, list] of Object.entries({ row, column, values })) checkNumberList("sparseMatrix", name, list);
  checkOneOf("sparseMatrix: duplicates", duplicates, ["error", "sum"]);
  const count = values.length;
  if (row.length !== count || column.length !== count)
    throw new ShapeError(
      `sparseMatrix: ${row.length} rows, ${column.length} columns and ${count} values, expected as many of each`,
    );
  if (count > MAX_INDEX)
    throw new SpecError(`sparseMatrix: ${count} entries, expected at most ${MAX_INDEX}; split the matrix by rows`);
  for (let k = 0; k < count; k++) {
    checkWholeNumber(`sparseMatrix: row[${k}]`, row[k], 0, rows - 1);
    checkWholeNumber(`sparseMatrix: column[${k}]`, column[k], 0, columns - 1);
  }
  return csrFromEntries(entries, (k, before) => {
    if (duplicates === "sum") return;
    throw new SpecError(
      `sparseMatrix: entries ${before} and ${k} are both at (${row[k]}, ${column[k]}), expected one; ` +
        'ask for duplicates: "sum" to add them',
    );
  });
}

/**
 * Returns the matrix of some entries in compressed rows. Entries at the same position are summed in the given order;
 * for each repeated one, `onRepeated` is called with its number and with that of the entry before it. The entries are
 * not checked.
 */
export function csrFromEntries(
  { rows, columns, row, column, values }: SparseEntries,
  onRepeated: (entry: number, before: number) => void,
): CsrMatrix {
  const count = values.length;
  // By column, then by row: each pass keeps the order of equal keys.
  const byColumn = sortedBy((k) => column[k], count, columns);
  const order = sortedBy((k) => row[byColumn[k]], count, rows).map((k) => byColumn[k]);
  const starts = new Int32Array(rows + 1);
  const toColumn = new Int32Array(count);
  const toValues = new Float64Array(count);
  let size = 0;
  let last = -1;
  for (const k of order) {
    if (last >= 0 && row[last] === row[k] && column[last] === column[k]) {
      onRepeated(k, last);
      toValues[size - 1] += values[k];
    } else {
      starts[row[k] + 1]++;
      toColumn[size] = column[k];
      toValues[size++] = values[k];
    }
    last = k;
  }
  for (let i = 0; i < rows; i++) starts[i + 1] += starts[i];
  return uncheckedCsr({ rows, columns, starts, column: toColumn.slice(0, size), values: toValues.slice(0, size) });
}

/**
 * Makes a matrix from compressed rows, which are checked and copied.
 *
 * @param given shape, `rows` + 1 starts, columns and values. Columns ascend strictly within each row.
 * @throws SpecError (the shape; starts that descend; a column out of range, not in order or repeated, with its row) |
 * ShapeError (arrays whose lengths do not fit)
 * @example
 * import { csrMatrix } from "feynkac/linalg";
 *
 * const a = csrMatrix({ rows: 2, columns: 3, starts: [0, 2, 3], column: [0, 2, 1], values: [1, 2, 3] });
 * console.log(a.values.length); // 3
 * @stable
 */
export function csrMatrix(given: CompressedRows): CsrMatrix {
  checkObject("csrMatrix", given, "an object with rows, columns, starts, column, values");
  const { rows, columns, starts, column, values } = given;
  checkShape("csrMatrix", rows, columns);
  for (const [name, list] of Object.entries({ starts, column, values })) checkNumberList("csrMatrix", name, list);
  if (starts.length !== rows + 1)
    throw new ShapeError(`csrMatrix: ${starts.length} starts, expected rows + 1 = ${rows + 1}`);
  if (column.length !== values.length || starts[rows] !== values.length || starts[0] !== 0)
    throw new ShapeError(
      `csrMatrix: ${column.length} columns and ${values.length} values, starts from ${starts[0]} to ${starts[rows]}; ` +
        "expected starts from 0 to the number of columns and values",
    );
  for (let i = 0; i < rows; i++)
    if (!Number.isInteger(starts[i + 1]) || starts[i + 1] < starts[i])
      throw new SpecError(
        `csrMatrix: starts[${i + 1}] ${starts[i + 1]}, expected a whole number of at least starts[${i}], ${starts[i]}`,
      );
  for (let i = 0; i < rows; i++) {
    for (let k = starts[i]; k < starts[i + 1]; k++) {
      checkWholeNumber(`csrMatrix: row ${i}: column[${k}]`, column[k], 0, columns - 1);
      if (k > starts[i] && column[k] <= column[k - 1])
        throw new SpecError(
          `csrMatrix: row ${i}: column[${k}] ${column[k]} follows ${column[k - 1]}, expected ascending columns; ` +
            "sparseMatrix sorts entries and adds repeated ones",
        );
    }
  }
  return uncheckedCsr({
    rows,
    columns,
    starts: Int32Array.from(starts),
    column: Int32Array.from(column),
    values: Float64Array.from(values),
  });
}

/** Returns a matrix in compressed rows from arrays known to be valid, without the checks of `csrMatrix`. */
export const uncheckedCsr = (parts: Omit<CsrMatrix, "kind" | "padding">): CsrMatrix => ({
  kind: "csr",
  padding: 1,
  ...parts,
});

/** Returns a matrix in coordinates, row by row, from compressed rows without padding. */
export function cooFromCsr({ rows, columns, starts, column, values }: CsrMatrix): CooMatrix {
  const row = new Int32Array(values.length);
  for (let i = 0; i < rows; i++) row.fill(i, starts[i], starts[i + 1]);
  return { kind: "coo", rows, columns, row, column, values };
}

/** Checks the shape of a matrix. @throws SpecError */
function checkShape(who: string, rows: number, columns: number): void {
  checkWholeNumber(`${who}: rows`, rows, 0, MAX_INDEX);
  checkWholeNumber(`${who}: columns`, columns, 0, MAX_INDEX);
}

/** The positions 0 … count − 1 by ascending key, of 0 … size − 1; equal keys keep their order. */
function sortedBy(key: (k: number) => number, count: number, size: number): Int32Array {
  const next = new Int32Array(size + 1);
  for (let k = 0; k < count; k++) next[key(k) + 1]++;
  for (let i = 0; i < size; i++) next[i + 1] += next[i];
  const order = new Int32Array(count);
  for (let k = 0; k < count; k++) order[next[key(k)]++] = k;
  return order;
}
