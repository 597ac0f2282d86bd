/** Error estimates in several factors, from two independent signs of an error. */
import type { AxesPoint } from "../../../pde/fdm/index.ts";
import type { Terms } from "../../terms.ts";
import { isAtExpiry, restartsOf } from "../../equations/parts.ts";
import { ridgeSafety, ridgeWidth } from "../../equations/ridge.ts";
import { finenessOf } from "./fineness.ts";

/**
 * The number of levels by which the second solution, for the error estimate, is coarser. Two levels below, meshes and
 * time steps are twice as coarse, at an eighth of the cost on two axes.
 */
export const LEVELS_BELOW = 2;

/**
 * The weights, in an error estimate, of the correction by extrapolation and of half the distance to the value two
 * levels below.
 */
interface Weights {
  readonly correction: number;
  readonly distance: number;
}

/** The weights by what is known of the errors; solutions of European trades without dates are smooth until expiry. */
const WEIGHTS = {
  lognormal: { smooth: { correction: 0.25, distance: 1 }, rough: { correction: 0.5, distance: 1 } },
  heston: { smooth: { correction: 0.6, distance: 0.9 }, rough: { correction: 1, distance: 0.25 } },
  // A Fourier integral prices these, unless this method is asked for: of 150 random ones 6 were beyond 0.6 and 0.9.
  plainEuropean: { smooth: { correction: 1, distance: 2 }, rough: { correction: 1, distance: 2 } },
  plainAmerican: { smooth: { correction: 1, distance: 1.5 }, rough: { correction: 1, distance: 1.5 } },
  others: { smooth: { correction: 1, distance: 0.25 }, rough: { correction: 1, distance: 0.25 } },
} as const satisfies Record<string, { readonly smooth: Weights; readonly rough: Weights }>;

/**
 * Returns the error estimate of a value at a level from its correction by extrapolation and its distance to the
 * extrapolated value `levels` levels below. The correction alone is not enough: it vanishes where errors from several
 * sources cancel, about once in thirty trades, and it is mostly ten times the error. The distance vanishes elsewhere.
 * An error of first order is half of the distance, and halves with every two levels. design/factors.md has the figures.
 */
export function estimateOf(
  terms: Terms,
  correction: number,
  distance: number,
  { level, levels }: { readonly level: number; readonly levels: number },
): number {
  const weights = WEIGHTS[familyOf(terms)][isSmooth(terms) ? "smooth" : "rough"];
  const estimate = weights.distance * 2 ** (-0.5 * levels) * distance + weights.correction * correction;
  const width = ridgeWidth(terms.correlations, ownAxesOf(terms));
  return estimate * ridgeSafety(width, AXIS / (finenessOf(terms, level).nodes[0] - 1));
}

/** The standard deviations that the axis of an asset has. */
const AXIS = 9;

/** Returns the indices of the assets with axes of their own: those with barriers, and all that are not lognormal. */
export function ownAxesOf(terms: Pick<Terms, "assets" | "shortRate" | "expiry" | "barriers">): readonly number[] {
  const all = [...terms.assets.keys()];
  if (!isLognormal(terms)) return all;
  return all.filter((i) => terms.barriers.some(({ asset = 0 }) => asset === i));
}

/** Tells whether all assets are lognormal, without dividends or jumps of rates on dates before expiry. */
export const isLognormal = ({ assets, shortRate, expiry }: Pick<Terms, "assets" | "shortRate" | "expiry">): boolean =>
  shortRate === undefined &&
  assets.every(
    ({ volatility, underlying }) =>
      volatility.kind === "deterministic" &&
      underlying.dividends.discrete.every((dividend) => dividend.time <= 0 || isAtExpiry(dividend.time, expiry)),
  );

function familyOf(terms: Terms): keyof typeof WEIGHTS {
  if (isLognormal(terms)) return "lognormal";
  if (isPlainAmerican(terms)) return "plainAmerican";
  if (!isHeston(terms)) return "others";
  return terms.exercise.kind === "european" && terms.barriers.length === 0 ? "plainEuropean" : "heston";
}

const isHeston = ({ assets, shortRate }: Terms): boolean =>
  shortRate === undefined && assets.length === 1 && assets[0].volatility.kind === "heston";

/** Tells whether a trade is American in Heston's model, without barriers, dividends on dates, and jumps of the rate. */
export const isPlainAmerican = (terms: Terms): boolean =>
  isHeston(terms) &&
  terms.exercise.kind === "american" &&
  terms.barriers.length === 0 &&
  restartsOf(terms).length === 0 &&
  terms.assets[0].underlying.dividends.discrete.every(({ time }) => time <= 0 || time > terms.expiry);

/** The part of the correction in space that counts beside the distance to a coarser level. */
const SPACE = 0.5;

/**
 * Returns the correction of a trade for which `isPlainAmerican`: that in time and half of that in space, each enlarged,
 * and rounding.
 */
export function correctionOf({ errorEstimate = 0, corrections: [, space] }: AxesPoint): number {
  return errorEstimate - (1 - SPACE) * Math.abs(space.value);
}

const isSmooth = ({ exercise, barriers }: Terms): boolean =>
  exercise.kind === "european" && barriers.every(({ monitoring }) => monitoring.kind !== "discrete");
