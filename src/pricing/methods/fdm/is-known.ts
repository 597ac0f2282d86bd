import { knockedOutBy, type KnockOut, type OneFactorProblem, totalVariance } from "../../../fdm/index.ts";

/** Tells whether a value needs no solver: nothing moves at random, or every spot has hit a barrier. */
export function isKnown(problem: OneFactorProblem): boolean {
  if (problem.expiry === 0 || totalVariance(problem) === 0) return true;
  return problem.spots.every((spot) => knockedOutBy(problem, spot) !== undefined);
}

/** The barrier that today's spot has hit; scenarios' spots may have not. */
export function paidNow(problem: OneFactorProblem): KnockOut | undefined {
  return knockedOutBy(problem, problem.spots[0]);
}
