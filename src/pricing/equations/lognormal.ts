/** The pricing equation of lognormal assets in linear coordinates of their log-spots. */
import { integrate, integratedProduct, integratedVariance, type PiecewiseConstant } from "../../market/index.ts";
import type { AxesDerivatives } from "../../pde/fdm/index.ts";
import type { Terms } from "../terms.ts";
import { type Coordinates, covarianceRate, driftOf, sigmaOf, weightedSum } from "./coordinates.ts";
import { assetName, type Coefficients } from "./equation.ts";
import { apply, type Expression, integralOf, piecewise, plus, times } from "./expression.ts";

/** The equation of lognormal assets in coordinates, and the spots as functions of these coordinates. */
export interface LognormalEquation {
  /** The names of the axes: that of the asset for its own axis, y1, y2 … for principal components. */
  readonly names: readonly string[];
  readonly coefficients: Coefficients;
  /** The spot of each asset at expiry, as an expression of the axes. */
  readonly atExpiry: readonly Expression[];
  /** The spot of each asset at time t, as an expression of t and the axes. */
  readonly atTime: readonly Expression[];
}

/**
 * Returns the equation in the coordinates y of x = m(t) + A·y,
 *
 *   ∂V/∂t + Σ Dⱼₖ ∂²V/∂yⱼ∂yₖ + Σ dⱼ ∂V/∂yⱼ − r V = 0,   D = ½ A⁻¹(ρᵢₗσᵢσₗ)A⁻ᵀ.
 *
 * An asset's own axis has its drift dⱼ in the equation, so that barriers are at constant values of the axis. With
 * `standing` all axes do, so that the spots at a node do not change in time. Otherwise m(t) has the drifts of the
 * principal components. With the volatilities and correlations from which the coordinates were made, only own axes have
 * mixed derivatives.
 */
export function lognormalEquation(
  terms: Terms,
  { A, inverse, owner }: Coordinates,
  standing: boolean,
): LognormalEquation {
  const { assets, expiry, rates } = terms;
  const names = owner.map((asset, j) => (asset === undefined ? `y${j + 1}` : assetName(assets.length, asset)));
  const rate = piecewise(rates, expiry);
  const coefficients: Record<string, Expression> = {
    V: apply((r) => -r, rate),
    ...diffusions(terms, inverse, owner, names),
  };
  const drifts = assets.map((_, i) => driftOf(terms, i));
  owner.forEach((asset, j) => {
    if (asset !== undefined)
      coefficients[names[j]] = apply(
        (r, q, S) => (r - q) * S,
        rate,
        assets[asset].underlying.dividends.yield,
        names[j],
      );
    else if (standing) coefficients[names[j]] = piecewise(weightedSum(drifts, inverse[j]), expiry);
  });
  // m(t): what the axes without a drift have of each asset's.
  const isCarried = owner.map((asset) => asset === undefined && !standing);
  const carried = assets.map((_, i) =>
    weightedSum(
      drifts,
      assets.map((_one, l) => inverse.reduce((sum, row, j) => sum + (isCarried[j] ? A[i][j] * row[l] : 0), 0)),
    ),
  );
  const spotsAt = (isAtExpiry: boolean): readonly Expression[] =>
    assets.map(({ underlying: { spot } }, i) => {
      const at = owner.indexOf(i);
      if (at >= 0) return names[at];
      const own = owner.reduce(
        (product: Expression, of, j) =>
          of === undefined || A[i][j] === 0
            ? product
            : apply((value, S, s, b) => value * (S / s) ** b, product, names[j], assets[of].underlying.spot, A[i][j]),
        spot * Math.exp(integrate(carried[i], expiry)),
      );
      const sum = owner.flatMap((of, j) => (of === undefined ? [times(A[i][j], names[j])] : [])).reduce(plus);
      if (isAtExpiry || standing) return apply((value, x) => value * Math.exp(x), own, sum);
      return apply((value, x, m) => value * Math.exp(x - m), own, sum, integralOf(carried[i], expiry));
    });
  return { names, coefficients, atExpiry: spotsAt(true), atTime: spotsAt(false) };
}

/** Dⱼₖ, twice that beside the diagonal; none that is zero at all times. */
function diffusions(
  terms: Terms,
  inverse: Coordinates["inverse"],
  owner: Coordinates["owner"],
  names: readonly string[],
): Coefficients {
  const { assets, expiry } = terms;
  const rates = assets.flatMap((_, i) => assets.map((_one, l) => covarianceRate(terms, i, l)));
  const largest = Math.max(...rates.flatMap(({ values }) => values.map(Math.abs)));
  const rate = (j: number, k: number): PiecewiseConstant =>
    weightedSum(
      rates,
      inverse[j].flatMap((a) => inverse[k].map((b) => a * b)),
    );
  const scaled = (value: Expression, j: number): Expression =>
    owner[j] === undefined ? value : times(value, names[j]);
  const all: Record<string, Expression> = {};
  names.forEach((a, j) => {
    all[a + a] = scaled(
      scaled(
        apply((D) => 0.5 * D, piecewise(rate(j, j), expiry)),
        j,
      ),
      j,
    );
    names.slice(j + 1).forEach((b, after) => {
      const k = j + 1 + after;
      const mixed = rate(j, k);
      if (mixed.values.some((value) => Math.abs(value) > 1e-12 * largest))
        all[a + b] = scaled(scaled(piecewise(mixed, expiry), j), k);
    });
  });
  return all;
}

/**
 * Returns the coordinates of a point, in the order of the axes, from the spots of the underlyings: the spot itself on
 * an underlying's own axis, otherwise Σ (A⁻¹)ⱼᵢ·ln(Sᵢ/S₀ᵢ). `today` has the spots S₀.
 */
export const coordinatesAt = (
  { inverse, owner }: Coordinates,
  today: readonly number[],
  spots: readonly number[],
): readonly number[] =>
  owner.map((asset, j) =>
    asset === undefined
      ? inverse[j].reduce((sum, one, i) => sum + one * Math.log(spots[i] / today[i]), 0)
      : spots[asset],
  );

/**
 * Converts derivatives with respect to the axes into derivatives with respect to the spots: ∂/∂xᵢ = Σ (A⁻¹)ⱼᵢ ∂/∂yⱼ.
 */
export function derivativesBySpots(
  { value, first, second }: AxesDerivatives,
  names: readonly string[],
  { inverse, owner }: Coordinates,
  spots: readonly number[],
): AxesDerivatives {
  // ∂/∂y of an own axis is S·∂/∂S.
  const scale = owner.map((asset) => (asset === undefined ? 1 : spots[asset]));
  const slope = names.map((name, j) => scale[j] * first[name]);
  const bend = names.map((a, j) =>
    names.map((b, k) => scale[j] * scale[k] * second[a + b] + (j === k && owner[j] !== undefined ? slope[j] : 0)),
  );
  const axes = spots.map((_, i) => assetName(spots.length, i));
  const slopes = spots.map((_, i) => slope.reduce((sum, one, j) => sum + inverse[j][i] * one, 0));
  const curvature = (i: number, l: number): number =>
    bend.reduce((sum, row, j) => sum + row.reduce((part, one, k) => part + inverse[j][i] * inverse[k][l] * one, 0), 0) -
    (i === l ? slopes[i] : 0);
  return {
    value,
    first: Object.fromEntries(axes.map((name, i) => [name, slopes[i] / spots[i]])),
    second: Object.fromEntries(
      axes.flatMap((a, i) => axes.map((b, l) => [a + b, curvature(i, l) / (spots[i] * spots[l])])),
    ),
  };
}

/** A spot with deterministic volatility and rates. */
export interface LogNormalSpot {
  readonly spot: number;
  readonly rates: PiecewiseConstant;
  readonly dividendYield: number;
  readonly sigma: PiecewiseConstant;
}

/** A weighted sum of log-spots: the fixing times in years, and the weight of each. */
export interface Fixings {
  readonly times: readonly number[];
  readonly weights: readonly number[];
}

/**
 * Returns the mean and variance of Σ wₖ·ln S(tₖ), which is normally distributed:
 *
 *   mean = Σ wₖ·(ln S₀ + ∫₀^tₖ (r − q − σ²/2) ds),   variance = Σₖ Σⱼ wₖ·wⱼ·∫₀^min(tₖ,tⱼ) σ² ds
 */
export function weightedLogarithm(
  { spot, rates, dividendYield, sigma }: LogNormalSpot,
  { times, weights }: Fixings,
): { readonly mean: number; readonly variance: number } {
  let mean = 0;
  let variance = 0;
  // Σ of the weights from fixing k on, by which its increment counts.
  let left = weights.reduce((sum, weight) => sum + weight, 0);
  let before = 0;
  times.forEach((t, k) => {
    const total = integratedVariance(sigma, t);
    mean += weights[k] * (Math.log(spot) + integrate(rates, t) - dividendYield * t - 0.5 * total);
    variance += left * left * (total - before);
    left -= weights[k];
    before = total;
  });
  return { mean, variance };
}

/**
 * Returns the fixings and weights of the trapezoidal rule for (1/T)∫₀ᵀ ln S dt, where T is the last of the given times.
 */
export function trapezoidal(ends: readonly number[]): Fixings {
  const times = [0, ...ends];
  const last = times[times.length - 1];
  const weights = times.map((t, k) => ((times[k + 1] ?? t) - (times[k - 1] ?? t)) / (2 * last));
  return { times, weights };
}

/**
 * Returns the mean and variance of (1/T)∫₀ᵀ ln S dt, which is normally distributed:
 *
 *   mean = ln S₀ + (1/T)∫₀ᵀ (∫₀ᵗ (r − q) ds − V(t)/2) dt,   variance = (2/T²)∫₀ᵀ V(t)·(T − t) dt,   V(t) = ∫₀ᵗ σ² ds
 *
 * Integrands are quadratic where r and σ are constant, so that Simpson's rule is exact between the dates at which they
 * change.
 */
export function averageLogarithm(
  { spot, rates, dividendYield, sigma }: LogNormalSpot,
  expiry: number,
): { readonly mean: number; readonly variance: number } {
  const knots = [...rates.times, ...sigma.times].filter((time) => time > 0 && time < expiry);
  const ends = [0, ...new Set(knots.toSorted((a, b) => a - b)), expiry];
  const integral = (f: (t: number) => number): number =>
    ends
      .slice(1)
      .reduce((sum, to, k) => sum + ((to - ends[k]) / 6) * (f(ends[k]) + 4 * f(0.5 * (ends[k] + to)) + f(to)), 0);
  const total = (t: number): number => integratedVariance(sigma, t);
  const drift = integral((t) => integrate(rates, t) - dividendYield * t - 0.5 * total(t));
  return {
    mean: Math.log(spot) + drift / expiry,
    variance: (2 / (expiry * expiry)) * integral((t) => total(t) * (expiry - t)),
  };
}

/**
 * Returns the mean and variance of Σ wᵢ·ln Sᵢ(T) at expiry, which is normally distributed:
 *
 *   mean = Σ wᵢ·(ln Sᵢ + ∫₀ᵀ (r − qᵢ − σᵢ²/2) ds),   variance = Σᵢ Σⱼ wᵢ·wⱼ·ρᵢⱼ·∫₀ᵀ σᵢσⱼ ds
 */
export function basketLogarithm(
  { assets, rates, correlations, expiry }: Terms,
  spots: readonly number[],
  weights: readonly number[],
): { readonly mean: number; readonly variance: number } {
  const sigmas = assets.map(({ volatility }) => sigmaOf(volatility));
  const growth = integrate(rates, expiry);
  let [mean, variance] = [0, 0];
  weights.forEach((w, i) => {
    const drift = growth - assets[i].underlying.dividends.yield * expiry;
    mean += w * (Math.log(spots[i]) + drift - 0.5 * integratedVariance(sigmas[i], expiry));
    weights.forEach((other, j) => {
      variance += w * other * correlations[i][j] * integratedProduct(sigmas[i], sigmas[j], expiry);
    });
  });
  return { mean, variance: Math.max(variance, 0) };
}
