/** Derivatives of residuals by central differences. */
import type { LeastSquaresSpec, Linearisation } from "./least-squares.ts";

/** The points at which residuals are wanted for central differences, and the derivatives that follow from them. */
export interface Differences {
  /** The point itself, and two points for each parameter, which lie inside the bounds. */
  readonly points: readonly Float64Array[];
  /** The derivatives from the residuals at all points; 0 by a parameter whose bounds are one number. */
  readonly linearise: (residuals: readonly Float64Array[]) => Linearisation;
}

/** Central differences at a point; a parameter is moved by `width` times its size, or `least` where it is smaller. */
export function centralDifferences(
  point: Float64Array,
  { lower, upper }: LeastSquaresSpec,
  width = 1e-6,
  least: (j: number) => number = () => 1e-3,
): Differences {
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

/** Derivatives by central differences inside the bounds, for residuals without a formula of their own. */
export function withDifferences(
  residualsAt: (point: Float64Array) => Float64Array,
  spec: LeastSquaresSpec,
): (point: Float64Array) => Linearisation {
  return (point) => {
    const { points, linearise } = centralDifferences(point, spec);
    return linearise(points.map(residualsAt));
  };
}
