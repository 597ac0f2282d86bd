/** Sensitivities as differences: moved copies of a valuation, and the weights that each of them gives their values. */
import { type Bump, bumped, type Terms } from "../terms.ts";

/** A number and its error estimate. */
export interface Measured {
  readonly value: number;
  /** The error estimate; NaN where it is unknown. */
  readonly error: number;
}

/** The indices of two assets. */
export type Pair = readonly [number, number];

/** The terms of a trade, and the spot of each underlying, for which a value is wanted. */
export interface Valuation {
  readonly terms: Terms;
  readonly spots: readonly number[];
}

/**
 * The two bumps of an input between which a difference is taken; a bump of 0 is the base case. Three bumps h, 2h and 3h
 * are of a difference to one side without the base case.
 */
export type Step = readonly [number, number] | readonly [number, number, number];

/** The side of a spot on which differences are taken: above it (1), below it (−1), or both (0). */
export type Side = -1 | 0 | 1;

/**
 * The bump sizes of sensitivities by differences. An input without a bump size is not bumped, because its sensitivity
 * is not requested or is read from the solution.
 */
export interface BumpSizes {
  /** The bump of each spot for first and second differences, in the currency. */
  readonly spots?: {
    readonly first: readonly number[];
    readonly second?: readonly number[];
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
  /** The terms at a later time, for theta. */
  readonly later?: { readonly terms: Terms; readonly years: number } | undefined;
  /** Returns an estimate of the error that the bump sizes leave in a sensitivity; `found` returns its size by name. */
  readonly bias?: Bias;
}

/** A function for the error that bump sizes leave in a sensitivity, from the sizes of all; unknown ones are 0. */
export type Bias = (measure: string, found: (measure: string) => number) => number;

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
  const list = new DifferenceList(today);
  const bump = (name: string, step: Step, make: (by: number) => Bump): void => {
    list.slope(name, step, (by) => ({ terms: bumped(terms, make(by)) }));
  };
  if (sizes.spots !== undefined) list.spots(sizes.spots, sizes);
  const { later } = sizes;
  if (later !== undefined) list.slope(THETA, [later.years, 0], () => ({ terms: later.terms }));
  sizes.volatilities?.forEach((step, asset) => {
    if (step !== undefined) bump(VEGA(asset), step, (by) => ({ kind: "volatility", asset, by }));
  });
  if (sizes.together === true && sizes.volatilities !== undefined) {
    const steps = sizes.volatilities.filter((step) => step !== undefined);
    const smallest: Step = [Math.min(...steps.map(([up]) => up)), Math.max(...steps.map(([, down]) => down))];
    if (steps.length > 1) bump(VEGA("all"), smallest, (by) => ({ kind: "volatility", asset: "all", by }));
  }
  if (sizes.rate !== undefined) bump(RHO, sizes.rate, (by) => ({ kind: "rate", by }));
  if (sizes.correlation !== undefined)
    for (const pair of pairsOf(terms.correlations.length)) {
      const step = sizes.correlation(pair);
      if (step !== undefined) bump(CORRELATION(pair), step, (by) => ({ kind: "correlation", pair, by }));
    }
  return { copies: list.copies, measures: list.measures(), bias: sizes.bias };
}

/** The number of the value itself among those of the copies. */
const ITSELF = -1;

/** The weights of copies in a sensitivity, by their number. */
type Weights = readonly (readonly [copy: number, weight: number])[];

/** The copies and weights of differences as they are put together. */
class DifferenceList {
  readonly copies: Valuation[] = [];
  readonly #today: Valuation;
  readonly #weights = new Map<string, Weights>();

  constructor(today: Valuation) {
    this.#today = today;
  }

  measures(): readonly Measure[] {
    const count = 1 + this.copies.length;
    return Array.from(this.#weights, ([name, of]) => {
      const weights = new Array<number>(count).fill(0);
      for (const [copy, weight] of of) weights[copy + 1] += weight;
      return { name, weights };
    });
  }

  slope(name: string, step: Step, copyAt: (by: number) => Partial<Valuation>): void {
    const weights =
      step.length === 2 ? [1, -1].map((sign) => sign / (step[0] - step[1])) : BESIDE.map((w) => w / step[0]);
    this.#weights.set(
      name,
      step.map((by, k) => [by === 0 ? ITSELF : this.#add(copyAt(by)), weights[k]]),
    );
  }

  /** Adds first differences of each spot, and second ones if they have sizes. */
  spots(
    { first, second, sides = [] }: NonNullable<BumpSizes["spots"]>,
    { cross = false, together = false }: Pick<BumpSizes, "cross" | "together">,
  ): void {
    const own = first.map((h, asset) => {
      const side = sides[asset] ?? 0;
      return side === 0
        ? this.#central(asset, h, second?.[asset])
        : this.#toOneSide(asset, side * h, second !== undefined);
    });
    if (first.length === 1) return;
    const isCentral = first.every((_, asset) => (sides[asset] ?? 0) === 0);
    if (isCentral) this.#common(Math.min(...(second ?? first)), second !== undefined, together);
    if (second === undefined) return;
    for (const pair of cross || !isCentral ? pairsOf(first.length) : []) {
      const [i, j] = pair;
      if (sides[i] || sides[j]) {
        // (V(a, b) − V(a, 0) − V(0, b) + V)/(a·b), of first order.
        const by = pair.map((asset) => (sides[asset] || 1) * first[asset]);
        const weight = 1 / (by[0] * by[1]);
        const both = this.#at((asset) => (asset === i ? by[0] : asset === j ? by[1] : 0));
        const single = pair.map((asset) => [own[asset][0], -weight] as const);
        this.#weights.set(CROSS(pair), [[ITSELF, weight], [both, weight], ...single]);
        continue;
      }
      // (V(+, +) + V(−, −) − V(+, 0) − V(−, 0) − V(0, +) − V(0, −) + 2·V)/(2·hᵢ·hⱼ), of second order.
      const weight = 0.5 / (first[i] * first[j]);
      const both = this.#around((asset) => (pair.includes(asset) ? first[asset] : 0));
      const single = pair.flatMap((asset) => own[asset]).map((copy) => [copy, -weight] as const);
      this.#weights.set(CROSS(pair), [[ITSELF, 2 * weight], ...both.map((copy) => [copy, weight] as const), ...single]);
    }
    if (!isCentral) this.#weights.set(GAMMA("all"), this.#sumOfSecond(first.length));
  }

  /** (V(h) − V(−h))/(2h) and, over its own size, (V(h) − 2·V + V(−h))/h². */
  #central(asset: number, h: number, wide: number | undefined): Pair {
    const around = (by: number): Pair => this.#around((i) => (i === asset ? by : 0));
    const pair = around(h);
    this.#weights.set(DELTA(asset), slope(pair, h));
    if (wide !== undefined) this.#weights.set(GAMMA(asset), curvature(wide === h ? pair : around(wide), wide));
    return pair;
  }

  /** Differences by a common move of all spots. */
  #common(h: number, isSecond: boolean, isFirst: boolean): void {
    if (!isSecond && !isFirst) return;
    const both = this.#around(() => h);
    if (isSecond) this.#weights.set(GAMMA("all"), curvature(both, h));
    if (isFirst) this.#weights.set(DELTA("all"), slope(both, h));
  }

  /** A first difference of second order, and (V − 2·V(h) + V(2h))/h², of first order. */
  #toOneSide(asset: number, h: number, hasSecond: boolean): Pair {
    const [near, far] = [1, 2].map((times) => this.#at((i) => (i === asset ? times * h : 0)));
    this.#weights.set(DELTA(asset), oneSided(near, far, h));
    const weight = 1 / (h * h);
    if (hasSecond)
      this.#weights.set(GAMMA(asset), [
        [ITSELF, weight],
        [near, -2 * weight],
        [far, weight],
      ]);
    return [near, far];
  }

  /** The second derivative by a common move, Σ ∂²V/∂Sᵢ∂Sⱼ. */
  #sumOfSecond(assets: number): Weights {
    const twice = pairsOf(assets).flatMap((pair) => this.#weights.get(CROSS(pair))!);
    return [
      ...Array.from({ length: assets }, (_, asset) => this.#weights.get(GAMMA(asset))!).flat(),
      ...twice.map(([copy, weight]) => [copy, 2 * weight] as const),
    ];
  }

  #add(copy: Partial<Valuation>): number {
    return this.copies.push({ ...this.#today, ...copy }) - 1;
  }

  #at(by: (asset: number) => number): number {
    return this.#add({ spots: this.#today.spots.map((spot, i) => spot + by(i)) });
  }

  #around(by: (asset: number) => number): Pair {
    return [this.#at(by), this.#at((i) => -by(i))];
  }
}

/** The weights of V(h), V(2h) and V(3h) in h·V′(0), of second order. */
const BESIDE = [-2.5, 4, -1.5] as const;

/** (−3·V + 4·V(h) − V(2h))/(2h), of second order. */
const oneSided = (near: number, far: number, h: number): Weights => [
  [ITSELF, -1.5 / h],
  [near, 2 / h],
  [far, -0.5 / h],
];

const slope = ([up, down]: Pair, h: number): Weights => [
  [up, 0.5 / h],
  [down, -0.5 / h],
];

const curvature = ([up, down]: Pair, h: number): Weights => [
  [ITSELF, -2 / (h * h)],
  [up, 1 / (h * h)],
  [down, 1 / (h * h)],
];

/**
 * Returns a sensitivity from the value of the base case and those of the bumped copies, in the order of the weights.
 */
export const combined = ({ weights, added = 0 }: Measure, values: readonly number[]): number =>
  weights.reduce((sum, weight, v) => (weight === 0 ? sum : sum + weight * values[v]), added);

/** Returns sensitivities whose error estimates contain what bump sizes leave. */
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
