/** Error estimates of sensitivities in several factors. */
import type { AxesDerivatives } from "../../pde/fdm/index.ts";
import { correlationBias, distanceToEnd } from "../plan/bump-sizes.ts";
import { CORRELATION, CROSS, DELTA, GAMMA, type Pair, pairsOf, RHO, THETA, VEGA } from "../plan/differences.ts";
import type { Terms } from "../terms.ts";
import { totalVariance } from "../variance.ts";
import { fromGrid, type Measures } from "./measures.ts";

/** The inputs of an error estimate. */
interface ErrorSigns {
  /**
   * The amounts by which extrapolations in space and time, and the way from a coarser level, have moved derivatives,
   * and the slopes of those moves.
   */
  readonly moves: readonly { readonly moved: AxesDerivatives; readonly slopes: Measures }[];
  /** True where a coarser level is among the moves. */
  readonly isCompared: boolean;
  /** The error estimate of the value. */
  readonly error: number;
}

/** The share of a standard deviation over which the error of a value changes as much as it is large. */
const SHARE = 0.5;
/**
 * Where a correlation is ±1 but for a little, there is no diffusion across, and mixed derivatives are off by up to 6 %
 * (an exchange option against Margrabe's formula).
 */
const NEAR_END = 1e-3;
const AT_END = 0.1;
/** The least of a correlation's range to scale errors by. */
const MIN_ROOM = 1e-2;
/** The safety factor on corrections with no coarser level to compare with: each passes through zero somewhere. */
const ALONE = 1.5;

/**
 * Returns a function for the error estimate of each sensitivity, by name. The estimate adds the correction by
 * extrapolation, the distance to a coarser level, and the error of the value divided by the width over which the value
 * changes substantially: half a standard deviation of the spot, and the corresponding width of volatilities and rates.
 */
export function errorsOf(
  terms: Terms,
  spots: readonly number[],
  { moves, isCompared, error }: ErrorSigns,
  found: Measures,
): (measure: string) => number {
  const { assets, expiry, rates, correlations } = terms;
  const parts = moves.map(({ moved, slopes }) => fromGrid(terms, moved, spots, slopes));
  const factor = isCompared ? 1 : ALONE;
  const deviations = assets.map(({ volatility }, i) => Math.sqrt(totalVariance(volatility, spots[i], expiry)));
  const widths = deviations.map((deviation, i) => spots[i] * Math.min(Math.max(SHARE * deviation, 1e-3), SHARE));
  const inverse = widths.reduce((all, width) => all + 1 / width, 0);
  const volatilities = deviations.map((deviation) => (SHARE * Math.max(deviation, 1e-3)) / Math.sqrt(expiry));
  // Where two assets go nearly together, the value of a spread changes over the little that is left.
  const room = (pair: Pair): number => Math.max(distanceToEnd(correlations, pair, deviations), MIN_ROOM);
  const ofEnd = ([i, j]: Pair, name: string): number =>
    Math.abs(correlations[i][j]) > 1 - NEAR_END ? AT_END * Math.abs(found.get(name) ?? Number.NaN) : 0;
  const ofCross = (pair: Pair): number =>
    error / (widths[pair[0]] * widths[pair[1]] * Math.min(room(pair), 1)) + ofEnd(pair, CROSS(pair));
  const own = new Map<string, number>([
    ...widths.map((width, i) => [DELTA(i), error / width] as const),
    ...widths.map((width, i) => [GAMMA(i), error / width ** 2] as const),
    ...volatilities.map((one, i) => [VEGA(i), error / one] as const),
    ...pairsOf(assets.length).map((pair) => [CROSS(pair), ofCross(pair)] as const),
    ...pairsOf(correlations.length).map((pair) => {
      const slope = Math.abs(found.get(CORRELATION(pair)) ?? Number.NaN);
      const own = error / (SHARE * Math.min(room(pair), 1));
      const bias = correlationBias(terms, pair, deviations) * slope;
      return [CORRELATION(pair), own + bias + ofEnd(pair, CORRELATION(pair))] as const;
    }),
    [DELTA("all"), error * inverse],
    [GAMMA("all"), error * inverse ** 2],
    [VEGA("all"), volatilities.reduce((all, one) => all + error / one, 0)],
    [THETA, error * (1 / (SHARE * expiry) + Math.abs(rates.values[0]))],
    [RHO, (error * expiry) / (SHARE * Math.max(...deviations, 1e-3))],
  ]);
  return (name) =>
    parts.reduce((all, part) => all + factor * Math.abs(part.get(name) ?? Number.NaN), own.get(name) ?? Number.NaN);
}
