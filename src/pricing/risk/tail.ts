/** The tail of a weighted distribution of profits: value at risk, expected shortfall, and the parts of both. */
import { SpecError } from "../../base/errors.ts";

/** A number, with the error that values have by discretisation, and the standard error that few scenarios leave. */
export interface RiskNumber {
  readonly value: number;
  /** Null where it is not known. */
  readonly errorEstimate: number | null;
  /** Null where too few scenarios lie beyond the confidence to tell. */
  readonly samplingError: number | null;
}

/** The scenarios of the tail. */
export interface Tail {
  /** The number of the scenario whose loss is the value at risk. */
  readonly at: number;
  /** The weights of the tail's scenarios by number, which sum to 1: the one at the edge has the rest. */
  readonly weights: ReadonlyMap<number, number>;
  /** All scenarios, the worst first. */
  readonly order: readonly number[];
}

/** Cumulated weights are known to this. */
const ROUNDING = 1e-12;

/**
 * Returns the tail of some profits. The losses have the empirical distribution of the weights wₛ, which sum to 1. Value
 * at risk is its quantile without interpolation, the least loss l with P(loss ≤ l) ≥ c. Expected shortfall is the mean
 * of all quantiles above c, in which the scenario at the edge counts with the rest of 1 − c (Acerbi and Tasche 2002).
 * @throws SpecError for weights that sum to 0, and for a confidence that leaves no tail or no body
 */
export function tailOf(profits: ArrayLike<number>, confidence: number, weights?: ArrayLike<number>): Tail {
  if (!(confidence > 0 && confidence < 1)) throw new SpecError("the confidence: expected a share between 0 and 1");
  const own = normalized(profits.length, weights);
  const order = Array.from(profits, (_, s) => s).sort((a, b) => profits[a] - profits[b] || a - b);
  const mass = 1 - confidence;
  const shares = new Map<number, number>();
  let before = 0;
  let at = order.findLast((s) => own[s] > 0)!;
  for (const s of order) {
    const after = before + own[s];
    const share = Math.min(after, mass) - before;
    if (share > 0) shares.set(s, share / mass);
    if (after > mass + ROUNDING) {
      at = s;
      break;
    }
    before = after;
  }
  return { at, weights: shares, order };
}

/** Returns the weights of scenarios, which sum to 1; without weights all are the same. @throws SpecError */
export function normalized(count: number, weights: ArrayLike<number> | undefined): Float64Array {
  const own = Float64Array.from({ length: count }, (_, s) => weights?.[s] ?? 1);
  const total = own.reduce((sum, weight) => sum + weight, 0);
  if (!(total > 0 && total < Infinity))
    throw new SpecError("the weights of scenarios: expected some above 0, and a sum below 1.8e308");
  return own.map((weight) => weight / total);
}

/** Returns the loss of a part of a book at the scenario of the value at risk. The losses of all parts sum to it. */
export const lossAt = ({ at }: Tail, profits: ArrayLike<number>): number => 0 - profits[at];

/** Returns the mean loss of a part of a book in the tail. Those of all parts sum to the expected shortfall (Euler). */
export function meanLoss({ weights }: Tail, profits: ArrayLike<number>): number {
  let sum = 0;
  for (const [s, weight] of weights) sum -= weight * profits[s];
  return sum;
}

/**
 * Returns the standard errors that the number of scenarios leaves. That of value at risk is half of the distance of the
 * quantiles one standard deviation of the tail's mass above and below. That of expected shortfall is by the variance of
 * the mean over the tail, with the value at risk as if it were known. Where one of these quantiles lies beyond all
 * scenarios, as with fewer than about two in the tail, nothing can be told.
 */
export function samplingErrors(
  profits: ArrayLike<number>,
  confidence: number,
  weights?: ArrayLike<number>,
): { readonly valueAtRisk: number | null; readonly expectedShortfall: number | null } {
  const own = normalized(profits.length, weights);
  const size = 1 / own.reduce((sum, weight) => sum + weight * weight, 0);
  const deviation = Math.sqrt((confidence * (1 - confidence)) / size);
  const [low, high] = [confidence - deviation, confidence + deviation];
  const [least, most] = [1 / (2 * size), 1 - 1 / (2 * size)];
  if (low < least || high > most) return { valueAtRisk: null, expectedShortfall: null };
  const lossOf = (level: number): number => lossAt(tailOf(profits, level, weights), profits);
  const quantile = lossOf(confidence);
  const excess = own.map((weight, s) => weight * Math.max(-profits[s] - quantile, 0));
  const mean = excess.reduce((sum, one) => sum + one, 0);
  const square = own.reduce((sum, weight, s) => sum + weight * Math.max(-profits[s] - quantile, 0) ** 2, 0);
  return {
    valueAtRisk: (lossOf(high) - lossOf(low)) / 2,
    expectedShortfall: Math.sqrt(Math.max(square - mean * mean, 0) / size) / (1 - confidence),
  };
}

/**
 * Returns what value at risk and expected shortfall may be off by, where each profit pₛ may be off by its own eₛ.
 * Neither measure rises where a profit rises. So both lie between their numbers for all pₛ + eₛ and for all pₛ − eₛ,
 * whichever scenario is then at the edge, and the larger distance is the error. A near-tie of scenarios is covered.
 * Null where the error of a profit is not known (NaN).
 * Verified: test/cli/var.test.ts, profits drawn within their errors.
 */
export function measureErrors(
  profits: ArrayLike<number>,
  errors: ArrayLike<number>,
  confidence: number,
  weights?: ArrayLike<number>,
): { readonly valueAtRisk: number | null; readonly expectedShortfall: number | null } {
  if (Array.from(errors).some((error) => Number.isNaN(error))) return { valueAtRisk: null, expectedShortfall: null };
  const at = (side: -1 | 0 | 1): readonly [number, number] => {
    const moved = Float64Array.from(profits, (profit, s) => profit + side * errors[s]);
    const tail = tailOf(moved, confidence, weights);
    return [lossAt(tail, moved), meanLoss(tail, moved)];
  };
  const [low, middle, high] = [at(1), at(0), at(-1)];
  const farther = (i: 0 | 1): number => Math.max(high[i] - middle[i], middle[i] - low[i]);
  return { valueAtRisk: farther(0), expectedShortfall: farther(1) };
}
