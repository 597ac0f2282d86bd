import type { Given, GivenEquation } from "../problem/functions.ts";
import type { ParameterValues } from "../problem/quantity.ts";

/** The part of a problem that decides on the derivative by time. */
interface Timed {
  readonly equation: Pick<GivenEquation<string>, "at">;
  readonly exercise: { readonly payoff: Given; readonly dates?: unknown } | undefined;
}

/**
 * A function for ∂V/∂t today at a point, from the derivatives by the names of their coefficients, including V and
 * source.
 */
export type Theta = (point: readonly number[], derivatives: Readonly<Record<string, number>>) => number;

/** A step of the payoff, in years. */
const STEP = 1e-6;

/**
 * Returns the function for the derivative by time from the equation itself,
 *
 *   ∂V/∂t = −(Σ aᵢⱼ ∂²V/∂xᵢ∂xⱼ + Σ bᵢ ∂V/∂xᵢ + c·V + d),
 *
 * or from the payoff where immediate exercise is optimal. `unit` is the unit roundoff.
 */
export function thetaOf({ equation, exercise }: Timed, entry: ParameterValues, unit: number): Theta {
  const payoff = exercise?.dates === undefined ? exercise?.payoff : undefined;
  return (point, derivatives) => {
    const paid = payoff?.at(0, ...point, ...entry);
    if (paid !== undefined && derivatives["V"] <= paid + Math.max(1e-7, 100 * unit) * Math.abs(paid))
      return (payoff!.at(STEP, ...point, ...entry) - paid) / STEP;
    const coefficients = Object.entries(equation.at(0, ...point, ...entry));
    return -coefficients.reduce((sum, [name, coefficient]) => sum + coefficient * derivatives[name], 0);
  };
}
