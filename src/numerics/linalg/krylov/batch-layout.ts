/** The systems of a batch in the arrays that its kernel reads. */
import { ShapeError, SpecError } from "../../../base/errors.ts";
import { convertSparse, type CsrMatrix, type SparseMatrix } from "../sparse/index.ts";
import { factorsOf, type BatchPreconditioner } from "./batch-factors.ts";
import { header, HEADER_WORDS } from "./batch-parts.ts";
import { type Levels, levelsOf } from "./levels.ts";

/** The layout of a batch: one table, one array of columns and one of values for all systems. */
export interface BatchLayout {
  readonly table: Int32Array;
  readonly column: Int32Array;
  /** The entries of all matrices, then those of all factors. */
  readonly values: Float64Array;
  readonly totalRows: number;
  readonly maxRows: number;
}

/**
 * Lays out the matrices of a batch. @throws ShapeError (a matrix or a grid of another shape) | SpecError (a row without
 * a pivot; no matrices)
 */
export function layoutOf(matrices: readonly SparseMatrix[], preconditioner: BatchPreconditioner): BatchLayout {
  if (matrices.length === 0) throw new SpecError("KrylovBatch: no matrices, expected at least one");
  const systems = matrices.map((matrix, s) => {
    if (matrix.rows !== matrix.columns || matrix.rows === 0)
      throw new ShapeError(
        `KrylovBatch: matrix ${s}: ${matrix.rows} × ${matrix.columns}, expected a square one with rows`,
      );
    const rows = convertSparse(matrix, "csr");
    return { rows, factors: factorsOf(preconditioner, rows, s) };
  });
  const places = systems.reduce((sum, { rows }) => sum + rows.rows * widthOf(rows), 0);
  const total = systems.reduce((sum, { factors }) => sum + (factors?.rows ?? 0) * widthOf(factors), places);
  const table = systems.flatMap(() => Array.from({ length: HEADER_WORDS }, () => 0));
  const column = new Int32Array(total).fill(-1);
  const values = new Float64Array(total);
  let [firstRow, place, factorPlace] = [0, 0, places];
  systems.forEach(({ rows: matrix, factors }, s) => {
    const words = s * HEADER_WORDS;
    table[words + header.FIRST_ROW] = firstRow;
    table[words + header.ROWS] = matrix.rows;
    table[words + header.WIDTH] = widthOf(matrix);
    table[words + header.FIRST_PLACE] = place;
    table[words + header.FACTORS] = factorPlace;
    table[words + header.FACTOR_WIDTH] = widthOf(factors);
    fill(matrix, place, column, values);
    if (factors !== undefined) {
      fill(factors, factorPlace, column, values);
      for (const triangle of ["lower", "upper"] as const) {
        const levels = levelsOf(factors.starts, factors.column, triangle);
        const isLower = triangle === "lower";
        table[words + (isLower ? header.LOWER_LEVELS : header.UPPER_LEVELS)] = levels.starts.length - 1;
        table[words + (isLower ? header.LOWER : header.UPPER)] = table.length;
        append(table, levels);
      }
      factorPlace += factors.rows * widthOf(factors);
    }
    firstRow += matrix.rows;
    place += matrix.rows * widthOf(matrix);
  });
  const maxRows = Math.max(...systems.map(({ rows }) => rows.rows));
  return { table: Int32Array.from(table), column, values, totalRows: firstRow, maxRows };
}

/** The number of entries of the longest row. */
const widthOf = (matrix: CsrMatrix | undefined): number =>
  matrix === undefined
    ? 0
    : matrix.starts.reduce((most, end, i) => Math.max(most, end - (matrix.starts[i - 1] ?? end)), 0);

function append(table: number[], { starts, order }: Levels): void {
  for (const word of starts) table.push(word);
  for (const word of order) table.push(word);
}

/** Place k of row i is at `from` + k·rows + i. */
function fill(
  { rows, starts, column, values }: CsrMatrix,
  from: number,
  toColumn: Int32Array,
  toValues: Float64Array,
): void {
  for (let i = 0; i < rows; i++)
    for (let k = starts[i]; k < starts[i + 1]; k++) {
      const at = from + (k - starts[i]) * rows + i;
      toColumn[at] = column[k];
      toValues[at] = values[k];
    }
}
