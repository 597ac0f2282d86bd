/** Preconditioners of a batch: factors that are made on the host, in f64. */
import { ShapeError, SpecError } from "../../../base/errors.ts";
import { checkWholeNumber, valueText } from "../../../base/argument-checks.ts";
import type { CsrMatrix } from "../sparse/index.ts";
import type { PreconditionerOperation } from "./batch-parts.ts";

/**
 * The preconditioner of a batch. The kinds are those of `PreconditionerOptions`; blocks are factored without pivoting.
 * @stable
 */
export type BatchPreconditioner =
  | "none"
  | "jacobi"
  | "ilu0"
  | { readonly kind: "block-jacobi"; readonly size: number }
  /** The grid of each matrix, its last axis contiguous. */
  | { readonly kind: "lines"; readonly shapes: readonly (readonly number[])[]; readonly axis: number };

/** Returns the operation by which kernels apply a preconditioner. */
export const preconditionerOperationOf = (preconditioner: BatchPreconditioner): PreconditionerOperation =>
  preconditioner === "none" ? "none" : preconditioner === "jacobi" ? "diagonal" : "triangles";

/**
 * Returns the factors of the preconditioner of matrix number s; undefined without a preconditioner. They are the
 * inverse diagonal, or l below the diagonal and u on and above it. Blocks and lines keep only the entries within a
 * block or line; factors with the pattern of full blocks, or of lines, are exact. @throws SpecError (an option; a row
 * without a pivot) | ShapeError (a grid of another size)
 */
export function factorsOf(preconditioner: BatchPreconditioner, matrix: CsrMatrix, s: number): CsrMatrix | undefined {
  if (preconditioner === "none") return undefined;
  if (preconditioner === "jacobi") return inverseDiagonal(matrix, s);
  if (preconditioner === "ilu0") return incompleteFactors(matrix, "ILU(0)", s);
  const { kind } = preconditioner;
  if (kind === "block-jacobi") {
    const { size } = preconditioner;
    checkWholeNumber("KrylovBatch: preconditioner: size", size, 1, 64);
    return incompleteFactors(blocksOf(matrix, size), "block Jacobi", s);
  }
  if (kind === "lines") return incompleteFactors(linesOf(matrix, preconditioner, s), "lines", s);
  throw new SpecError(
    `KrylovBatch: preconditioner: got ${valueText(preconditioner)}, expected "none", "jacobi", "ilu0", ` +
      '{ kind: "block-jacobi", size } or { kind: "lines", shapes, axis }',
  );
}

/** The diagonal blocks, with zeros where a block has no entry: so that their factors have a place. */
function blocksOf({ rows, columns, starts, column, values }: CsrMatrix, size: number): CsrMatrix {
  const ends = new Int32Array(rows + 1);
  const blockOf = (i: number): readonly [from: number, count: number] => {
    const from = i - (i % size);
    return [from, Math.min(size, rows - from)];
  };
  for (let i = 0; i < rows; i++) ends[i + 1] = ends[i] + blockOf(i)[1];
  const made = { starts: ends, column: new Int32Array(ends[rows]), values: new Float64Array(ends[rows]) };
  for (let i = 0; i < rows; i++) {
    const [from, count] = blockOf(i);
    for (let c = 0; c < count; c++) made.column[ends[i] + c] = from + c;
    for (let k = starts[i]; k < starts[i + 1]; k++)
      if (column[k] >= from && column[k] < from + count) made.values[ends[i] + column[k] - from] = values[k];
  }
  return { kind: "csr", padding: 1, rows, columns, ...made };
}

/** The entries along the lines of an axis. */
function linesOf(
  { rows, columns, starts, column, values }: CsrMatrix,
  { shapes, axis }: Extract<BatchPreconditioner, { kind: "lines" }>,
  s: number,
): CsrMatrix {
  if (!Array.isArray(shapes))
    throw new SpecError(
      "KrylovBatch: preconditioner: shapes: missing, expected the grid of each matrix, [[nx, ny], …]",
    );
  const shape: readonly number[] | undefined = shapes[s];
  const nodes = shape?.reduce((product, count) => product * count, 1);
  if (shape === undefined || nodes !== rows)
    throw new ShapeError(
      `KrylovBatch: preconditioner: shapes[${s}]: got ${shape === undefined ? "none" : `[${shape.join(", ")}]`}, ` +
        `expected the grid of matrix ${s}, which has ${rows} rows`,
    );
  if (!Number.isInteger(axis) || axis < 0 || axis >= shape.length)
    throw new SpecError(`KrylovBatch: preconditioner: axis: got ${axis}, expected 0 to ${shape.length - 1}`);
  const stride = shape.slice(axis + 1).reduce((product, count) => product * count, 1);
  const lineOf = (i: number): number => Math.floor(i / (stride * shape[axis])) * stride + (i % stride);
  const kept: { readonly starts: number[]; readonly column: number[]; readonly values: number[] } = {
    starts: [0],
    column: [],
    values: [],
  };
  for (let i = 0; i < rows; i++) {
    for (let k = starts[i]; k < starts[i + 1]; k++) {
      const j = column[k];
      if (j < 0 || Math.abs(j - i) > stride || lineOf(j) !== lineOf(i)) continue;
      kept.column.push(j);
      kept.values.push(values[k]);
    }
    kept.starts.push(kept.column.length);
  }
  return {
    kind: "csr",
    padding: 1,
    rows,
    columns,
    starts: Int32Array.from(kept.starts),
    column: Int32Array.from(kept.column),
    values: Float64Array.from(kept.values),
  };
}

function inverseDiagonal({ rows, columns, starts, column, values }: CsrMatrix, s: number): CsrMatrix {
  const all = Int32Array.from({ length: rows }, (_, i) => i);
  const inverse = Float64Array.from(all, (i) => {
    const k = column.subarray(starts[i], starts[i + 1]).indexOf(i);
    const diagonal = k < 0 ? 0 : values[starts[i] + k];
    checkPivot("Jacobi", s, i, diagonal);
    return 1 / diagonal;
  });
  const ends = Int32Array.from({ length: rows + 1 }, (_, i) => i);
  return { kind: "csr", padding: 1, rows, columns, starts: ends, column: all, values: inverse };
}

/** ILU(0) (Saad 2003, algorithm 10.4). */
function incompleteFactors(matrix: CsrMatrix, name: string, s: number): CsrMatrix {
  const { rows, starts, column, values } = matrix;
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
    checkPivot(name, s, i, diagonal[i] < 0 ? 0 : factors[diagonal[i]]);
    for (let k = starts[i]; k < starts[i + 1]; k++) place[column[k]] = -1;
  }
  return { ...matrix, values: factors };
}

function checkPivot(name: string, s: number, row: number, pivot: number): void {
  if (pivot === 0 || !Number.isFinite(pivot))
    throw new SpecError(
      `KrylovBatch: ${name}: matrix ${s}: row ${row} has no pivot, expected a diagonal that is not zero; ` +
        "reorder the rows, or take another preconditioner",
    );
}
