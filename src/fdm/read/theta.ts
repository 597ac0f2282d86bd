import type { Given, GivenEquation } from "../problem/functions.ts";
import type { ParameterValues } from "../problem/quantity.ts";

/** The part of a problem that decides on the derivative by time. */
interface Timed {
  readonly equation: Pick<GivenEquation<string>, "at">;
  readonly exercise: { readonly payoff: Given; readonly dates?: unknown } | undefined;
}

/** Returns ∂V/∂t today at a point, from the derivatives by the names of their coefficients, V and source among them. */
export type Theta = (point: readonly number[], derivatives: Readonly<Record<string, number>>) => number;

/** A step of the payoff, in years. */
const STEP = 1e-6;

/**
 * The derivative by time from the equation itself,
 *
 *   ∂V/∂t = −(Σ aᵢⱼ ∂²V/∂xᵢ∂xⱼ + Σ bᵢ ∂V/∂xᵢ + c·V + d),
 *
 * or, where the right of exercise at all times pays the value, that of its payoff. `unit`: of rounding.
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
