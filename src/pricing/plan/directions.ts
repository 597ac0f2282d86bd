/**
 * Directions: the small moves of a market by which the risk of a trade is split into buckets. A direction moves one
 * input, such as a node of a curve or a quote, and leaves the others as they are. The planner names the directions of a
 * trade, and every method gives the slopes of its value along them, in one of three ways.
 *
 * | a method | gives slopes |
 * | --- | --- |
 * | that knows derivatives by its own inputs (adjoints, tangents) | in `read`, see below; no new solution |
 * | of `ValuationPlan` | along its paths, or by copies on its mesh or random numbers (`withDirections`) |
 * | any other one | not at all: `priceBuckets` prices the moved trades by the same method |
 *
 * A method that knows the derivatives ∂V/∂xₖ of its value by its own inputs xₖ (volatilities on nodes, forward rates,
 * dividends, the spot, the parameters of a formula) takes part by these lines in the `read` of its plan:
 *
 *   const directions = batch.directionsOf?.(trade) ?? [];
 *   const slopes = directions.map((direction) => ({
 *     value: slopeAlong(direction, given, (moved) => Σ_k ∂V/∂xₖ · xₖ(moved)),
 *     error: …,
 *   }));
 *   results.slopes.set(trade, slopes);
 *
 * One entry for each direction, in their order; undefined for one that the method leaves to moved copies. `xₖ(moved)`
 * is the input as the method computes it from the moved trade. These functions are smooth and cheap, so that a central
 * difference of them has no error that counts.
 */
import { DifferencePlan, finiteDifferenceWeights } from "../../base/differences.ts";
import type { AnyTrade, Bucket, Trade } from "../../book/index.ts";
import { termsOf } from "../terms.ts";
import {
  DELTA,
  type Differences,
  type Measured,
  RHO,
  type Slope,
  slopeOfStep,
  type Valuation,
  VEGA,
} from "./differences.ts";

/** One small move of a trade's market. */
export interface Direction extends Pick<Bucket, "factor" | "of" | "at"> {
  /** The size of a move, in units of the input. */
  readonly size: number;
  /** The moves between which slopes are taken, in units of the size, as `MOVES` has them. */
  readonly moves: readonly number[];
  /** Returns the trade with the input moved by `by`. Moved markets are made once for all trades that share them. */
  moved(by: number): AnyTrade;
}

/** The sizes of moves along directions, per unit of each input; those of cash dividends are relative to the spot. */
export interface MoveSizes {
  readonly volatility: number;
  readonly quote: number;
  readonly rate: number;
  readonly dividend: number;
  readonly spread: number;
}

/**
 * Returns the slope along a direction of a function of the trade, per unit of the input; `today` is the trade as it is.
 */
export function slopeAlong<T extends AnyTrade>(direction: Direction, today: T, f: (trade: T) => number): number {
  const { size, moves } = direction;
  const weights = finiteDifferenceWeights(moves, 1);
  return moves.reduce(
    (sum, move, i) => sum + (weights[i] / size) * f(move === 0 ? today : (direction.moved(move * size) as T)),
    0,
  );
}

/** The values of a trade and its copies between which a slope is taken, with their error estimates. */
interface MovedValues {
  readonly values: readonly number[];
  readonly errors: readonly number[];
  /** The size to which errors are relative: the spot, or the value where it is larger. */
  readonly scale: number;
  /** The relative accuracy that values are computed to; undefined where rounding is their only error. */
  readonly accuracy: number | undefined;
}

/** Rounding of values that are known to it, relative to their sizes. */
const ROUNDING = 1e-13;
/** The part of a value's error estimate by which the values of two copies may be off from each other. */
const NOISE = 0.02;
/**
 * The relative error that moves of the usual sizes leave in a slope, for third derivatives are not known: of values
 * that are known to rounding, and of others.
 */
export const MOVED_BIAS = { exact: 1e-5, discretised: 1e-3 } as const;

/** Returns the slope along a direction from the values at its moves. */
export function slopeBetween({ size, moves }: Direction, { values, errors, scale, accuracy }: MovedValues): Measured {
  const weights = finiteDifferenceWeights(moves, 1).map((weight) => weight / size);
  const value = weights.reduce((sum, weight, i) => sum + weight * values[i], 0);
  const total = weights.reduce((sum, weight) => sum + Math.abs(weight), 0);
  const [least, most] = [Math.min(...errors), Math.max(...errors)];
  // An error of the model is no noise: it is the same for all copies. One of a mesh is not where estimates differ.
  const ofMesh = accuracy === undefined ? 0 : NOISE * Math.min(most, accuracy * scale) + (most - least);
  const noise = ROUNDING * scale + ofMesh;
  const bias = accuracy === undefined ? MOVED_BIAS.exact : MOVED_BIAS.discretised;
  return { value, error: total * noise + bias * Math.abs(value) };
}

/** The name of the sensitivity along the direction with a number. */
export const ALONG = (direction: number): string => `along ${direction}`;

/** The terms and the spots of a moved trade. */
function valuationOf(trade: AnyTrade): Valuation {
  const terms = termsOf(trade as Trade, 0, { volatility: 0, rate: 0 })!;
  return { terms, spots: terms.assets.map(({ underlying }) => underlying.spot) };
}

/** Returns the copies of an option on underlyings for the moves of a direction, that for move 0 included. */
export const copiesOf = ({ size, moves, moved }: Direction, today: Trade): readonly Valuation[] =>
  moves.map((move) => valuationOf(move === 0 ? today : moved(move * size)));

/** The sensitivity of a trade that is as smooth along a path as its slope by a factor. */
const AS_SMOOTH_AS = { spot: DELTA(0), volatility: VEGA(0), rate: RHO, dividend: RHO, spread: RHO } as const;
/** The part of the size of a move that the inputs of paths move by, which are smooth. */
const ON_PATHS = 1e-2;

/**
 * Returns the moved copies for directions, and a sensitivity named `ALONG` for each of them. A direction in which a
 * value is smooth along each path, as `isSmooth` says of sensitivities by name, needs no copies.
 */
export function withDirections(
  directions: readonly Direction[],
  today: Valuation,
  isSmooth: (measure: string) => boolean,
): Differences {
  const plan = new DifferencePlan<Valuation>();
  const slopes: Slope[] = [];
  directions.forEach(({ factor, size, moves, moved }, d) => {
    const at = (by: number): Valuation => (by === 0 ? today : valuationOf(moved(by)));
    if (isSmooth(AS_SMOOTH_AS[factor])) slopes.push(slopeOfStep(ALONG(d), { by: ON_PATHS * size, moves }, at));
    else plan.addDerivatives(size, [{ name: ALONG(d), order: 1, moves }], at);
  });
  return { ...plan.movedCopies(), slopes, bias: (name, found) => MOVED_BIAS.discretised * found(name) };
}

/** Returns the slopes along directions from sensitivities by name; undefined for one that is not among them. */
export const slopesOf = (
  measures: ReadonlyMap<string, Measured>,
  directions: readonly Direction[],
): readonly (Measured | undefined)[] => directions.map((_, d) => measures.get(ALONG(d)));
