/** Correlation matrices: whether a matrix is positive semi-definite, and the nearest one. On the host in f64. */
import { checkAccuracy, type RelativeAccuracy } from "../../../base/accuracy.ts";
import { ShapeError, SpecError } from "../../../base/errors.ts";
import { checkFields } from "../../../base/argument-checks.ts";
import { symmetricEigen } from "./eigen.ts";

/** The options of `nearestCorrelation`. @stable */
export interface NearestOptions {
  /** The change at which the iteration ends; { relative: 1e-12 } by default. */
  readonly tolerance?: RelativeAccuracy;
  /** The limit of iterations; 10,000 by default. */
  readonly maxIterations?: number;
  /**
   * The smallest eigenvalue of the result, from 0 to below 1. At 0, the default, the result is the nearest correlation
   * matrix, which is singular and has no Cholesky factor.
   */
  readonly minEigenvalue?: number;
}

/** The result of `nearestCorrelation`. @stable */
export interface NearestCorrelation {
  /** The matrix, [n, n], row by row: symmetric, ones on the diagonal. */
  readonly values: Float64Array;
  /** The Frobenius norm of the difference to the given matrix. */
  readonly distance: number;
  readonly iterations: number;
  /** True if the tolerance was reached. */
  readonly converged: boolean;
}

/**
 * Returns the correlation matrix X nearest to a symmetric matrix A in the Frobenius norm:
 *
 *   min ‖A − X‖ over X = Xᵀ, X ⪰ ε·I, X[i, i] = 1, ε the smallest eigenvalue requested
 *
 * Method: alternating projections on the two sets, the first with Dykstra's correction. Without it the iteration would
 * end in a point of both sets that is not the nearest. Convergence is linear; an iteration is an eigendecomposition,
 * about 60·n³ flops. Accuracy: the result is projected on the unit diagonal last, so that its smallest eigenvalue is ε
 * to within about the tolerance. Source: Higham, IMA J. Numer. Anal. 22 (2002) 329–343, Algorithm 3.3. Verified:
 * test/numerics/linalg/dense-correlation, his examples.
 *
 * @param matrix [n, n], row by row, symmetric; its diagonal may be anything.
 * @param options the tolerance, the limit of iterations, and the smallest eigenvalue.
 * @throws ShapeError if the matrix is not square, symmetric and finite; SpecError for an option out of range.
 * @example
 * import { nearestCorrelation } from "feynkac/linalg";
 *
 * const { values, distance } = nearestCorrelation([1, 1, 0, 1, 1, 1, 0, 1, 1]);
 * console.log(values[1]?.toFixed(4), values[2]?.toFixed(4), distance.toFixed(4)); // 0.7607 0.1573 0.5278
 * @stable
 */
export function nearestCorrelation(matrix: ArrayLike<number>, options: NearestOptions = {}): NearestCorrelation {
  checkFields("nearestCorrelation", options, ["tolerance", "maxIterations", "minEigenvalue"]);
  const { tolerance = { relative: 1e-12 }, maxIterations = 10_000, minEigenvalue = 0 } = options;
  checkAccuracy("nearestCorrelation: tolerance", tolerance, ["relative"]);
  checkOptions(tolerance.relative, maxIterations, minEigenvalue);
  const n = orderOf("nearestCorrelation", matrix);
  const given = Float64Array.from(matrix);
  const correction = new Float64Array(n * n);
  let y: Float64Array = Float64Array.from(given);
  let x: Float64Array = y;
  for (let iteration = 1; ; iteration++) {
    const r = y.map((value, k) => value - correction[k]); // R = Y − ΔS
    const nextX = liftEigenvalues(r, n, minEigenvalue); // X = P_S(R)
    for (let k = 0; k < n * n; k++) correction[k] = nextX[k] - r[k]; // ΔS = X − R
    const nextY = Float64Array.from(nextX);
    for (let i = 0; i < n; i++) nextY[i * n + i] = 1; // Y = P_U(X)
    const change = Math.max(relativeDistance(nextX, x), relativeDistance(nextY, y), relativeDistance(nextY, nextX));
    [x, y] = [nextX, nextY];
    const converged = change <= tolerance.relative;
    if (converged || iteration >= maxIterations)
      return { values: y, distance: norm(difference(given, y)), iterations: iteration, converged };
  }
}

/**
 * Tells whether a symmetric matrix is positive semi-definite: λₘᵢₙ ≥ −tolerance·max|λ|. With the default tolerance,
 * results of `nearestCorrelation`, which are singular up to rounding, are positive semi-definite. Cost: an
 * eigendecomposition, about 60·n³ flops.
 *
 * Source: Golub & Van Loan, *Matrix Computations*, 2013, §8.5. Verified: test/numerics/linalg/dense-correlation.
 *
 * @param matrix [n, n], row by row, symmetric.
 * @param tolerance relative to the largest absolute eigenvalue; { relative: 1e-10 } by default.
 * @throws ShapeError if the matrix is not square, symmetric and finite; SpecError if the tolerance is negative.
 * @example
 * import { isPositiveSemidefinite } from "feynkac/linalg";
 *
 * console.log(isPositiveSemidefinite([1, 1, 0, 1, 1, 1, 0, 1, 1])); // false
 * @stable
 */
export function isPositiveSemidefinite(
  matrix: ArrayLike<number>,
  tolerance: RelativeAccuracy = { relative: 1e-10 },
): boolean {
  checkAccuracy("isPositiveSemidefinite: tolerance", tolerance, ["relative"]);
  const { relative } = tolerance;
  if (!(relative >= 0))
    throw new SpecError(`isPositiveSemidefinite: tolerance.relative ${relative}, expected a number ≥ 0`);
  const n = orderOf("isPositiveSemidefinite", matrix);
  const { values } = symmetricEigen(matrix, n);
  return n === 0 || values[0] >= -relative * Math.max(-values[0], values[n - 1]);
}

function checkOptions(tolerance: number, maxIterations: number, minEigenvalue: number): void {
  if (!(tolerance > 0))
    throw new SpecError(`nearestCorrelation: tolerance.relative ${tolerance}, expected a number > 0`);
  if (!Number.isInteger(maxIterations) || maxIterations < 1)
    throw new SpecError(`nearestCorrelation: maxIterations ${maxIterations}, expected a whole number ≥ 1`);
  if (!(minEigenvalue >= 0 && minEigenvalue < 1))
    throw new SpecError(`nearestCorrelation: minEigenvalue ${minEigenvalue}, expected 0 ≤ it < 1`);
}

function orderOf(who: string, matrix: ArrayLike<number>): number {
  const n = Math.round(Math.sqrt(matrix.length));
  if (n * n !== matrix.length) throw new ShapeError(`${who}: ${matrix.length} values, expected n·n, row by row`);
  for (let i = 0; i < n; i++) {
    for (let j = 0; j <= i; j++) {
      const [below, above] = [matrix[i * n + j], matrix[j * n + i]];
      if (!Number.isFinite(below) || below !== above)
        throw new ShapeError(
          `${who}: elements [${i}, ${j}] and [${j}, ${i}]: got ${below} and ${above}, expected equal finite numbers; average them`,
        );
    }
  }
  return n;
}

/** Q·diag(max(λ, least))·Qᵀ, built from the eigenvalues that are raised, which are few. */
function liftEigenvalues(matrix: Float64Array, n: number, min: number): Float64Array {
  const { values, vectors } = symmetricEigen(matrix, n);
  const result = Float64Array.from(matrix);
  for (let e = 0; e < n && values[e] < min; e++) {
    const raised = min - values[e];
    for (let i = 0; i < n; i++) {
      const scaled = raised * vectors[i * n + e];
      for (let j = 0; j <= i; j++) result[i * n + j] += scaled * vectors[j * n + e];
    }
  }
  for (let i = 0; i < n; i++) for (let j = 0; j < i; j++) result[j * n + i] = result[i * n + j];
  return result;
}

const difference = (a: Float64Array, b: Float64Array): Float64Array => a.map((value, k) => value - b[k]);
const norm = (a: Float64Array): number => Math.sqrt(a.reduce((sum, value) => sum + value * value, 0));
const relativeDistance = (a: Float64Array, b: Float64Array): number => norm(difference(a, b)) / (norm(a) || 1);
