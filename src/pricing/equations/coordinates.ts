/** Axes for assets whose logarithms are normal: those that leave as few mixed derivatives as barriers allow. */
import { symmetricEigen } from "../../numerics/linalg/index.ts";
import { integrate, type PiecewiseConstant } from "../../market/index.ts";
import type { Terms } from "../terms.ts";
import { combined, sigmaOf } from "./in-time.ts";

/**
 * Linear coordinates y of the log-spots x = ln(S/s), s today's spots:
 *
 *   x = m(t) + A·y,   y = A⁻¹·(x − m(t)).
 *
 * An asset with its own axis has yⱼ = xᵢ. The other axes are the principal components of the remaining covariance, so
 * that they are uncorrelated with one another and with the assets' own axes.
 */
export interface Coordinates {
  /** The matrix A, [asset][axis]. */
  readonly A: Matrix;
  /** Its inverse, [axis][asset]. */
  readonly inverse: Matrix;
  /** The index of the asset whose own axis each axis is; undefined for a principal component. */
  readonly owner: readonly (number | undefined)[];
  /** The standard deviation of each y at expiry. */
  readonly deviations: readonly number[];
  /**
   * The covariance of y and x at expiry, [axis][asset]. It is the shift of the mean of y under the measure with the
   * asset as numéraire.
   */
  readonly covariances: Matrix;
}

type Matrix = readonly (readonly number[])[];

/** Below this share of its variance an asset has nothing of its own beside the others that have an axis. */
const DEPENDENT = 1e-10;

/**
 * Returns the coordinates of a trade's assets. `own` has the indices of the assets with their own axes, ascending; if
 * it is empty all axes are principal components.
 */
export function coordinatesOf(terms: Terms, own: readonly number[]): Coordinates {
  const { assets, expiry } = terms;
  const n = assets.length;
  const C = assets.map((_, i) => assets.map((_one, l) => integrate(covarianceRate(terms, i, l), expiry)));
  const rest = assets.map((_, i) => i).filter((i) => !own.includes(i));
  const beta = regression(C, own, rest);
  const residual = rest.flatMap((i, a) =>
    rest.map((l) => C[i][l] - own.reduce((sum, of, b) => sum + beta[a][b] * C[of][l], 0)),
  );
  const { values, vectors } = symmetricEigen(residual, rest.length);
  // Largest first.
  const order = rest.map((_, j) => rest.length - 1 - j);
  const A = assets.map(() => new Array<number>(n).fill(0));
  const inverse = assets.map(() => new Array<number>(n).fill(0));
  own.forEach((asset, j) => {
    A[asset][j] = 1;
    inverse[j][asset] = 1;
  });
  rest.forEach((asset, a) => {
    own.forEach((_, b) => (A[asset][b] = beta[a][b]));
    order.forEach((k, j) => {
      const q = vectors[a * rest.length + k];
      const axis = own.length + j;
      A[asset][axis] = q;
      inverse[axis][asset] = q;
      own.forEach((of, b) => (inverse[axis][of] -= q * beta[a][b]));
    });
  });
  return {
    A,
    inverse,
    owner: assets.map((_, j) => own[j]),
    deviations: [
      ...own.map((asset) => Math.sqrt(C[asset][asset])),
      ...order.map((k) => Math.sqrt(Math.max(values[k], 0))),
    ],
    covariances: inverse.map((row) => assets.map((_, i) => row.reduce((sum, one, l) => sum + one * C[l][i], 0))),
  };
}

/** The regression of the other assets on those with an axis of their own, by Gram and Schmidt's orthogonalisation. */
function regression(C: Matrix, own: readonly number[], rest: readonly number[]): Matrix {
  // Of the own axes, as combinations of their logarithms, those that are uncorrelated with the ones before.
  const directions: { readonly by: readonly number[]; readonly variance: number }[] = [];
  const covariance = (by: readonly number[], asset: number): number =>
    by.reduce((sum, one, b) => sum + one * C[own[b]][asset], 0);
  own.forEach((asset, at) => {
    const by: number[] = own.map((_, b) => Number(b === at));
    for (const one of directions) {
      const slope = covariance(one.by, asset) / one.variance;
      one.by.forEach((value, b) => (by[b] -= slope * value));
    }
    const variance = covariance(by, asset);
    if (variance > DEPENDENT * C[asset][asset]) directions.push({ by, variance });
  });
  return rest.map((asset) =>
    own.map((_, b) => directions.reduce((sum, one) => sum + (covariance(one.by, asset) / one.variance) * one.by[b], 0)),
  );
}

/** Returns the covariance rate of two log-spots, ρᵢₗ·σᵢ(t)·σₗ(t). */
export function covarianceRate({ assets, correlations }: Terms, i: number, l: number): PiecewiseConstant {
  return combined(
    [sigmaOf(assets[i].volatility), sigmaOf(assets[l].volatility)],
    ([a, b]) => correlations[i][l] * a * b,
  );
}

/** Returns the drift of a log-spot as a function of time, r − q − ½σ². */
export function driftOf({ assets, rates }: Terms, i: number): PiecewiseConstant {
  const { underlying } = assets[i];
  return combined(
    [rates, sigmaOf(assets[i].volatility)],
    ([r, sigma]) => r - underlying.dividends.yield - 0.5 * sigma * sigma,
  );
}

/** Returns the linear combination of piecewise constant functions with given weights. */
export const weighted = (all: readonly PiecewiseConstant[], weights: readonly number[]): PiecewiseConstant =>
  combined(all, (values) => values.reduce((sum, value, i) => sum + weights[i] * value, 0));
