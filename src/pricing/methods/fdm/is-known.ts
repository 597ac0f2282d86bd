import { knockedOutBy, type KnockOut, type OneFactorProblem, totalVariance } from "../../../pde/fdm/index.ts";

/**
 * Tells whether the value is known without a solver, because nothing is random or every spot has breached a barrier.
 */
export function isKnown(problem: OneFactorProblem): boolean {
  if (problem.expiry === 0 || totalVariance(problem) === 0) return true;
  return problem.spots.every((spot) => knockedOutBy(problem, spot) !== undefined);
}

/** Returns the barrier that today's spot has breached; the spots of scenarios need not have breached it. */
export function paidNow(problem: OneFactorProblem): KnockOut | undefined {
  return knockedOutBy(problem, problem.spots[0]);
}
