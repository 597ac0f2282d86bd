/**
 * The one place that says which sensitivities are differences of values, and how far apart these are.
 *
 * | method | from the solution | differences |
 * | --- | --- | --- |
 * | closed form, integral equation | all | none |
 * | finite differences, one factor | delta, gamma, theta | forward where a value is smooth, else central and wide |
 * | finite differences, sparse grids | delta, gamma, cross gamma, theta, vega of a variance | central, narrow |
 * | trees and convolutions | none | central; gamma over some points of the tree |
 * | paths | none | central, on the same random numbers, wide where few paths tell |
 */
import { type BumpsOnMeshes, type OneFactorProblem, totalVariance } from "../../fdm/index.ts";
import type { Precision } from "../../kernel/index.ts";
import { integratedVariance, isStochastic, sigmasOf, varianceOf, type Volatility } from "../../market/index.ts";
import type { Greeks } from "../options.ts";
import type { Terms } from "../terms.ts";
import type { BumpSizes, Pair, Step, Valuation } from "./differences.ts";

/** The time step of theta by differences, in years. */
export const DAY = 1 / 365;

/** A move of rates. */
const RATE = 1e-3;
/** The moves of volatilities on grids, on trees, and on paths: there at most, and relative to the volatility. */
const VOLATILITY = { grid: 2e-3, tree: 0.01, path: 0.01, pathRelative: 0.1 } as const;
/** The moves of correlations. */
const OF_CORRELATION = { grid: 1e-2, path: 0.02 } as const;
/** The share of its distance to the end of its range that a correlation moves by on grids, and the least move. */
const ROOM = 0.2;
const MIN_CORRELATION = 2e-4;
/** A driver with less variance than this of its own is one of the others. */
const SINGULAR = 1e-9;
/** The relative moves of a spot on trees: for delta, and the most for gamma. */
const ON_TREE = { first: 0.01, most: 0.25 } as const;
/** The points of a tree between two spots of a second difference: a value is a sum of kinks, one for each point. */
const POINTS = 3;
/**
 * The move of a spot on paths, in standard deviations of its logarithm to expiry, whose square is the relative bias of
 * second differences, about, while their variance falls with it; relative to the spot in any case within bounds.
 */
const DEVIATIONS = 0.1;
const ON_PATH = { min: 1e-3, max: 0.1, unknown: 0.01 } as const;

const central = (by: number): Step => [by, -by];

/**
 * Returns the bump sizes for one-factor meshes. A European solution is smooth in its parameters, so in f64 a forward
 * difference of extrapolated values with a tiny step suffices. With early exercise the boundary moves between nodes as
 * parameters change, which leaves noise of about 1e-6 of the spot. Differences are then central and wide, of the fine
 * solution alone, because extrapolation would amplify the noise. In f32 they are wide because of rounding.
 */
export function bumpsOnMeshes(problem: OneFactorProblem, precision: Precision): BumpsOnMeshes {
  const { american, exerciseTimes, expiry } = problem;
  const sigma = Math.sqrt(totalVariance(problem) / expiry);
  if (precision !== "f32" && !american && exerciseTimes === undefined)
    return { isSmooth: true, volatility: 1e-4 * sigma, rate: 1e-6 };
  const wide = precision === "f32" ? 2.5 : 1;
  // A short life is hardly moved by the rates: a wider shift stands out of the noise. Over a long one values are curved
  // in them. And where volatility is little, no further than a tenth of a standard deviation, of the forward.
  const ofYear = Math.max(0.004 / Math.sqrt(expiry), 0.002) * wide;
  const rate = Math.min(ofYear, (0.1 * sigma) / Math.sqrt(expiry));
  return { isSmooth: false, volatility: 0.02 * wide * sigma, rate };
}

/** Returns the bump sizes for grids of several factors; differences have an error of second order in them. */
export const bumpsOnGrids = ({ assets, correlations }: Terms): BumpSizes => ({
  volatilities: assets.map(({ volatility }) => (isStochastic(volatility) ? undefined : central(VOLATILITY.grid))),
  rate: central(RATE),
  correlation: (pair) => correlationStep(correlations, pair),
});

/**
 * Two moves of a correlation within what the others allow it. Values bend the more the nearer its range ends, since the
 * volatility of a spread is a root of the distance.
 */
function correlationStep(matrix: readonly (readonly number[])[], pair: Pair): Step {
  const { up, down } = roomOf(matrix, pair);
  const both = Math.min(OF_CORRELATION.grid, ROOM * Math.min(up, down));
  if (both >= MIN_CORRELATION) return central(both);
  // At an end of the range both to the one side that there is.
  const one = Math.max(Math.min(OF_CORRELATION.grid, ROOM * Math.max(up, down)), MIN_CORRELATION);
  return up > down ? [one, 2 * one] : [-one, -2 * one];
}

/** A move of a correlation towards 0, or upwards from 0, within its range; undefined where the others leave no room. */
function stepOnPaths(matrix: readonly (readonly number[])[], [i, j]: Pair): Step | undefined {
  const { up, down } = roomOf(matrix, [i, j]);
  const isPositive = matrix[i][j] > 0;
  const by = Math.min(OF_CORRELATION.path, isPositive ? down : up);
  return by < MIN_CORRELATION ? undefined : [isPositive ? -by : by, 0];
}

/** How far a correlation can move up and down within what the others allow it. */
function roomOf(matrix: readonly (readonly number[])[], [i, j]: Pair): { readonly up: number; readonly down: number } {
  // What the other drivers leave of the two: the Schur complement.
  const rest = matrix.map((row) => [...row]);
  matrix.forEach((_, k) => {
    if (k === i || k === j || rest[k][k] < SINGULAR) return;
    const row = [...rest[k]];
    for (const a of rest.keys()) {
      const share = rest[a][k] / row[k];
      for (const b of rest.keys()) rest[a][b] -= share * row[b];
    }
  });
  const half = Math.sqrt(Math.max(rest[i][i] * rest[j][j], 0));
  return { up: half - rest[i][j], down: half + rest[i][j] };
}

/**
 * Returns the bump sizes for a quantization tree or a grid of factors. `size` is the number of its points, 0 where
 * values are smooth in the spot, and `deviation` the standard deviation of the log-spot on the last date. Points in the
 * middle of an optimal quantization are √(6π)/N standard deviations apart.
 */
export function bumpsOnTrees(
  { terms, spots: [spot] }: Valuation,
  { size, deviation }: { readonly size: number; readonly deviation: number },
  greeks: Greeks,
): BumpSizes {
  const { first, most } = ON_TREE;
  const wide = size === 0 ? first : (POINTS * Math.sqrt(6 * Math.PI) * deviation) / size;
  const [{ volatility }] = terms.assets;
  return {
    spots: { first: [first * spot], second: [Math.min(Math.max(first, wide), most) * spot] },
    ...(greeks === "all"
      ? { volatilities: [[VOLATILITY.tree, -Math.min(VOLATILITY.tree, lowest(volatility))]], rate: central(RATE) }
      : {}),
  };
}

/** The lowest instantaneous volatility, below which it cannot be moved. */
function lowest(volatility: Volatility): number {
  if (volatility.kind === "deterministic") return Math.min(...volatility.sigma.values);
  if (volatility.kind !== "gaussianFactors") return 0;
  const [a, b = 0] = sigmasOf(volatility);
  return Math.sqrt(Math.max(a * a + 2 * volatility.rho * a * b + b * b, 0));
}

/**
 * Returns the bump sizes for Monte Carlo paths. `later` are the terms a day later, if the trade still exists then, and
 * `scale` is a factor on the bumps.
 */
export function bumpsOnPaths(
  { terms, spots }: Valuation,
  later: Terms | undefined,
  greeks: Greeks,
  scale: number,
): BumpSizes {
  const { assets, exercise, expiry, correlations } = terms;
  const levels = assets.map(({ volatility }) => levelOf(volatility, expiry));
  const first = spots.map((spot, i) => {
    const level = levels[i];
    if (level === undefined) return scale * ON_PATH.unknown * spot;
    return Math.min(Math.max(scale * DEVIATIONS * level * Math.sqrt(expiry), ON_PATH.min), ON_PATH.max) * spot;
  });
  return {
    // The second derivative of a value whose rule of exercise does not move is another one.
    spots: { first, ...(exercise.kind === "european" ? { second: first } : {}) },
    later: later && { terms: later, years: DAY },
    ...(greeks === "all"
      ? {
          cross: true,
          volatilities: levels.map((level = Number.POSITIVE_INFINITY) =>
            central(scale * Math.min(VOLATILITY.path, VOLATILITY.pathRelative * level || VOLATILITY.path)),
          ),
          rate: central(scale * RATE),
          correlation: (pair) => stepOnPaths(correlations, pair),
        }
      : {}),
  };
}

/** A volatility per √year, of all of the life; undefined of one that depends on the spot. */
function levelOf(volatility: Volatility, expiry: number): number | undefined {
  switch (volatility.kind) {
    case "deterministic":
      return Math.sqrt(integratedVariance(volatility.sigma, expiry) / expiry);
    case "heston":
      return Math.sqrt(Math.max(varianceOf(volatility), volatility.theta));
    case "gaussianFactors":
      return Math.hypot(...sigmasOf(volatility));
    default:
      return undefined;
  }
}

/**
 * Returns the approximate relative bias of a sensitivity by differences on paths: the squared ratio of bump to standard
 * deviation for central differences, the ratio itself for one-sided ones.
 */
export function biasOnPaths(measure: string, { expiry, correlations }: Terms): number {
  const [kind, i, j] = measure.split(" ");
  if (kind === "theta") return DAY / expiry;
  if (kind === "correlation")
    return OF_CORRELATION.path / Math.max(1 - Math.abs(correlations[Number(i)][Number(j)]), OF_CORRELATION.path);
  return kind === "gamma" || kind === "cross" ? DEVIATIONS ** 2 : 0.2 * DEVIATIONS ** 2;
}
