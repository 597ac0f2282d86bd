/** Small matrices on the host: checked, and their Cholesky factors. */
import { NotPositiveDefiniteError, ShapeError, SpecError } from "../../../base/errors.ts";

/** A square matrix, row by row. @stable */
export type Matrix = readonly (readonly number[])[];

/**
 * Checks a symmetric matrix and returns it as d·d numbers, row by row. `path` names it in errors. @throws ShapeError |
 * SpecError if it is not square, symmetric or finite
 */
export function checkedSymmetric(path: string, matrix: Matrix): Float64Array {
  const d = matrix.length;
  if (d === 0) throw new ShapeError(`${path}: got no rows, expected at least one`);
  matrix.forEach((row, i) => {
    if (row.length !== d)
      throw new ShapeError(`${path}[${i}]: got ${row.length} numbers, expected ${d} as there are rows`);
    row.forEach((x, j) => {
      if (!Number.isFinite(x)) throw new SpecError(`${path}[${i}][${j}]: got ${x}, expected a finite number`);
      if (j < i && x !== matrix[j][i])
        throw new SpecError(
          `${path}[${i}][${j}]: got ${x}, expected ${matrix[j][i]} as in [${j}][${i}]: the matrix is symmetric`,
        );
    });
  });
  return Float64Array.from(matrix.flat());
}

/**
 * Returns the Cholesky factor of A: the lower triangular L, zeros above, with L·Lᵀ = A. @throws
 * NotPositiveDefiniteError
 */
export function choleskyOf(a: Float64Array, d: number): Float64Array {
  const l = new Float64Array(d * d);
  for (let i = 0; i < d; i++) {
    for (let j = 0; j <= i; j++) {
      let sum = a[i * d + j];
      for (let k = 0; k < j; k++) sum -= l[i * d + k] * l[j * d + k];
      if (i > j) l[i * d + j] = sum / l[j * d + j];
      else if (sum > 0) l[i * d + i] = Math.sqrt(sum);
      else throw new NotPositiveDefiniteError(0, i + 1);
    }
  }
  return l;
}

/** A pivot of a correlation matrix from which on it counts as positive: entries are rounded to nine digits at worst. */
const PIVOT = 1e-9;

/**
 * Returns the lower triangular L with L·Lᵀ = A of a positive semi-definite matrix with ones on the diagonal. A variable
 * that is determined by others has a zero on the diagonal of L. For positive definite matrices the numbers are those of
 * `choleskyOf`. @throws NotPositiveDefiniteError
 */
export function semidefiniteCholeskyOf(a: Float64Array, d: number): Float64Array {
  const l = new Float64Array(d * d);
  for (let i = 0; i < d; i++) {
    for (let j = 0; j <= i; j++) {
      let sum = a[i * d + j];
      for (let k = 0; k < j; k++) sum -= l[i * d + k] * l[j * d + k];
      const pivot = l[j * d + j];
      if (i > j && pivot > 0) l[i * d + j] = sum / pivot;
      else if (i > j ? Math.abs(sum) > Math.sqrt(PIVOT) : sum < -PIVOT) throw new NotPositiveDefiniteError(0, i + 1);
      else if (i === j && sum > PIVOT) l[i * d + i] = Math.sqrt(sum);
    }
  }
  return l;
}
