/** Sensitivities as combinations of values of moved copies of a trade, on the same paths. */
import type { Payoff } from "../../../book/index.ts";
import { integratedVariance, sigmasOf, varianceOf, type Volatility } from "../../../market/index.ts";
import type { Greeks } from "../../options.ts";
import { type Bump, bumped, type Terms } from "../../terms.ts";
import type { Path } from "./acceptance.ts";

export type Pair = readonly [number, number];

/** The move of a trade's inputs, from which a sensitivity is taken. */
type Move =
  | { readonly kind: "spot"; readonly asset: number | "all"; readonly by: number }
  /** Two spots to the same side, each by its own. */
  | { readonly kind: "spots"; readonly pair: Pair; readonly by: readonly number[] }
  | { readonly kind: "later" }
  | Bump;

/** A sensitivity: what the value and those of moved copies are multiplied by. */
export interface Measure {
  readonly name: string;
  /** The weight of the value, then of each copy. */
  readonly weights: readonly number[];
}

/** Moved copies of an instance, and sensitivities that are combinations of their values. */
export interface Sensitivities {
  readonly paths: readonly Path[];
  readonly measures: readonly Measure[];
}

/**
 * The sizes of bumps: of a spot in standard deviations of its logarithm to expiry, whose square is the relative bias of
 * second differences, about, while their variance falls with it; relative to the spot in any case within bounds. Of
 * volatilities, rates and correlations absolute.
 */
const DEVIATIONS = 0.1;
const SPOT = { min: 1e-3, max: 0.1, unknown: 0.01 } as const;
const VOLATILITY = { max: 0.01, relative: 0.1 } as const;
const RATE = 1e-3;
const CORRELATION = 0.02;
/** The step of theta's difference in years. */
export const DAY = 1 / 365;

export const pairsOf = (count: number): readonly Pair[] =>
  Array.from({ length: count }, (_, i) =>
    Array.from({ length: count - i - 1 }, (_one, k) => [i, i + 1 + k] as const),
  ).flat();

/**
 * The bias of a difference relative to the sensitivity, about: squares of widths over deviations of central ones,
 * widths of one-sided ones.
 */
export function biasOf(name: string, { terms: { expiry, correlations } }: Path): number {
  const [kind, i, j] = name.split(" ");
  if (kind === THETA) return DAY / expiry;
  if (kind === "correlation")
    return CORRELATION / Math.max(1 - Math.abs(correlations[Number(i)][Number(j)]), CORRELATION);
  return kind === "gamma" || kind === "cross" ? DEVIATIONS ** 2 : 0.2 * DEVIATIONS ** 2;
}

/** Names of measures. */
export const DELTA = (asset: number): string => `delta ${asset}`;
export const GAMMA = (asset: number | "all"): string => `gamma ${asset}`;
export const VEGA = (asset: number): string => `vega ${asset}`;
export const CROSS = ([i, j]: Pair): string => `cross ${i} ${j}`;
export const RHO_OF = ([i, j]: Pair): string => `correlation ${i} ${j}`;
export const THETA = "theta";
export const RHO = "rho";

/** Copies as they are found, with the weights that sensitivities give them. */
class Copies {
  readonly moves: Move[] = [];
  readonly #measures: { readonly name: string; readonly base: number; readonly of: ReadonlyMap<number, number> }[] = [];

  /** The number of a copy. */
  add(move: Move): number {
    return this.moves.push(move) - 1;
  }

  measure(name: string, base: number, of: readonly (readonly [number, number])[]): void {
    this.#measures.push({ name, base, of: new Map(of) });
  }

  get measures(): Measure[] {
    return this.#measures.map(({ name, base, of }) => ({
      name,
      weights: [base, ...this.moves.map((_, copy) => of.get(copy) ?? 0)],
    }));
  }
}

/**
 * The copies that an instance's sensitivities need.
 *
 * @param later the terms a day later; undefined where the trade has no such day.
 * @param scale of the bumps.
 */
export function sensitivitiesOf(path: Path, later: Terms | undefined, greeks: Greeks, scale: number): Sensitivities {
  const { terms, spots } = path;
  const d = terms.assets.length;
  const all = greeks === "all";
  // The second derivative of a value whose rule of exercise does not move is another one.
  const curved = terms.exercise.kind === "european";
  const copies = new Copies();
  const central = (make: (side: 1 | -1) => Move, h: number, slope?: string, curvature?: string): Pair => {
    const [up, down] = [copies.add(make(1)), copies.add(make(-1))];
    if (slope !== undefined)
      copies.measure(slope, 0, [
        [up, 0.5 / h],
        [down, -0.5 / h],
      ]);
    if (curvature !== undefined)
      copies.measure(curvature, -2 / (h * h), [
        [up, 1 / (h * h)],
        [down, 1 / (h * h)],
      ]);
    return [up, down];
  };
  const levels = terms.assets.map(({ volatility }) => levelOf(volatility, terms.expiry));
  const relative = levels.map((level) =>
    level === undefined
      ? scale * SPOT.unknown
      : Math.min(Math.max(scale * DEVIATIONS * level * Math.sqrt(terms.expiry), SPOT.min), SPOT.max),
  );
  const widths = spots.map((spot, i) => relative[i] * spot);
  const own = spots.map((_, asset) =>
    central(
      (side) => ({ kind: "spot", asset, by: side * widths[asset] }),
      widths[asset],
      DELTA(asset),
      curved ? GAMMA(asset) : undefined,
    ),
  );
  if (d > 1 && curved) {
    const h = Math.min(...widths);
    central((side) => ({ kind: "spot", asset: "all", by: side * h }), h, undefined, GAMMA("all"));
    if (all)
      for (const pair of pairsOf(d)) {
        // (V(+, +) + V(−, −) − V(+, 0) − V(−, 0) − V(0, +) − V(0, −) + 2·V)/(2·hᵢ·hⱼ), of second order.
        const both = central((side) => ({ kind: "spots", pair, by: pair.map((i) => side * widths[i]) }), 1);
        const weight = 0.5 / (widths[pair[0]] * widths[pair[1]]);
        const single = pair.flatMap((asset) => own[asset]).map((copy) => [copy, -weight] as const);
        copies.measure(CROSS(pair), 2 * weight, [...both.map((copy) => [copy, weight] as const), ...single]);
      }
  }
  if (later !== undefined) copies.measure(THETA, -1 / DAY, [[copies.add({ kind: "later" }), 1 / DAY]]);
  if (all) {
    levels.forEach((level = VOLATILITY.max / VOLATILITY.relative, asset) => {
      const h = scale * Math.min(VOLATILITY.max, VOLATILITY.relative * level || VOLATILITY.max);
      central((side) => ({ kind: "volatility", asset, by: side * h }), h, VEGA(asset));
    });
    central((side) => ({ kind: "rate", by: side * scale * RATE }), scale * RATE, RHO);
    for (const pair of pairsOf(d)) {
      // Towards 0, where a correlation matrix stays one; from 0 upwards.
      const by = terms.correlations[pair[0]][pair[1]] > 0 ? -CORRELATION : CORRELATION;
      copies.measure(RHO_OF(pair), -1 / by, [[copies.add({ kind: "correlation", pair, by }), 1 / by]]);
    }
  }
  return { paths: copies.moves.map((move) => moved(path, move, later)), measures: copies.measures };
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

function moved({ terms, spots, dates }: Path, move: Move, later: Terms | undefined): Path {
  switch (move.kind) {
    case "spot":
      return {
        terms,
        dates,
        spots: spots.map((spot, i) => (move.asset === "all" || move.asset === i ? spot + move.by : spot)),
      };
    case "spots":
      return { terms, dates, spots: spots.map((spot, i) => spot + (move.by[move.pair.indexOf(i)] ?? 0)) };
    case "later":
      return { ...aDayLater(terms, later!, dates), spots };
    default:
      return { terms: bumped(terms, move), dates, spots };
  }
}

/** Years that stand for none: the date of a fixing that is passed a day later, whose spot is today's. */
const MOMENT = 1e-9;

/** The terms a day later on as many dates, so that its paths take the same random numbers. */
function aDayLater(terms: Terms, later: Terms, dates: readonly number[]): Pick<Path, "terms" | "dates"> {
  const earlier = dates.map((date, k) => Math.max(date - DAY, (k + 1) * MOMENT));
  const { barriers, exercise } = terms;
  return {
    terms: { ...later, barriers, exercise, payoff: laterPayoff(terms.payoff, later.payoff, earlier) },
    dates: earlier,
  };
}

/** Fixings that pass within the day are still among the dates. */
function laterPayoff(payoff: Payoff, later: Payoff, dates: readonly number[]): Payoff {
  if (payoff.kind === "average" && payoff.times !== "continuous") return payoff;
  if (payoff.kind !== "lookback" || later.kind !== "lookback") return later;
  if (payoff.times !== "continuous") return payoff;
  return payoff.from > 0 ? { ...payoff, from: dates[0] } : later;
}
