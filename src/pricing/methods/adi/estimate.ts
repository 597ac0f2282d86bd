/** Error estimates in several factors, from two independent signs of an error. */
import type { Range } from "../../equations/coordinates.ts";
import { followFromGamma } from "../../equations/measures.ts";
import { isAtExpiry, restartsOf } from "../../equations/parts.ts";
import { ridgeSafety, ridgeWidth } from "../../equations/ridge.ts";
import { factorsOf, type Terms } from "../../terms.ts";

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
  return estimate * ridgeSafety(width, AXIS / (resolutionOf(terms, level).nodes[0] - 1));
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

/**
 * The part of the correction in space that does not count in the error estimate of an American option in Heston's model
 * (`isPlainAmerican`), beside the distance to a coarser level. What is left is the correction in time, the rest of that
 * in space, and the rounding error.
 */
export const AMERICAN_HESTON_SPARED = 0.5;

const isSmooth = ({ exercise, barriers }: Terms): boolean =>
  exercise.kind === "european" && barriers.every(({ monitoring }) => monitoring.kind !== "discrete");

/** Intervals of an axis and time steps at level 0, on two axes and on three. */
const ASSET = [48, 32];
const VARIANCE = [16, 12];
const ALPHA = [24, 16];
const RATE = [16, 12];
const STEPS = 12;
/** The number of steps of a variance that reverts fast, as a multiple of those. */
const MAX_STEPS_FACTOR = 8;

/** Levels beyond these take minutes. */
const MAX_LEVEL = [7, 4];

/**
 * Returns the numbers of nodes and steps at a level. Each level has √2 times the intervals and steps of the one before.
 */
export function resolutionOf(terms: Terms, level: number): Resolution {
  const k = factorsOf(terms) - 2;
  const factor = 2 ** (0.5 * level);
  const even = (count: number): number => 2 * Math.round(0.5 * count * factor);
  const volatilities = terms.assets.flatMap(({ volatility: { kind } }) =>
    kind === "heston" ? [VARIANCE[k]] : kind === "sabr" ? [ALPHA[k]] : [],
  );
  const intervals = [...terms.assets.map(() => ASSET[k]), ...volatilities];
  if (terms.shortRate !== undefined) intervals.push(RATE[k]);
  // Early exercise is of first order in time, and dates share the steps.
  const exercised = terms.exercise.kind === "european" ? 1 : 2;
  // A fast variance wants a step for each of its reversions, up to a point.
  const fast = Math.min(reversionsOf(terms), MAX_STEPS_FACTOR * STEPS * factor);
  const steps = Math.max(even(STEPS * exercised), 2 * Math.ceil(0.5 * fast));
  return { nodes: intervals.map((count) => Math.max(even(count), MIN_INTERVALS) + 1), steps };
}

/** Standard deviations on both sides that the intervals of an axis are for; longer axes have more. */
const DEVIATIONS = 10;
/** The least standard deviations that axes are made for: what bumped copies of a trade need, and others. */
const MIN_DEVIATION = { bumped: 0.01, others: 1e-5 };
/** The power of its share of the largest deviation by which an axis has fewer intervals, on two axes and on three. */
const SHARE = [0.25, 0.5];
/** Half of them make a mesh, too. */
const MIN_INTERVALS = 12;
/** Multiples of the intervals that axes have, so that few shapes of problems occur. */
const STRETCHES = [0.5, 0.7, 1, 1.5, 2, 3];
/** Half of ln S's variance that the steps of level 0 can follow; beyond, they are up to so many times as many. */
const FOLLOWED = 1;
const MAX_OF_VARIANCE = 16;

/**
 * Returns the least standard deviation that an axis is made for. Perfectly correlated assets have components without
 * any. Bumped copies have some there, and share the mesh.
 */
export const leastDeviation = (terms: Terms): number =>
  followFromGamma(terms) ? MIN_DEVIATION.others : MIN_DEVIATION.bumped;

/**
 * Returns the numbers of nodes and steps at a level for lognormal assets. A principal component with a smaller
 * deviation has fewer intervals, because its contribution to the error falls with its deviation.
 */
export function lognormalResolution(
  terms: Terms,
  deviations: readonly number[],
  ranges: readonly Range[],
  level: number,
): Resolution {
  const k = deviations.length - 2;
  const factor = 2 ** (0.5 * level);
  const even = (count: number): number => 2 * Math.round(0.5 * count * factor);
  const least = leastDeviation(terms);
  const largest = Math.max(...deviations, least);
  const nodes = ranges.map(({ from, to, coordinate }, j) => {
    const length = coordinate === "log" ? Math.log(to / from) : to - from;
    const deviation = Math.max(deviations[j], least);
    const wanted = (deviation / largest) ** SHARE[k] * Math.max(length / (DEVIATIONS * deviation), 1);
    const stretch = STRETCHES.find((one) => one >= wanted - 0.1) ?? STRETCHES[STRETCHES.length - 1];
    return Math.max(even(ASSET[k] * stretch), MIN_INTERVALS) + 1;
  });
  const exercised = terms.exercise.kind === "european" ? 1 : 2;
  const growth = Math.min(Math.max((0.5 * largest * largest) / FOLLOWED, 1), MAX_OF_VARIANCE);
  return { nodes, steps: even(STEPS * exercised * growth) };
}

/** κT of the fastest variance. */
const reversionsOf = ({ assets, expiry }: Terms): number =>
  Math.max(0, ...assets.map(({ volatility }) => (volatility.kind === "heston" ? volatility.kappa * expiry : 0)));

/**
 * Returns the ratio of the costs at two levels. Each level has √2 times the intervals of every axis and the time steps.
 */
export const costRatio = (terms: Terms, from: number, to: number): number =>
  2 ** (0.5 * (to - from) * (factorsOf(terms) + 1));

/**
 * Returns the level at which an error that is now `ratio` times too large is small enough, by convergence of second
 * order. It is at most `most` levels finer, and at most the finest level.
 */
export function refined(terms: Terms, level: number, ratio: number, most: number): number {
  const wanted = level + Math.min(Math.max(Math.ceil(Math.log2(ratio)), 1), most);
  return Math.min(wanted, MAX_LEVEL[factorsOf(terms) - 2]);
}

/** The resolution at which a problem is solved: nodes of each axis, and time steps. */
export interface Resolution {
  /** The number of nodes of each axis. */
  readonly nodes: readonly number[];
  readonly steps: number;
}
