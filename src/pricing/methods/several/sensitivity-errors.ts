/** Error estimates of sensitivities in several factors. */
import type { AxesDerivatives } from "../../../fdm/index.ts";
import type { SeveralSensitivities } from "../../columns/result-columns.ts";
import type { Terms } from "../../terms.ts";
import { totalVariance } from "./domain.ts";
import { type Found, fromGrid, pairsOf, type Slope } from "./sensitivities.ts";

/** The inputs of an error estimate. */
export interface Signs {
  /**
   * The amounts by which extrapolations in space and time, and the way from a coarser level, have moved derivatives.
   */
  readonly moved: readonly AxesDerivatives[];
  /** The slopes of those moves. */
  readonly slopes: readonly (readonly Slope[])[];
  /** True where a coarser level is among the moves. */
  readonly isCompared: boolean;
  /** The error estimate of the value. */
  readonly error: number;
}

export interface SensitivityErrors {
  readonly delta: number;
  readonly gamma: number;
  readonly theta: number;
  readonly vega: number;
  readonly rho: number;
  readonly several: SeveralSensitivities;
}

/** Returns the errors of sensitivities that are known: rounding. */
export function noErrors({ several }: Found): SensitivityErrors {
  const pairs = (all: SeveralSensitivities["crossGamma"]): SeveralSensitivities["crossGamma"] =>
    all.map(([a, b]) => [a, b, 0]);
  return {
    delta: 0,
    gamma: 0,
    theta: 0,
    vega: 0,
    rho: 0,
    several: {
      assets: several.assets.map(() => ({ delta: 0, gamma: 0, vega: 0 })),
      crossGamma: pairs(several.crossGamma),
      correlation: pairs(several.correlation),
    },
  };
}

/** The share of a standard deviation over which the error of a value changes as much as it is large. */
const SHARE = 0.5;
/** The safety factor on corrections with no coarser level to compare with: each passes through zero somewhere. */
const ALONE = 1.5;
/** The part of a slope by a correlation that the difference over its move leaves out. */
const OF_CORRELATION = 0.01;

/**
 * Estimates the error of each sensitivity: the amount by which extrapolation and the way from a coarser level moved it,
 * and the value's own estimate over the width in which the value changes much: half a standard deviation of the spot,
 * and the corresponding width of volatilities and rates.
 */
export function errorsOf(
  terms: Terms,
  names: readonly string[],
  spots: readonly number[],
  { moved, slopes, isCompared, error }: Signs,
  found: Found,
): SensitivityErrors {
  const parts = moved.map((point, k) => fromGrid(terms, names, point, spots, slopes[k]));
  const factor = isCompared ? 1 : ALONE;
  const sum = (of: (part: Found) => number): number =>
    factor * parts.reduce((all, part) => all + Math.abs(of(part)), 0);
  const { assets, expiry } = terms;
  const deviations = assets.map(({ volatility }, i) => Math.sqrt(totalVariance(volatility, spots[i], expiry)));
  const widths = deviations.map((deviation, i) => spots[i] * Math.min(Math.max(SHARE * deviation, 1e-3), SHARE));
  const inverse = widths.reduce((all, width) => all + 1 / width, 0);
  const volatilities = deviations.map((deviation) => (SHARE * Math.max(deviation, 1e-3)) / Math.sqrt(expiry));
  const deviation = Math.max(...deviations, 1e-3);
  const pairs = pairsOf(assets.length);
  return {
    delta: sum((part) => part.delta) + error * inverse,
    gamma: sum((part) => part.gamma) + error * inverse ** 2,
    theta: sum((part) => part.theta) + error * (1 / (SHARE * expiry) + Math.abs(terms.rates.values[0])),
    vega: sum((part) => part.vega) + volatilities.reduce((all, one) => all + error / one, 0),
    rho: sum((part) => part.rho) + (error * expiry) / (SHARE * deviation),
    several: {
      assets: assets.map((_, i) => ({
        delta: sum((part) => part.several.assets[i].delta!) + error / widths[i],
        gamma: sum((part) => part.several.assets[i].gamma!) + error / widths[i] ** 2,
        vega: sum((part) => part.several.assets[i].vega!) + error / volatilities[i],
      })),
      crossGamma: found.several.crossGamma.map(([a, b], k) => {
        const [i, l] = pairs[k];
        return [a, b, sum((part) => part.several.crossGamma[k][2]) + error / (widths[i] * widths[l])];
      }),
      correlation: found.several.correlation.map(([a, b, slope], k) => [
        a,
        b,
        sum((part) => part.several.correlation[k][2]) + error / SHARE + OF_CORRELATION * Math.abs(slope),
      ]),
    },
  };
}
