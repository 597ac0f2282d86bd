import { knockedOutBy, type OneFactorProblem, totalVariance } from "../../../fdm/index.ts";

/** Whether a value needs no solver: nothing moves at random, or every spot has hit a barrier. */
export function isKnown(problem: OneFactorProblem): boolean {
  if (problem.expiry === 0 || totalVariance(problem) === 0) return true;
  return problem.spots.every((spot) => knockedOutBy(problem, spot) !== undefined);
}
