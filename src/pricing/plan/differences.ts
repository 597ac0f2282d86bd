/** Sensitivities as differences: moved copies of a valuation, and the weights that each of them gives their values. */
import { type Bump, bumped, type Terms } from "../terms.ts";

/** The indices of two assets. */
export type Pair = readonly [number, number];

/** The terms of a trade, and the spot of each underlying, for which a value is wanted. */
export interface Valuation {
  readonly terms: Terms;
  readonly spots: readonly number[];
}

/** The two bumps of an input between which a difference is taken; a bump of 0 is the base case. */
export type Step = readonly [number, number];

/**
 * The bump sizes of sensitivities by differences. An input without a bump size is not bumped, because its sensitivity
 * is not requested or is read from the solution.
 */
export interface BumpSizes {
  /** The bump of each spot for first and second differences, in the currency. */
  readonly spots?: { readonly first: readonly number[]; readonly second?: readonly number[] };
  /** True where mixed second differences of two spots are wanted too. */
  readonly cross?: boolean;
  /** The bumps of each volatility; undefined for a volatility by which the solution has its own derivative. */
  readonly volatilities?: readonly (Step | undefined)[];
  /** The bumps of a parallel shift of the rates. */
  readonly rate?: Step;
  /** Returns the bumps of the correlation of two assets; undefined where it cannot move. */
  readonly correlation?: (pair: Pair) => Step | undefined;
  /** The terms at a later time, for theta. */
  readonly later?: { readonly terms: Terms; readonly years: number } | undefined;
}

/**
 * A sensitivity as a linear combination of values: the weights of the base case and of each bumped copy, and an added
 * constant.
 */
export interface Measure {
  readonly name: string;
  /** The weight of the base case, then that of each bumped copy. */
  readonly weights: readonly number[];
  readonly added?: number;
}

/** The bumped copies of a valuation, and the sensitivities as linear combinations of their values. */
export interface Differences {
  readonly copies: readonly Valuation[];
  readonly measures: readonly Measure[];
}

/** Returns the name of the delta of an asset, by index, or of all assets together. */
export const DELTA = (asset: number | "all"): string => `delta ${asset}`;
/** Returns the name of the gamma of an asset, by index, or of all assets together. */
export const GAMMA = (asset: number | "all"): string => `gamma ${asset}`;
/** Returns the name of the vega of an asset, by index, or of all assets together. */
export const VEGA = (asset: number | "all"): string => `vega ${asset}`;
/** Returns the name of the cross gamma of two assets, ∂²V/∂Sᵢ∂Sⱼ. */
export const CROSS = ([i, j]: Pair): string => `cross ${i} ${j}`;
/** Returns the name of the sensitivity to the correlation of two assets. */
export const CORRELATION = ([i, j]: Pair): string => `correlation ${i} ${j}`;
/** The name of theta. */
export const THETA = "theta";
/** The name of rho. */
export const RHO = "rho";

/** Returns all pairs i < j of indices below a count. */
export const pairsOf = (count: number): readonly Pair[] =>
  Array.from({ length: count }, (_, i) =>
    Array.from({ length: count - i - 1 }, (_one, k) => [i, i + 1 + k] as const),
  ).flat();

/** The number of the value itself among those of the copies. */
const ITSELF = -1;

/**
 * Returns the bumped copies of a valuation that given bump sizes require, and the sensitivities that follow from them.
 */
export function differencesOf({ terms, spots }: Valuation, sizes: BumpSizes): Differences {
  const copies: Valuation[] = [];
  const all: { readonly name: string; readonly of: readonly (readonly [copy: number, weight: number])[] }[] = [];
  const add = (copy: Partial<Valuation>): number => copies.push({ terms, spots, ...copy }) - 1;
  const measure = (name: string, ...of: readonly (readonly [number, number])[]): unknown => all.push({ name, of });
  const slope = (name: string, [a, b]: Step, copyAt: (by: number) => Partial<Valuation>): void => {
    const [one, other] = [a, b].map((by) => (by === 0 ? ITSELF : add(copyAt(by))));
    measure(name, [one, 1 / (a - b)], [other, -1 / (a - b)]);
  };
  const bump = (name: string, step: Step, make: (by: number) => Bump): void => {
    slope(name, step, (by) => ({ terms: bumped(terms, make(by)) }));
  };
  const around = (by: (asset: number) => number): Pair => [
    add({ spots: spots.map((spot, i) => spot + by(i)) }),
    add({ spots: spots.map((spot, i) => spot - by(i)) }),
  ];
  const { first = [], second } = sizes.spots ?? {};
  const curvature = (name: string, [up, down]: Pair, h: number): void => {
    measure(name, [ITSELF, -2 / (h * h)], [up, 1 / (h * h)], [down, 1 / (h * h)]);
  };
  const own = first.map((h, asset) => {
    const pair = around((i) => (i === asset ? h : 0));
    measure(DELTA(asset), [pair[0], 0.5 / h], [pair[1], -0.5 / h]);
    const wide = second?.[asset];
    if (wide !== undefined) curvature(GAMMA(asset), wide === h ? pair : around((i) => (i === asset ? wide : 0)), wide);
    return pair;
  });
  if (spots.length > 1 && second !== undefined) {
    const h = Math.min(...second);
    const together = around(() => h);
    curvature(GAMMA("all"), together, h);
    // (V(+, +) + V(−, −) − V(+, 0) − V(−, 0) − V(0, +) − V(0, −) + 2·V)/(2·hᵢ·hⱼ), of second order.
    for (const pair of sizes.cross ? pairsOf(spots.length) : []) {
      const weight = 0.5 / (first[pair[0]] * first[pair[1]]);
      const both = around((i) => (pair.includes(i) ? first[i] : 0));
      const single = pair.flatMap((asset) => own[asset]).map((copy) => [copy, -weight] as const);
      measure(CROSS(pair), [ITSELF, 2 * weight], ...both.map((copy) => [copy, weight] as const), ...single);
    }
  }
  if (sizes.later !== undefined) slope(THETA, [sizes.later.years, 0], () => ({ terms: sizes.later!.terms }));
  sizes.volatilities?.forEach((step, asset) => {
    if (step !== undefined) bump(VEGA(asset), step, (by) => ({ kind: "volatility", asset, by }));
  });
  if (sizes.rate !== undefined) bump(RHO, sizes.rate, (by) => ({ kind: "rate", by }));
  if (sizes.correlation !== undefined)
    for (const pair of pairsOf(terms.correlations.length)) {
      const step = sizes.correlation(pair);
      if (step !== undefined) bump(CORRELATION(pair), step, (by) => ({ kind: "correlation", pair, by }));
    }
  const weightsOf = (of: (typeof all)[number]["of"]): readonly number[] =>
    Array.from({ length: 1 + copies.length }, (_, k) => of.find(([copy]) => copy === k - 1)?.[1] ?? 0);
  return { copies, measures: all.map(({ name, of }) => ({ name, weights: weightsOf(of) })) };
}

/**
 * Returns a sensitivity from the value of the base case and those of the bumped copies, in the order of the weights.
 */
export const combined = ({ weights, added = 0 }: Measure, values: readonly number[]): number =>
  weights.reduce((sum, weight, v) => (weight === 0 ? sum : sum + weight * values[v]), added);
