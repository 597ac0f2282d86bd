/** The numbers of nodes and steps that a problem of several factors takes. */
import { factorsOf, type Terms } from "../../terms.ts";
import type { Range } from "../../equations/domain.ts";
import { followFromGamma } from "../../equations/measures.ts";

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
export function finenessOf(terms: Terms, level: number): Fineness {
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
export function lognormalFineness(
  terms: Terms,
  deviations: readonly number[],
  ranges: readonly Range[],
  level: number,
): Fineness {
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
export const growth = (terms: Terms, from: number, to: number): number =>
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
export interface Fineness {
  /** The number of nodes of each axis. */
  readonly nodes: readonly number[];
  readonly steps: number;
}
