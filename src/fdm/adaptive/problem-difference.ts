import { type OneFactorProblem, type Shift, shiftedProblem } from "../problem/one-factor.ts";

/**
 * A value to compute: V(problem), or V(problem) − V(subtracted). European trades with knock-ins are valued by this
 * in–out parity. Both problems are solved on one mesh, so that their errors cancel where the knock-in is far away.
 */
export interface ProblemDifference {
  readonly problem: OneFactorProblem;
  readonly subtracted: OneFactorProblem | undefined;
}

/** Returns both problems of a difference with volatility and rates shifted. */
export function shiftedDifference({ problem, subtracted }: ProblemDifference, shift: Shift): ProblemDifference {
  return { problem: shiftedProblem(problem, shift), subtracted: subtracted && shiftedProblem(subtracted, shift) };
}
