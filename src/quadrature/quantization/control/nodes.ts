/** The inputs of dynamic programming: a payoff on the points of a tree, and discount factors. */
import { ShapeError, SpecError } from "../../../base/errors.ts";
import { typeInWords } from "../../../base/argument-checks.ts";
import type { EventLoopYielder } from "../../../base/event-loop.ts";
import type { QuantizationTree } from "../tree/quantization-tree.ts";

/**
 * A payoff at a point of a tree, from the state of the chain, the time in years, and the number of the layer.
 * @experimental
 */
export type NodePayoff = (state: Float64Array, time: number, layer: number) => number;

/** The interest rate, or the discount factor to time 0 of each layer. @experimental */
export type Discounting = { readonly rate?: number } | { readonly discountFactors: readonly number[] };

/** The names of the fields of `Discounting`. */
export const DISCOUNTING = ["rate", "discountFactors"] as const;

/** Checks that a payoff is a function. `path` is the name of the function that takes it. @throws SpecError */
export function checkPayoff(path: string, payoff: NodePayoff): void {
  if (typeof payoff !== "function")
    throw new SpecError(`${path}: payoff: got ${typeInWords(payoff)}, expected a function of state, time and layer`);
}

/**
 * Evaluates the payoff at all points, discounted to time 0. @throws SpecError for a value that is NaN or +Infinity;
 * −Infinity forbids exercise there | the signal's reason
 */
export async function discountedPayoff(
  path: string,
  tree: QuantizationTree,
  payoff: NodePayoff,
  factors: Float64Array,
  yielder: EventLoopYielder,
): Promise<Float64Array> {
  const { dimension, offsets, sizes, times } = tree;
  const values = new Float64Array(offsets[sizes.length]);
  for (let k = 0; k < sizes.length; k++) {
    if (yielder.isDue) await yielder.yieldNow();
    for (let i = 0; i < sizes[k]; i++) {
      const row = offsets[k] + i;
      const state = tree.points.subarray(row * dimension, (row + 1) * dimension);
      const value = payoff(state, times[k], k);
      if (!(value < Infinity))
        throw new SpecError(
          `${path}: payoff at time ${times[k]}, state [${state.join(", ")}]: got ${value}, expected a finite number, ` +
            `or -Infinity where exercise is not allowed`,
        );
      values[row] = value * factors[k];
    }
  }
  return values;
}

/** Returns the discount factors of the times. @throws SpecError | ShapeError */
export function discountFactors(path: string, times: readonly number[], discounting: Discounting): Float64Array {
  if ("discountFactors" in discounting) {
    const { discountFactors: factors } = discounting;
    if (factors.length !== times.length)
      throw new ShapeError(
        `${path}: discountFactors: got ${factors.length}, expected ${times.length}, one per time of the chain`,
      );
    factors.forEach((x, k) => {
      if (!(x > 0 && x < Infinity))
        throw new SpecError(`${path}: discountFactors[${k}]: got ${x}, expected a positive number`);
    });
    return Float64Array.from(factors);
  }
  const { rate = 0 } = discounting;
  if (!Number.isFinite(rate)) throw new SpecError(`${path}: rate: got ${rate}, expected a finite number, per year`);
  return Float64Array.from(times, (t) => Math.exp(-rate * t));
}
