/** Derivatives of residuals by central differences. */
import type { LeastSquaresSpec, Linearisation } from "./least-squares.ts";

/** The points at which residuals must be evaluated to form central differences, and the function that forms them. */
export interface CentralDifferences {
  /** The point itself, then two bumped points for each parameter, all within the bounds. */
  readonly points: readonly Float64Array[];
  /**
   * Returns the residuals and their derivatives, given the residuals at all points. The derivative is 0 for a parameter
   * whose bounds are equal.
   */
  readonly linearise: (residuals: readonly Float64Array[]) => Linearisation;
}

/**
 * Returns the points of central differences at a point. Parameter j is bumped by `width` times its absolute value, but
 * at least by `width` times `least(j)`.
 */
export function centralDifferences(
  point: Float64Array,
  { lower, upper }: LeastSquaresSpec,
  width = 1e-6,
  least: (j: number) => number = () => 1e-3,
): CentralDifferences {
  const n = point.length;
  const moved = (j: number, by: number): Float64Array => {
    const one = point.slice();
    one[j] = Math.min(Math.max(one[j] + by * width * Math.max(Math.abs(one[j]), least(j)), lower[j]), upper[j]);
    return one;
  };
  const pairs = Array.from(point, (_, j) => [moved(j, 1), moved(j, -1)] as const);
  return {
    points: [point, ...pairs.flat()],
    linearise: ([residuals, ...sides]) => {
      const jacobian = new Float64Array(residuals.length * n);
      pairs.forEach(([above, below], j) => {
        const distance = above[j] - below[j];
        if (!(distance > 0)) return;
        const [high, low] = [sides[2 * j], sides[2 * j + 1]];
        for (let i = 0; i < residuals.length; i++) jacobian[i * n + j] = (high[i] - low[i]) / distance;
      });
      return { residuals, jacobian };
    },
  };
}

/** Returns the function that evaluates residuals, and their derivatives by central differences within the bounds. */
export function withDifferences(
  residualsAt: (point: Float64Array) => Float64Array,
  spec: LeastSquaresSpec,
): (point: Float64Array) => Linearisation {
  return (point) => {
    const { points, linearise } = centralDifferences(point, spec);
    return linearise(points.map(residualsAt));
  };
}
