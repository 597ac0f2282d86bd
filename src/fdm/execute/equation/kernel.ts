import type { Kernel } from "../../../kernel/index.ts";
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
 * Returns the kernel that runs the whole backward time loop of a batch of one-factor equations: terminal values, then
 * the rows of a time program, stages (`Stage`) and events, in order. The matrix is recomputed only in rows marked
 * FACTOR. A work item solves an instance, or a `team` of them does, one workgroup an instance.
 *
 * Layout: value i of instance l stands at [i·pitch + l].
 *   table       S at each node, then the next node's coordinate less this one's
 *   parameters  the user's, the literals of the user's functions, then the dates 0 … expiry
 *   words       two a row: flags (timeline.ts), the segment or date; the same for all instances
 *   reals       `ROW_REALS` a row: the times of the stage and of its end as fractions of the segment between two dates,
 *               the step h as a fraction of it, the weights of the stored solutions U and V, and that of extrapolation
 *   out         V(0, S) at each node, then the recorded exercise boundary
 *   status      `STATUS_WORDS`, see `STATUS`; zeros before
 *   state       `keptArrays` arrays of the nodes, where the loop is run a part at a time: rows `first` … `end` − 1 of
 *               `rows`, with `recorded` values of the exercise boundary before; not read where one launch runs all
 * Cost: a stage is about 10 flops and 10 words of private memory a node besides the user's functions; a matrix about 25
 * flops and two divisions, besides the equation.
 *
 * An item of a team has a run of capacity/items consecutive nodes. Sweeps and pivots are scans over the items
 * (`scan.ts`, `factor.ts`), Brennan & Schwartz's projection too (`projectRuns`): the same elimination, whose results
 * differ by rounding only. Rows are divided by 1 + hc, so a matrix with 1 + hc ≤ 0 somewhere makes no sense there, nor
 * one with entries beyond 1e15, whose products over a run might overflow: such an instance has `STATUS.growth`, and its
 * results are to be made again by items. Convection has to be fitted: negative entries off the diagonal would let
 * products over runs grow.
 *
 * Cost for a team: a stage is 8 shuffles or 10 barriers an item (Brennan & Schwartz 14 flops and two comparisons a
 * node, 11 shuffles; its boundary 4 barriers more); a matrix 30 flops a node, 20 shuffles and 8 words of workgroup
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
