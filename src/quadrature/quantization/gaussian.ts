/** Small matrices on the host, and quantizers of any Gaussian. */
import { NotPositiveDefiniteError, ShapeError } from "../../base/errors.ts";
import { checkOneOf } from "../../base/argument-checks.ts";
import { checkedSymmetric, choleskyOf, type Matrix, symmetricEigen } from "../../numerics/linalg/index.ts";
import type { Quantizer } from "./quantizer.ts";

/** Returns L⁻¹·B for a lower triangular L, [d, d]. */
export function solveLower(l: Float64Array, b: Float64Array, d: number): Float64Array {
  const x = Float64Array.from(b);
  for (let i = 0; i < d; i++)
    for (let j = 0; j < d; j++) {
      for (let k = 0; k < i; k++) x[i * d + j] -= l[i * d + k] * x[k * d + j];
      x[i * d + j] /= l[i * d + i];
    }
  return x;
}

/** Returns A·B, [d, d]. */
export function product(a: Float64Array, b: Float64Array, d: number): Float64Array {
  return a.map((_, at) => {
    let sum = 0;
    for (let k = 0; k < d; k++) sum += a[Math.floor(at / d) * d + k] * b[k * d + (at % d)];
    return sum;
  });
}

/** Returns Aᵀ, [d, d]. */
export function transposed(a: Float64Array, d: number): Float64Array {
  return a.map((_, at) => a[(at % d) * d + Math.floor(at / d)]);
}

/** The moments of a Gaussian distribution. @experimental */
export interface GaussianMoments {
  /** The mean, [d]; zeros by default. */
  readonly mean?: readonly number[];
  /** The covariance, symmetric and positive definite; with the root "symmetric" also semidefinite. */
  readonly covariance: Matrix;
  /** The root S with S·Sᵀ = the covariance: its lower Cholesky factor, the default, or its symmetric square root. */
  readonly root?: "cholesky" | "symmetric";
}

/**
 * Returns the image of a quantizer of N(0, I) under y ↦ mean + S·y, a quantizer of N(mean, S·Sᵀ) with the same weights:
 *
 *   distortion = tr(S·E[(Y − Ŷ)(Y − Ŷ)ᵀ]·Sᵀ),   E[(Y − Ŷ)(Y − Ŷ)ᵀ] = I − Σ wᵢ·yᵢ·yᵢᵀ if it is stationary
 *
 * X goes to the image of the point that is nearest to S⁻¹·(X − mean). Unless S is a multiple of a rotation, that is not
 * always the nearest image, and the quantizer, though stationary, is not optimal; its error is of the same order in N.
 *
 * @param quantizer of N(0, I), stationary.
 * @param moments the mean, the covariance, and the kind of its root.
 * @throws ShapeError | SpecError | NotPositiveDefiniteError
 * @example
 * import { gaussianQuantizer, optimalNormalLine } from "feynkac/quantization";
 *
 * const { points } = gaussianQuantizer(optimalNormalLine(2), { mean: [1], covariance: [[4]] });
 * console.log(points.map((x) => Math.round(1000 * x)).join(" ")); // -596 2596
 * @experimental
 */
export function gaussianQuantizer(quantizer: Quantizer, moments: GaussianMoments): Quantizer {
  const { dimension: d, points, weights, size } = quantizer;
  const covariance = checkedSymmetric("gaussianQuantizer: covariance", moments.covariance);
  const mean = moments.mean ?? new Array<number>(d).fill(0);
  if (covariance.length !== d * d || mean.length !== d)
    throw new ShapeError(
      `gaussianQuantizer: got a mean of ${mean.length} and a covariance of ${moments.covariance.length} dimensions, ` +
        `expected ${d} as the quantizer has`,
    );
  const root = rootOf(covariance, d, moments.root ?? "cholesky");
  const image = points.map((_, at) => {
    const [i, a] = [Math.floor(at / d), at % d];
    let sum = mean[a];
    for (let b = 0; b < d; b++) sum += root[a * d + b] * points[i * d + b];
    return sum;
  });
  const error = new Float64Array(d * d).map((_, at) => {
    const [a, b] = [Math.floor(at / d), at % d];
    let sum = a === b ? 1 : 0;
    for (let i = 0; i < size; i++) sum -= weights[i] * points[i * d + a] * points[i * d + b];
    return sum;
  });
  const mapped = product(product(root, error, d), transposed(root, d), d);
  let distortion = 0;
  for (let a = 0; a < d; a++) distortion += mapped[a * d + a];
  return { ...quantizer, points: image, distortion };
}

function rootOf(covariance: Float64Array, d: number, root: "cholesky" | "symmetric"): Float64Array {
  if (root === "cholesky") return choleskyOf(covariance, d);
  checkOneOf("gaussianQuantizer: root", root, ["cholesky", "symmetric"]);
  const { values, vectors } = symmetricEigen(covariance, d);
  const negative = values.findIndex((value) => value < -1e-12 * Math.abs(values[d - 1]));
  if (negative >= 0) throw new NotPositiveDefiniteError(0, negative + 1);
  const symmetric = new Float64Array(d * d);
  for (let e = 0; e < d; e++) {
    const scale = Math.sqrt(Math.max(values[e], 0));
    for (let a = 0; a < d; a++)
      for (let b = 0; b < d; b++) symmetric[a * d + b] += scale * vectors[a * d + e] * vectors[b * d + e];
  }
  return symmetric;
}
