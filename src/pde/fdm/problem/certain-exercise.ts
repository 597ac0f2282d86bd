/** Prices beyond which early exercise is optimal at all times. */
import { deviationOf } from "./one-factor.ts";
import type { OneFactorProblem } from "./one-factor.ts";

/**
 * The price beyond which exercise is optimal at all times, a little past the exercise boundary of the perpetual option
 *
 *   S* = K·β/(β − 1),   ½σ²β(β − 1) + (r − q)β − r = 0
 *
 * (β < 0 for puts, β > 1 for calls; McKean 1965), with the largest σ and the least favourable rates of the life;
 * undefined if there is none. A digital is exercised as soon as it is in the money. The solution beyond this price is
 * the payoff, so the mesh may end there, which saves half of its nodes.
 */
export function certainExercise(problem: OneFactorProblem): number | undefined {
  const { american, payoff, diffusion, dividends, expiry } = problem;
  if (
    !american ||
    payoff.exerciseSide === "unknown" ||
    dividends.some(({ cash, proportional }) => cash > 0 || proportional > 0) ||
    diffusion.kind !== "deterministic"
  )
    return undefined;
  const put = payoff.exerciseSide === "low";
  const rates = inLife(problem.rates, expiry);
  const rate = Math.min(...rates);
  if (payoff.jumps) return rate >= 0 ? payoff.kinks[0] : undefined;
  // Paid a dividend at expiry it is another one.
  if (payoff.vanillaSign === undefined) return undefined;
  const yieldRate = problem.dividendYield;
  if ((put ? rate : yieldRate) < 1e-4 || rate < 0) return undefined;
  const sigma = Math.max(...inLife(diffusion.sigma, expiry), 1e-8);
  // A call's boundary rises with r, a put's falls as r does: the cautious rate is the highest, and the lowest.
  const r = put ? rate : Math.max(...rates);
  const m = (r - yieldRate) / (sigma * sigma) - 0.5;
  const beta = -m + (put ? -1 : 1) * Math.sqrt(m * m + (2 * r) / (sigma * sigma));
  return payoff.kinks[0] * (beta / (beta - 1)) * Math.exp((put ? -0.1 : 0.1) * deviationOf(problem));
}

/** The values that a piecewise constant function takes between today and expiry. */
export function inLife(
  { times, values }: { times: readonly number[]; values: readonly number[] },
  expiry: number,
): readonly number[] {
  const end = times.findIndex((time) => time >= expiry);
  return end < 0 ? values : values.slice(0, end + 1);
}
