/** The response of a least-squares fit to small moves of what it is fitted to, by the implicit function theorem. */
import type { LeastSquaresSpec, Linearisation } from "./least-squares.ts";

/** The relative moves of parameters between which derivatives of a gradient are taken. */
const GRADIENT_MOVE = 1e-5;
/** What is added to each curvature, relative to it: what the residuals do not determine stays about where it is. */
const DAMPING = 1e-6;

/**
 * Returns the function that moves a minimum of ½‖r(x)‖² to first order when its gradient Jᵀr changes: x − H⁻¹·change
 * over the parameters that are not at a bound. H is the whole second derivative, by differences of the gradient.
 */
export function responseOf(
  point: Float64Array,
  { lower, upper }: Pick<LeastSquaresSpec, "lower" | "upper">,
  evaluate: (point: Float64Array) => Linearisation,
): (change: Float64Array) => Float64Array {
  const n = point.length;
  const gradientAt = (at: Float64Array): Float64Array => {
    const { residuals, jacobian } = evaluate(at);
    const gradient = new Float64Array(n);
    residuals.forEach((residual, i) => {
      for (let j = 0; j < n; j++) gradient[j] += jacobian[i * n + j] * residual;
    });
    return gradient;
  };
  const size = (j: number): number => GRADIENT_MOVE * Math.max(Math.abs(point[j]), 1e-3);
  const free = Array.from(point.keys()).filter((j) => point[j] - lower[j] > size(j) && upper[j] - point[j] > size(j));
  const columns = free.map((j) => {
    const [above, below] = [1, -1].map((side) => gradientAt(point.with(j, point[j] + side * size(j))));
    return free.map((i) => (above[i] - below[i]) / (2 * size(j)));
  });
  // In units of the diagonal's roots.
  const scale = free.map((_, j) => Math.sqrt(Math.max(Math.abs(columns[j][j]), Number.MIN_VALUE)));
  const hessian = free.map((_, i) =>
    free.map((__, j) => (0.5 * (columns[i][j] + columns[j][i])) / (scale[i] * scale[j]) + (i === j ? DAMPING : 0)),
  );
  const inverse = invert(hessian);
  return (change) => {
    const moved = point.slice();
    free.forEach((j, i) => {
      const step = free.reduce((sum, other, k) => sum + (inverse[i][k] * change[other]) / scale[k], 0);
      moved[j] -= step / scale[i];
    });
    return moved;
  };
}

/** Returns the inverse of a small matrix, by Gauss and Jordan's elimination with partial pivoting. */
function invert(matrix: readonly (readonly number[])[]): readonly (readonly number[])[] {
  const n = matrix.length;
  const rows = matrix.map((row, i) => [...row, ...row.map((_, j) => (i === j ? 1 : 0))]);
  for (let k = 0; k < n; k++) {
    let pivot = k;
    for (let i = k + 1; i < n; i++) if (Math.abs(rows[i][k]) > Math.abs(rows[pivot][k])) pivot = i;
    [rows[k], rows[pivot]] = [rows[pivot], rows[k]];
    const unit = rows[k].map((value) => value / rows[k][k]);
    rows.forEach((row, i) => {
      rows[i] = i === k ? unit : row.map((value, j) => value - row[k] * unit[j]);
    });
  }
  return rows.map((row) => row.slice(n));
}
