/** Matrices and oracles of the benchmarks of sparse products. */
import { kernel, read, real, write } from "../../src/kernel/index.ts";
import { type CsrMatrix, sparseMatrix, stencil, type Stencil } from "../../src/numerics/linalg/index.ts";

export const copy = kernel({
  name: "copy",
  params: { x: read(real), y: write(real) },
  body({ x, y }, gpu) {
    const i = gpu.globalId();
    y[i] = x[i];
  },
});

const sevenPoints = [
  [0, 0, 0],
  [0, 0, 1],
  [0, 0, -1],
  [0, 1, 0],
  [0, -1, 0],
  [1, 0, 0],
  [-1, 0, 0],
];
/** The seven-point Laplacian of a cube. */
export const laplace = (grid: number): Stencil =>
  stencil({ shape: [grid, grid, grid], points: sevenPoints, coefficient: [6, -1, -1, -1, -1, -1, -1] });

/** Rows of very different lengths, at random columns. */
export function powerLaw(rows: number): CsrMatrix {
  let state = 1;
  const next = (): number => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0) / 2 ** 32;
  const [row, column]: number[][] = [[], []];
  for (let i = 0; i < rows; i++) {
    const length = Math.min(1000, Math.ceil(2 / Math.sqrt(next() + 1e-6)));
    for (let k = 0; k < length; k++) {
      row.push(i);
      column.push(Math.floor(next() * rows));
    }
  }
  return sparseMatrix({ rows, columns: rows, row, column, values: row.map(() => 1), duplicates: "sum" });
}

export const vectorOf = (n: number): Float64Array => Float64Array.from({ length: n }, (_, i) => Math.sin(i));

/** A·x in f64. */
export function productOnHost({ rows, columns, starts, column, values }: CsrMatrix): Float64Array {
  const x = vectorOf(columns);
  return Float64Array.from({ length: rows }, (_, i) => {
    let sum = 0;
    for (let k = starts[i]; k < starts[i + 1]; k++) sum += values[k] * x[column[k]];
    return sum;
  });
}
