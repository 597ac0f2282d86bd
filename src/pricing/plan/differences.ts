/** Sensitivities of options as differences: moved copies of a valuation, and the weights of their values. */
import {
  type DerivativeByDifferences,
  DifferencePlan,
  finiteDifferenceWeights,
  UNMOVED,
  type MovedCopies,
  MOVES,
  type SensitivityFormula,
  type Side,
} from "../../base/differences.ts";
import type { Measured } from "../columns/result-columns.ts";
import { type Bump, bumped, type Terms } from "../terms.ts";

export type { Measured } from "../columns/result-columns.ts";

/** The indices of two assets. */
export type Pair = readonly [number, number];

/** The terms of a trade, and the spot of each underlying, for which a value is wanted. */
export interface Valuation {
  readonly terms: Terms;
  readonly spots: readonly number[];
}

/** The moves of an input between which a derivative is computed, as multiples of the bump size `by`. */
export interface Step {
  readonly by: number;
  readonly moves: readonly number[];
}

/**
 * The bump sizes of sensitivities by differences. An input without a bump size is not bumped, because its sensitivity
 * is not requested or is read from the solution.
 */
export interface BumpSizes {
  /** The bump of each spot for first and second differences, in the currency. */
  readonly spots?: {
    readonly first: readonly number[];
    readonly second?: readonly number[];
    /** The bump of all spots together; the smallest one by default. */
    readonly common?: number;
    /** The side of each spot; both sides by default. Differences to one side have one bump for both orders. */
    readonly sides?: readonly Side[];
  };
  /** True where mixed second differences of two spots are wanted too. */
  readonly cross?: boolean;
  /**
   * True where a common move of all spots, or volatilities, is to be valued too: a value that bends where assets part
   * is not the sum of what it moves by for each.
   */
  readonly together?: boolean;
  /** The bumps of each volatility; undefined for a volatility by which the solution has its own derivative. */
  readonly volatilities?: readonly (Step | undefined)[];
  /** The bumps of a parallel shift of the rates. */
  readonly rate?: Step;
  /** Returns the bumps of the correlation of two assets; undefined where the others leave it no room. */
  readonly correlation?: (pair: Pair) => Step | undefined;
  /** The step in years of theta, and the terms some years later. */
  readonly later?: { readonly years: number; readonly at: (years: number) => Terms } | undefined;
  /**
   * Returns the small moves of the input of a first derivative that the method takes along its own computation;
   * undefined where it has bumps.
   */
  readonly along?: (measure: string) => Step | undefined;
  /**
   * Returns an estimate of the error that the bump sizes leave in a sensitivity; `found` returns any sensitivity by
   * name.
   */
  readonly bias?: Bias;
}

/**
 * A function that computes the error that bump sizes leave in a sensitivity. `measure` is the name of the sensitivity,
 * and `found` returns any sensitivity of the trade by name, 0 if it is unknown.
 */
export type Bias = (measure: string, found: (measure: string) => number) => number;

/**
 * A first derivative along a direction: valuations near today's, and the weights, of today's first, with which any of
 * their inputs makes its slope. A method that knows derivatives by its inputs follows these slopes, and solves none of
 * the valuations.
 */
export interface Slope extends SensitivityFormula {
  readonly copies: readonly Valuation[];
}

/** The bumped copies of a valuation, and the sensitivities as linear combinations of their values. */
export interface Differences extends MovedCopies<Valuation> {
  /** The derivatives that are taken along directions instead. */
  readonly slopes?: readonly Slope[];
  /** The estimate of the error that the bump sizes leave, if there is one. */
  readonly bias?: Bias | undefined;
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

/**
 * Returns the bumped copies of a valuation that given bump sizes require, and the sensitivities that follow from them.
 */
export function differencesOf(today: Valuation, sizes: BumpSizes): Differences {
  const { terms } = today;
  const plan = new DifferencePlan<Valuation>();
  const slopes: Slope[] = [];
  const slope = (name: string, { by, moves }: Step, make: (by: number) => Terms): void => {
    const at = (move: number): Valuation => ({ ...today, terms: make(move) });
    const along = sizes.along?.(name);
    if (along === undefined) plan.addDerivatives(by, [{ name, order: 1, moves }], at);
    else slopes.push(slopeOfStep(name, along, at));
  };
  const bump = (name: string, step: Step, make: (by: number) => Bump): void => {
    slope(name, step, (by) => bumped(terms, make(by)));
  };
  if (sizes.spots !== undefined) slopes.push(...addSpots(plan, today, sizes.spots, sizes));
  const { later } = sizes;
  if (later !== undefined) slope(THETA, { by: later.years, moves: MOVES.FORWARD }, later.at);
  sizes.volatilities?.forEach((step, asset) => {
    if (step !== undefined) bump(VEGA(asset), step, (by) => ({ kind: "volatility", asset, by }));
  });
  const steps = sizes.together === true ? (sizes.volatilities ?? []).filter((step) => step !== undefined) : [];
  if (steps.length > 1) {
    const [ups, downs] = [0, 1].map((k) => steps.map(({ by, moves }) => by * moves[k]));
    const smallest = { by: 1, moves: [Math.min(...ups), Math.max(...downs)] };
    bump(VEGA("all"), smallest, (by) => ({ kind: "volatility", asset: "all", by }));
  }
  if (sizes.rate !== undefined) bump(RHO, sizes.rate, (by) => ({ kind: "rate", by }));
  if (sizes.correlation !== undefined)
    for (const pair of pairsOf(terms.correlations.length)) {
      const step = sizes.correlation(pair);
      if (step !== undefined) bump(CORRELATION(pair), step, (by) => ({ kind: "correlation", pair, by }));
    }
  return { ...plan.movedCopies(), slopes, bias: sizes.bias };
}

/** Returns differences in which the valuation as it is counts as a copy, the last one, that is computed as they are. */
export function withTodayAmongCopies({ copies, formulas, ...rest }: Differences, today: Valuation): Differences {
  const moved = formulas.map((one) => ({ ...one, weights: [0, ...one.weights.slice(1), one.weights[0]] }));
  return { ...rest, copies: [...copies, today], formulas: moved };
}

/** Returns the first derivative by an input between the moves of a step, given the valuations at its moves. */
export function slopeOfStep(name: string, { by, moves }: Step, at: (move: number) => Valuation): Slope {
  const weights = finiteDifferenceWeights(moves, 1).map((weight) => weight / by);
  const others = moves.flatMap((move, k) => (move === 0 ? [] : [[move, weights[k]] as const]));
  return {
    name,
    weights: [
      moves.reduce((sum, move, k) => (move === 0 ? weights[k] : sum), 0),
      ...others.map(([, weight]) => weight),
    ],
    copies: others.map(([move]) => at(by * move)),
  };
}

/** Adds first differences of each spot, and second ones if they have sizes. Returns the derivatives along spots. */
function addSpots(
  plan: DifferencePlan<Valuation>,
  today: Valuation,
  { first, second, sides = [], common = Math.min(...(second ?? first)) }: NonNullable<BumpSizes["spots"]>,
  { cross = false, together = false, along }: Pick<BumpSizes, "cross" | "together" | "along">,
): readonly Slope[] {
  const at = (by: (asset: number) => number): Valuation => ({ ...today, spots: today.spots.map((x, i) => x + by(i)) });
  const slopes: Slope[] = [];
  const input = (size: number, all: readonly DerivativeByDifferences[], isMoved: (asset: number) => boolean) => {
    const move = (by: number): Valuation => at((asset) => (isMoved(asset) ? by : 0));
    const bumps = all.filter(({ name, order }) => {
      const step = order === 1 ? along?.(name) : undefined;
      if (step !== undefined) slopes.push(slopeOfStep(name, step, move));
      return step === undefined;
    });
    return plan.addDerivatives(size, bumps, move);
  };
  const own = first.map((h, asset) => {
    const side = sides[asset] ?? 0;
    const wide = second?.[asset];
    const isOwn = (one: number): boolean => one === asset;
    const delta = { name: DELTA(asset), order: 1, moves: side === 0 ? MOVES.CENTRAL : MOVES.BESIDE } as const;
    const gamma = { name: GAMMA(asset), order: 2, moves: side === 0 ? MOVES.AROUND : MOVES.BESIDE } as const;
    if (side !== 0) return input(side * h, wide === undefined ? [delta] : [delta, gamma], isOwn);
    if (wide === h) return input(h, [delta, gamma], isOwn);
    const pair = input(h, [delta], isOwn);
    if (wide !== undefined) input(wide, [gamma], isOwn);
    return pair;
  });
  if (first.length === 1) return slopes;
  const isCentral = first.every((_, asset) => (sides[asset] ?? 0) === 0);
  if (isCentral) {
    // By a common move of all spots.
    const gamma = second === undefined ? [] : [{ name: GAMMA("all"), order: 2, moves: MOVES.AROUND } as const];
    const delta = together ? [{ name: DELTA("all"), order: 1, moves: MOVES.CENTRAL } as const] : [];
    input(common, [...gamma, ...delta], () => true);
  }
  if (second === undefined) return slopes;
  for (const pair of cross || !isCentral ? pairsOf(first.length) : []) {
    const isToSides = pair.some((asset) => (sides[asset] ?? 0) !== 0);
    const by = pair.map((asset) => (sides[asset] || 1) * first[asset]);
    const both = (sign: 1 | -1): number =>
      plan.addCopy(at((asset) => (pair.includes(asset) ? sign * by[pair.indexOf(asset)] : 0)));
    // To one side (V(a, b) − V(a, 0) − V(0, b) + V)/(a·b), of first order; else, of second order,
    // (V(+, +) + V(−, −) − V(+, 0) − V(−, 0) − V(0, +) − V(0, −) + 2·V)/(2·hᵢ·hⱼ).
    const weight = (isToSides ? 1 : 0.5) / (by[0] * by[1]);
    const moved = isToSides ? [both(1)] : [both(1), both(-1)];
    const single = pair.flatMap((asset) => own[asset].slice(0, moved.length));
    plan.addFormula(CROSS(pair), [
      [UNMOVED, moved.length * weight],
      ...moved.map((copy) => [copy, weight] as const),
      ...single.map((copy) => [copy, -weight] as const),
    ]);
  }
  if (isCentral) return slopes;
  // The second derivative by a common move, Σ ∂²V/∂Sᵢ∂Sⱼ.
  const twice = pairsOf(first.length).flatMap((pair) => plan.weightsOf(CROSS(pair)));
  plan.addFormula(GAMMA("all"), [
    ...first.flatMap((_, asset) => plan.weightsOf(GAMMA(asset))),
    ...twice.map(([copy, weight]) => [copy, 2 * weight] as const),
  ]);
  return slopes;
}

/** Returns the sensitivities with the error that the bump sizes leave (`bias`) added to their error estimates. */
export function withBias(
  measures: ReadonlyMap<string, Measured>,
  bias: Bias | undefined,
): ReadonlyMap<string, Measured> {
  if (bias === undefined) return measures;
  const found = (name: string): number => Math.abs(measures.get(name)?.value ?? 0);
  return new Map(
    Array.from(measures, ([name, { value, error }]) => [name, { value, error: error + bias(name, found) }]),
  );
}
