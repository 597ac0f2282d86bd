/** Ridges along which nearly perfectly correlated assets move, on meshes whose axes are these assets. */
import type { Trade } from "../../book/index.ts";

/**
 * The factor on an error estimate for each interval in the width of a ridge, and the most. Where a mesh does not
 * resolve a ridge, errors hardly fall from level to level. On two assets with cash dividends, against simulation, they
 * were 1.2 estimates at a ratio of 0.6, 1.9 at 0.9, 2.4 at 1.3, 3.6 at 4, and 5 without any width.
 */
const OF_RIDGE = 2;
const MOST_OF_RIDGE = 6;

/** The width below which no practical mesh resolves a ridge, that of a correlation of 98 %. */
const NARROW = 0.2;

/**
 * The cost in microseconds of each value on such a mesh. It is above the cost of Monte Carlo, so that Monte Carlo
 * prices these trades if it can.
 */
export const COST_ON_NARROW_RIDGE = 2e6;

/** The distance of nodes in standard deviations of an asset, where axes have 48 intervals. */
const SPACING = 0.2;

type Correlations = readonly (readonly number[])[];

/**
 * Returns the width of the narrowest ridge between assets with axes of their own, by their indices, in standard
 * deviations: √(2(1 − |ρ|)). It is infinite without two of them.
 */
export function ridgeWidth(correlations: Correlations, own: readonly number[]): number {
  const pairs = own.flatMap((i, k) => own.slice(k + 1).map((l) => Math.abs(correlations[i][l])));
  return pairs.length === 0 ? Number.POSITIVE_INFINITY : Math.sqrt(2 * Math.max(1 - Math.max(...pairs), 0));
}

/** Tells whether assets with axes of their own are so nearly perfectly correlated that no practical mesh will do. */
export const hasNarrowRidge = ({ correlations }: Trade, own: readonly number[]): boolean =>
  correlations !== undefined && ridgeWidth(correlations.matrix, own) < NARROW;

/**
 * Returns the factor by which an error estimate is multiplied for a ridge of the given width on a mesh of the given
 * spacing.
 */
export const ridgeSafety = (width: number, spacing = SPACING): number =>
  Math.min(Math.max((OF_RIDGE * spacing) / width, 1), MOST_OF_RIDGE);
