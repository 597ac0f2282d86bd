import type { Kernel } from "../../../../kernel/index.ts";
import type { EquationVariant } from "../../operator/equation-variant.ts";
import { LOOP_BUDGET } from "../../problem/lowered.ts";
import { factor } from "../item/equation.ts";
import { rollbackKernel } from "../rollback.ts";
import { factor as factorByTeam } from "../team/equation/factor.ts";
import { groupSize, type Team } from "../team/team.ts";
import { advance } from "./advance.ts";
import { begin, runAt } from "./begin.ts";
import { applyEvents } from "./events.ts";
import { allocate, placeOf } from "./memory.ts";
import { isTeam, planOf } from "./plan.ts";
import { readSolution } from "./read.ts";
import { equationParams } from "./records.ts";

/**
 * Returns the kernel that runs the whole backward time loop of a batch of equations on one axis: terminal values, then
 * the rows of a time program, which are stages (`Stage`) and events, in order. The matrix is recomputed only in rows
 * marked FACTOR. An instance is solved by one work item, or by a `team` of items in one workgroup.
 *
 * Layout: value i of instance l is at [i·pitch + l].
 *   table       S at each node, then the differences of the coordinate between successive nodes
 *   parameters  the user's, the literals of the user's functions, then the dates 0 … expiry
 *   words       two integers for each program row: flags (timeline.ts), the segment or date; the same for all instances
 *   reals       `ROW_REALS` for each program row: the times of the stage and of its end as fractions of the segment
 *               between two dates, the step h as a fraction of it, the weights of the stored solutions U and V, and the
 *               extrapolation
 *   out         V(0, S) at each node, then the recorded exercise boundary
 *   status      `STATUS_WORDS` integers (`STATUS`), zero at the start
 *   state       `keptArrays` node arrays, where several launches share the time loop: rows `first` … `end` − 1 of
 *               `rows`, with `recorded` values of the exercise boundary before; not read where one launch runs all
 * Cost: a stage is about 10 flops and 10 reals of private memory a node besides the user's functions; a matrix about 25
 * flops and two divisions, besides the equation.
 *
 * An item of a team has capacity/items consecutive nodes. Sweeps and pivots are scans over the items (`scan.ts`,
 * `factor.ts`), as is Brennan & Schwartz's projection (`projectRuns`): the same elimination, whose results differ by
 * rounding only. Rows are divided by 1 + hc. A matrix with 1 + hc ≤ 0 somewhere therefore makes no sense there, nor
 * does one with entries beyond 1e15, whose products over an item's nodes might overflow. An instance with such a matrix
 * has `STATUS.growth`, and must be solved again by a single item. Convection must be fitted, because negative
 * off-diagonal entries would let products over nodes grow.
 *
 * Cost for a team: a stage is 8 shuffles or 10 barriers an item (Brennan & Schwartz: 14 flops and two comparisons a
 * node, 11 shuffles; its boundary 4 barriers more); a matrix 30 flops a node, 20 shuffles and 8 reals of workgroup
 * memory; a round of the penalty method as much as a matrix and a stage. Workgroup memory: `equationBytes`.
 */
export function equationKernel(variant: EquationVariant, team?: Team): Kernel {
  const plan = planOf(variant, team);
  return rollbackKernel(
    {
      name: `equation-${team === undefined ? "" : `${team.name}-`}${variant.name}`,
      loopBudget: LOOP_BUDGET,
      params: equationParams,
      ...(team && { groupSize: groupSize(team) }),
    },
    {
      placeOf: placeOf(plan),
      allocate: allocate(plan),
      begin: begin(plan),
      runAt: runAt(plan),
      factor: isTeam(plan) ? factorByTeam(plan) : factor(plan),
      advance: advance(plan),
      applyEvents: applyEvents(plan),
      read: readSolution(plan),
    },
  );
}
