/** Eigenvalues and eigenvectors of a small symmetric matrix, on the host in f64. */
import { ShapeError } from "../../../base/errors.ts";

/** The result of `symmetricEigen`. @stable */
export interface Eigen {
  /** The eigenvalues, ascending. */
  readonly values: Float64Array;
  /** The eigenvectors: column j, `vectors[i·n + j]`, is that of value j; orthonormal. */
  readonly vectors: Float64Array;
}

/** A sweep squares what is left beside the diagonal; matrices of order 1,000 take about 12. */
const MAX_SWEEPS = 50;

/**
 * Computes the eigenvalues and eigenvectors of a symmetric matrix, A = Q·diag(λ)·Qᵀ, by Jacobi's rotations, row by row
 * (Golub & Van Loan 2013, §8.5). Eigenvalues are accurate to a few n·u·‖A‖. Cost: about 6·n³ flops per sweep, 5 to 12
 * sweeps.
 *
 * @param matrix [n, n], row by row; its lower triangle is not read.
 * @param n rows and columns.
 * @throws ShapeError if the matrix has a NaN or an infinity.
 * @example
 * import { symmetricEigen } from "feynkac/linalg";
 *
 * const { values } = symmetricEigen([2, 1, 1, 2], 2);
 * console.log([...values].map((value) => value.toFixed(4)).join(" ")); // 1.0000 3.0000
 * @stable
 */
export function symmetricEigen(matrix: ArrayLike<number>, n: number): Eigen {
  const a = Float64Array.from(matrix);
  for (let i = 0; i < n; i++) for (let j = 0; j < i; j++) a[i * n + j] = a[j * n + i];
  const q = new Float64Array(n * n);
  for (let i = 0; i < n; i++) q[i * n + i] = 1;
  const enough = Number.EPSILON * Math.sqrt(a.reduce((sum, x) => sum + x * x, 0));
  let sweeps = 0;
  while (!(offDiagonal(a, n) <= enough)) {
    if (++sweeps > MAX_SWEEPS) throw new ShapeError("symmetricEigen: NaN or infinity in the matrix, expected numbers");
    for (let i = 0; i < n; i++) for (let j = i + 1; j < n; j++) rotate(a, q, n, i, j);
  }
  const order = Array.from({ length: n }, (_, i) => i).sort((i, j) => a[i * n + i] - a[j * n + j]);
  return {
    values: Float64Array.from(order, (i) => a[i * n + i]),
    vectors: Float64Array.from({ length: n * n }, (_, k) => q[Math.floor(k / n) * n + order[k % n]]),
  };
}

/** Frobenius norm of what is beside the diagonal. */
function offDiagonal(a: Float64Array, n: number): number {
  let sum = 0;
  for (let i = 0; i < n; i++) for (let j = i + 1; j < n; j++) sum += 2 * a[i * n + j] ** 2;
  return Math.sqrt(sum);
}

/** The rotation in the plane of i and j that makes a[i, j] zero. */
function rotate(a: Float64Array, q: Float64Array, n: number, i: number, j: number): void {
  const apart = a[i * n + j];
  if (apart === 0) return;
  const tau = (a[j * n + j] - a[i * n + i]) / (2 * apart);
  const t = (tau >= 0 ? 1 : -1) / (Math.abs(tau) + Math.hypot(1, tau));
  const c = 1 / Math.hypot(1, t);
  const s = t * c;
  for (let k = 0; k < n; k++) turn(a, k * n + i, k * n + j, c, s);
  for (let k = 0; k < n; k++) turn(a, i * n + k, j * n + k, c, s);
  for (let k = 0; k < n; k++) turn(q, k * n + i, k * n + j, c, s);
}

function turn(a: Float64Array, x: number, y: number, c: number, s: number): void {
  const [ax, ay] = [a[x], a[y]];
  a[x] = c * ax - s * ay;
  a[y] = s * ax + c * ay;
}
