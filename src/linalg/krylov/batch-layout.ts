/** The systems of a batch in the arrays that its kernel reads. */
import { ShapeError, SpecError } from "../../errors.ts";
import { convertSparse, type CsrMatrix, type SparseMatrix } from "../sparse/index.ts";
import { type BatchPreconditioner, header, HEADER_WORDS } from "./batch-parts.ts";
import { type Levels, levelsOf } from "./levels.ts";

/** One table, one array of columns and one of values for all systems. */
export interface BatchLayout {
  readonly table: Int32Array;
  readonly column: Int32Array;
  /** Places of all matrices, and of all factors from `factorsFrom` on. */
  readonly values: Float64Array;
  readonly factorsFrom: number;
  readonly totalRows: number;
  readonly maxRows: number;
}

/** @throws ShapeError (a matrix that is not square) | SpecError (a row without a pivot; none) */
export function layoutOf(matrices: readonly SparseMatrix[], preconditioner: BatchPreconditioner): BatchLayout {
  if (matrices.length === 0) throw new SpecError("KrylovBatch: no matrices, expected at least one");
  const systems = matrices.map((matrix, s) => {
    if (matrix.rows !== matrix.columns || matrix.rows === 0)
      throw new ShapeError(
        `KrylovBatch: matrix ${s}: ${matrix.rows} × ${matrix.columns}, expected a square one with rows`,
      );
    const rows = convertSparse(matrix, "csr");
    const width = rows.starts.reduce((most, start, i) => Math.max(most, (rows.starts[i + 1] ?? start) - start), 0);
    return { rows, width };
  });
  const total = systems.reduce((sum, { rows, width }) => sum + rows.rows * width, 0);
  const table = systems.flatMap(() => Array.from({ length: HEADER_WORDS }, () => 0));
  const column = new Int32Array(total).fill(-1);
  const values = new Float64Array(preconditioner === "none" ? total : 2 * total);
  let [firstRow, place] = [0, 0];
  systems.forEach(({ rows: matrix, width }, s) => {
    const { rows } = matrix;
    const words = s * HEADER_WORDS;
    table[words + header.FIRST_ROW] = firstRow;
    table[words + header.ROWS] = rows;
    table[words + header.WIDTH] = width;
    table[words + header.FIRST_PLACE] = place;
    fill(matrix, matrix.values, place, column, values);
    if (preconditioner === "jacobi") inverseDiagonal(matrix, s, values, total + place);
    if (preconditioner === "ilu0") {
      fill(matrix, incompleteFactors(matrix, s), total + place, undefined, values);
      for (const triangle of ["lower", "upper"] as const) {
        const levels = levelsOf(matrix.starts, matrix.column, triangle);
        const isLower = triangle === "lower";
        table[words + (isLower ? header.LOWER_LEVELS : header.UPPER_LEVELS)] = levels.starts.length - 1;
        table[words + (isLower ? header.LOWER : header.UPPER)] = table.length;
        append(table, levels);
      }
    }
    firstRow += rows;
    place += rows * width;
  });
  const maxRows = Math.max(...systems.map(({ rows }) => rows.rows));
  return { table: Int32Array.from(table), column, values, factorsFrom: total, totalRows: firstRow, maxRows };
}

function append(table: number[], { starts, order }: Levels): void {
  for (const word of starts) table.push(word);
  for (const word of order) table.push(word);
}

/** Place k of row i is at `from` + k·rows + i. */
function fill(
  { rows, starts, column }: CsrMatrix,
  entries: Float64Array,
  from: number,
  toColumn: Int32Array | undefined,
  toValues: Float64Array,
): void {
  for (let i = 0; i < rows; i++)
    for (let k = starts[i]; k < starts[i + 1]; k++) {
      const at = from + (k - starts[i]) * rows + i;
      if (toColumn !== undefined) toColumn[at] = column[k];
      toValues[at] = entries[k];
    }
}

function inverseDiagonal({ rows, starts, column, values }: CsrMatrix, s: number, to: Float64Array, from: number): void {
  for (let i = 0; i < rows; i++) {
    const k = column.subarray(starts[i], starts[i + 1]).indexOf(i);
    const diagonal = k < 0 ? 0 : values[starts[i] + k];
    checkPivot("Jacobi", s, i, diagonal);
    to[from + i] = 1 / diagonal;
  }
}

/** ILU(0) in f64 on the host (Saad 2003, algorithm 10.4): l below the diagonal, u on and above it. */
function incompleteFactors({ rows, starts, column, values }: CsrMatrix, s: number): Float64Array {
  const factors = values.slice();
  const diagonal = new Int32Array(rows).fill(-1);
  const place = new Int32Array(rows).fill(-1);
  for (let i = 0; i < rows; i++) {
    for (let k = starts[i]; k < starts[i + 1]; k++) {
      place[column[k]] = k;
      if (column[k] === i) diagonal[i] = k;
    }
    for (let k = starts[i]; k < starts[i + 1] && column[k] < i; k++) {
      const p = column[k];
      factors[k] /= factors[diagonal[p]];
      for (let q = diagonal[p] + 1; q < starts[p + 1]; q++)
        if (place[column[q]] >= 0) factors[place[column[q]]] -= factors[k] * factors[q];
    }
    checkPivot("ILU(0)", s, i, diagonal[i] < 0 ? 0 : factors[diagonal[i]]);
    for (let k = starts[i]; k < starts[i + 1]; k++) place[column[k]] = -1;
  }
  return factors;
}

function checkPivot(name: string, s: number, row: number, pivot: number): void {
  if (pivot === 0 || !Number.isFinite(pivot))
    throw new SpecError(
      `KrylovBatch: ${name}: matrix ${s}: row ${row} has no pivot, expected a diagonal that is not zero; ` +
        "reorder the rows, or take another preconditioner",
    );
}
