import { type KnockOut, type OneFactorProblem, type PointValue, rebateValue } from "../fdm/index.ts";
import type { Valuation } from "./plan.ts";

/** A trade of which `barrier` has been hit is worth what that pays, wherever the spot goes. */
export function knockedOutPoint(problem: OneFactorProblem, barrier: KnockOut): PointValue {
  // What is paid at once earns no interest here: like what is exercised, it is not held on to.
  return { value: rebateValue(barrier, 0, problem), delta: 0, gamma: 0, exercised: barrier.rebateAt === "hit" };
}

/** What else is known of it: nothing depends on volatility, and what is paid at expiry is a bond. */
export function knockedOutGreeks(
  problem: OneFactorProblem,
  barrier: KnockOut,
): Pick<Valuation, "vega" | "rho" | "errorEstimate" | "method"> {
  const value = rebateValue(barrier, 0, problem);
  const rho = barrier.rebateAt === "hit" ? 0 : -problem.expiry * value;
  return { vega: 0, rho: rho + 0, errorEstimate: 1e-14 * value, method: "knocked-out" };
}
