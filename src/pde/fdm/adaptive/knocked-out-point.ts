import { rebateValue } from "../problem/barriers.ts";
import type { KnockOut } from "../problem/levels.ts";
import type { OneFactorProblem } from "../problem/one-factor.ts";
import type { PointValue } from "../read/solution.ts";

/**
 * The value and Greeks of a trade whose `barrier` has been breached today: the rebate, which does not depend on the
 * spot.
 */
export function knockedOutPoint(problem: OneFactorProblem, barrier: KnockOut): PointValue {
  // A rebate that is paid at once earns no interest here, as the payoff of an option that is exercised.
  return { value: rebateValue(barrier, 0, problem), delta: 0, gamma: 0, exercised: barrier.rebateAt === "hit" };
}
