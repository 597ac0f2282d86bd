import { type OneFactorProblem, type Shift, shiftedProblem } from "../problem/one-factor.ts";

/**
 * A value to compute: V(problem), or V(problem) − V(subtracted). By this in–out parity a European knock-in is the trade
 * without barriers less its knock-out. Both problems are solved on one mesh, so that their errors cancel where the
 * barrier is far away.
 */
export interface ProblemDifference {
  readonly problem: OneFactorProblem;
  readonly subtracted: OneFactorProblem | undefined;
}

/** Returns both problems of a difference with their volatility and rates shifted. */
export function shiftedDifference({ problem, subtracted }: ProblemDifference, shift: Shift): ProblemDifference {
  return { problem: shiftedProblem(problem, shift), subtracted: subtracted && shiftedProblem(subtracted, shift) };
}
