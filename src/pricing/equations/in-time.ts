/** Functions of time of several others. */
import { type PiecewiseConstant, valueAt, type Volatility } from "../../market/index.ts";

/** Returns a deterministic volatility; NaN for any other. */
export const sigmaOf = (volatility: Volatility): PiecewiseConstant =>
  volatility.kind === "deterministic" ? volatility.sigma : { times: [], values: [Number.NaN] };

/** Returns a function of the values of several functions of time. */
export function combined(
  all: readonly PiecewiseConstant[],
  of: (values: readonly number[]) => number,
): PiecewiseConstant {
  const times = [...new Set(all.flatMap((one) => one.times))].sort((a, b) => a - b);
  const values = [...times, Number.POSITIVE_INFINITY].map((t) => of(all.map((one) => valueAt(one, t))));
  return { times, values };
}
