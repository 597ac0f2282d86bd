/** A quantizer: points, the weights of their Voronoi cells, and the error of replacing X by the nearest one. */
import { ShapeError, SpecError } from "../../base/errors.ts";

/**
 * A quadratic quantizer of a random vector X in d dimensions: X̂ is the nearest of `size` points, with ties to the
 * first.
 *
 *   weights[i] = P(X̂ = xᵢ),   distortion = E|X − X̂|² = E minᵢ |X − xᵢ|²
 *
 * It is stationary if E[X | X̂] = X̂, as is every optimal quantizer; then E f(X̂) has an error of second order in the
 * spacing of the points for a smooth f.
 * @experimental
 */
export interface Quantizer {
  /** The dimension d. */
  readonly dimension: number;
  /** The number of points, N. */
  readonly size: number;
  /** The points, [size, dimension]. */
  readonly points: Float64Array;
  /** The weights, [size], whose sum is 1. */
  readonly weights: Float64Array;
  readonly distortion: number;
  /** The error estimate of the distortion: half a 95 % interval where it was sampled, 0 where it was integrated. */
  readonly errorEstimate: number;
}

/**
 * Checks points and returns their number.
 * @throws ShapeError | SpecError unless `points` holds finite numbers, [size, dimension], at least one row
 */
export function checkPoints(path: string, points: ArrayLike<number>, dimension: number): number {
  const size = points.length / dimension;
  if (!Number.isInteger(size) || size < 1)
    throw new ShapeError(
      `${path}: got ${points.length} numbers, expected rows of ${dimension}: give [size, ${dimension}], row by row`,
    );
  for (let k = 0; k < points.length; k++)
    if (!Number.isFinite(points[k]))
      throw new SpecError(
        `${path}[${Math.floor(k / dimension)}, ${k % dimension}]: got ${points[k]}, expected a finite number`,
      );
  return size;
}

/**
 * Returns Σ wᵢ·f(xᵢ), the cubature formula of a quantizer: E f(X) with an error of second order in the spacing for a
 * smooth f.
 *
 * @param quantizer a quantizer of X. @param f a function of a point, [dimension]. @example import { optimalNormalLine,
 *   quantizedMean } from "feynkac/quantization";
 *
 * console.log(quantizedMean(optimalNormalLine(50), ([x]) => Math.exp(x!)).toFixed(3)); // 1.647
 * @experimental
 */
export function quantizedMean(quantizer: Quantizer, f: (point: Float64Array) => number): number {
  const { points, weights, dimension } = quantizer;
  let sum = 0;
  weights.forEach((weight, i) => (sum += weight * f(points.subarray(i * dimension, (i + 1) * dimension))));
  return sum;
}
