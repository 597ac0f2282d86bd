/** Coordinates of lognormal assets in which the equation has as few mixed derivatives as the barriers allow. */
import {
  alphaOf,
  type Heston,
  integrate,
  type PiecewiseConstant,
  type Sabr,
  valueAt,
  varianceOf,
  type Volatility,
} from "../../market/index.ts";
import { symmetricEigen } from "../../numerics/linalg/index.ts";
import type { Asset, Terms } from "../terms.ts";
import { decayIntegral, totalVariance, varianceOfHeston } from "../variance.ts";

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
  return mapPiecewise(
    [sigmaOf(assets[i].volatility), sigmaOf(assets[l].volatility)],
    ([a, b]) => correlations[i][l] * a * b,
  );
}

/** Returns the drift of a log-spot as a function of time, r − q − ½σ². */
export function driftOf({ assets, rates }: Terms, i: number): PiecewiseConstant {
  const { underlying } = assets[i];
  return mapPiecewise(
    [rates, sigmaOf(assets[i].volatility)],
    ([r, sigma]) => r - underlying.dividends.yield - 0.5 * sigma * sigma,
  );
}

/** Returns the linear combination of piecewise constant functions with given weights. */
export const weightedSum = (all: readonly PiecewiseConstant[], weights: readonly number[]): PiecewiseConstant =>
  mapPiecewise(all, (values) => values.reduce((sum, value, i) => sum + weights[i] * value, 0));

/** The range of an axis, and where its nodes are dense. */
export interface Range {
  /** The lower end, as a value of the axis. */
  readonly from: number;
  /** The upper end, as a value of the axis. */
  readonly to: number;
  /** The value of the axis about which nodes are dense; today's value by default. */
  readonly dense?: number;
  /** The width of the dense region, in units of the coordinate. */
  readonly width: number;
  readonly coordinate: "linear" | "log";
  /** The fraction of the first interval by which the first node lies above `from`; 0 by default. */
  readonly firstNode?: number;
}

/** Standard deviations to each side of where a factor is, or is expected. */
const DEVIATIONS = 4.5;
/** The standard deviations that the axis of a variance extends below and above: its upper tail is exponential. */
const VARIANCE_BELOW = 4;
const VARIANCE_ABOVE = 6;
/** The narrowest range of ln S: without volatility there would be none. */
const MIN_DEVIATION = 0.01;
/** The dense part of an asset's axis, in standard deviations: nearly uniform, since payoffs are averaged over cells. */
const DENSE = 2.5;
/** The dense part of a variance's axis, a fraction of its upper end. */
const DENSE_VARIANCE = 0.05;

/**
 * Returns the axis of Heston's variance.
 *
 * At v = 0 the equation has only the first derivative κθ·∂V/∂v, and a difference of two nodes has an error of
 * ½κθh·∂²V/∂v². If the first node is v₁ = ½δh instead, with δ = 2κθ/σ² of Feller's condition, the difference of two
 * nodes is right for parabolas, since the second derivative ½σ²v₁ makes up for its error. Values are extrapolated by
 * Richardson's formula from a mesh with this first node and intervals of 2h; the errors of both meshes cancel with v₁ =
 * ⅓δh.
 */
export function varianceRange(heston: Heston, expiry: number): Range {
  const v0 = varianceOf(heston);
  const { mean } = varianceOfHeston(heston, v0, expiry);
  const spread = Math.max(...[0.25, 0.5, 0.75, 1].map((part) => varianceOfHeston(heston, v0, part * expiry).deviation));
  // The upper tail falls like exp(−v/scale).
  const scale = 0.5 * heston.sigma * heston.sigma * decayIntegral(heston.kappa, expiry);
  const to = Math.max(v0, mean, heston.theta) + VARIANCE_ABOVE * Math.max(spread, scale) + 1e-6;
  const from = Math.max(Math.min(v0, mean) - VARIANCE_BELOW * spread, 0);
  const feller = Math.min((2 * heston.kappa * heston.theta) / (heston.sigma * heston.sigma), 1);
  const firstNode = from === 0 && heston.sigma > 0 ? feller / 3 : 0;
  return { from, to, dense: from, width: DENSE_VARIANCE * to, coordinate: "linear", firstNode };
}

/** Returns the axis of SABR's volatility α. */
export function alphaRange(sabr: Sabr, spot: number, expiry: number): Range {
  const alpha = Math.max(alphaOf(sabr, spot), 1e-12);
  const deviation = Math.max(sabr.nu * Math.sqrt(expiry), MIN_DEVIATION);
  const reach = DEVIATIONS * deviation + 0.5 * deviation * deviation;
  return { from: alpha * Math.exp(-reach), to: alpha * Math.exp(reach), width: deviation, coordinate: "log" };
}

/** Returns the axis of x, the deviation of Hull and White's short rate from its curve. */
export function rateRange({ shortRate, expiry }: Terms): Range {
  const { meanReversion, volatility } = shortRate!;
  const deviation = volatility * Math.sqrt(decayIntegral(2 * meanReversion, expiry));
  return { from: -DEVIATIONS * deviation, to: DEVIATIONS * deviation, width: deviation, coordinate: "linear" };
}

/** Returns the axis of an underlying; `spots` are all spots at which values will be read. */
export function assetRange(asset: Asset, terms: Terms, spots: readonly number[]): Range {
  const { expiry, rates } = terms;
  const { underlying, volatility } = asset;
  const [lowest, highest] = [Math.min(...spots), Math.max(...spots)];
  const deviation = Math.max(
    Math.sqrt(totalVariance(volatility, underlying.spot, expiry)) + rateDeviation(terms),
    MIN_DEVIATION,
  );
  const drift = integrate(rates, expiry) - underlying.dividends.yield * expiry;
  const reach = DEVIATIONS * deviation + 0.5 * deviation * deviation;
  const paid = underlying.dividends.discrete
    .filter(({ time }) => time <= expiry)
    .reduce((price, { cash, proportional }) => Math.max(price * (1 - proportional) - cash, 0), lowest);
  const to = highest * Math.exp(Math.max(drift, 0) + reach);
  const low = Math.min(paid, lowest) * Math.exp(Math.min(drift, 0) - reach);
  // A spot that may come to zero, by its diffusion or by dividends, has an axis from there.
  const hasZero = isAbsorbed(volatility) || (paid < lowest && low < 1e-4 * lowest);
  if (hasZero) return { from: 0, to, width: DENSE * deviation * underlying.spot, coordinate: "linear" };
  return { from: low, to, width: DENSE * deviation, coordinate: "log" };
}

/** Tells whether the diffusion takes the spot to zero. */
function isAbsorbed(volatility: Volatility): boolean {
  switch (volatility.kind) {
    case "cev":
    case "sabr":
      return volatility.beta < 1;
    case "displaced":
      return volatility.shift > 0;
    default:
      return false;
  }
}

/** The standard deviation of what a stochastic short rate adds to ln S, at most. */
function rateDeviation({ shortRate, expiry }: Terms): number {
  if (shortRate === undefined) return 0;
  return shortRate.volatility * decayIntegral(shortRate.meanReversion, expiry) * Math.sqrt(expiry / 3);
}

/** Returns σ(t) of a deterministic volatility; NaN at all times for any other volatility. */
export const sigmaOf = (volatility: Volatility): PiecewiseConstant =>
  volatility.kind === "deterministic" ? volatility.sigma : { times: [], values: [Number.NaN] };

/**
 * Returns the piecewise constant function whose value at each time is `of` applied to the values of several piecewise
 * constant functions at that time.
 */
export function mapPiecewise(
  all: readonly PiecewiseConstant[],
  of: (values: readonly number[]) => number,
): PiecewiseConstant {
  const times = [...new Set(all.flatMap((one) => one.times))].sort((a, b) => a - b);
  const values = [...times, Number.POSITIVE_INFINITY].map((t) => of(all.map((one) => valueAt(one, t))));
  return { times, values };
}
