/** Functions of time of several others. */
import { type PiecewiseConstant, valueAt, type Volatility } from "../../market/index.ts";

/** Returns σ(t) of a deterministic volatility; NaN at all times for any other volatility. */
export const sigmaOf = (volatility: Volatility): PiecewiseConstant =>
  volatility.kind === "deterministic" ? volatility.sigma : { times: [], values: [Number.NaN] };

/** Returns a function of the values of several piecewise constant functions, which is piecewise constant too. */
export function combined(
  all: readonly PiecewiseConstant[],
  of: (values: readonly number[]) => number,
): PiecewiseConstant {
  const times = [...new Set(all.flatMap((one) => one.times))].sort((a, b) => a - b);
  const values = [...times, Number.POSITIVE_INFINITY].map((t) => of(all.map((one) => valueAt(one, t))));
  return { times, values };
}
