import { type OneFactorProblem, type Shift, shiftedProblem } from "../problem/one-factor.ts";

/**
 * The value sought: V(problem), or V(problem) − V(subtracted) where there is a second problem. European trades with
 * knock-ins are valued so, by in–out parity. Both are solved on one mesh, so that their errors cancel where the
 * knock-in is far away.
 */
export interface ProblemDifference {
  readonly problem: OneFactorProblem;
  readonly subtracted: OneFactorProblem | undefined;
}

export function shiftedDifference({ problem, subtracted }: ProblemDifference, shift: Shift): ProblemDifference {
  return { problem: shiftedProblem(problem, shift), subtracted: subtracted && shiftedProblem(subtracted, shift) };
}
