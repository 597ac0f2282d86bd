import type { Given, GivenEquation } from "../problem/functions.ts";
import type { ParameterValues } from "../problem/quantity.ts";
import { derivativesOf } from "./point-reader.ts";

/** The part of a problem that decides on the derivative by time. */
interface Timed {
  readonly names: readonly string[];
  readonly equation: Pick<GivenEquation<string>, "at">;
  readonly exercise: { readonly payoff: Given; readonly dates?: unknown } | undefined;
}

/**
 * A function for ∂V/∂t of an entry today at a point, from the value and derivatives that a `PointReader` has found
 * there.
 */
export type Theta = (entry: ParameterValues, point: readonly number[], found: Float64Array) => number;

/** A step of the payoff, in years. */
const STEP = 1e-6;

/**
 * Returns the function for the derivative by time from the equation itself,
 *
 *   ∂V/∂t = −(Σ aᵢⱼ ∂²V/∂xᵢ∂xⱼ + Σ bᵢ ∂V/∂xᵢ + c·V + d),
 *
 * or from the payoff where immediate exercise is optimal. `unit` is the unit roundoff of the precision.
 */
export function thetaOf({ names, equation, exercise }: Timed, unit: number): Theta {
  const payoff = exercise?.dates === undefined ? exercise?.payoff : undefined;
  const derivatives = derivativesOf(names);
  // By the names of the coefficients, the places of their factors among the numbers found.
  const places: Record<string, number> = { V: 0, source: derivatives.length };
  derivatives.forEach(({ labels }, k) => {
    for (const label of labels) places[label] = k;
  });
  return (entry, point, found) => {
    const paid = payoff?.at(0, ...point, ...entry);
    if (paid !== undefined && found[0] <= paid + Math.max(1e-7, 100 * unit) * Math.abs(paid))
      return (payoff!.at(STEP, ...point, ...entry) - paid) / STEP;
    const coefficients = equation.at(0, ...point, ...entry);
    let sum = 0;
    for (const name in coefficients) sum += coefficients[name] * found[places[name]];
    return -sum;
  };
}
