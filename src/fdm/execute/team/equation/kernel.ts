import type { Kernel } from "../../../../kernel/index.ts";
import type { EquationVariant } from "../../../operator/equation-variant.ts";
import { LOOP_BUDGET } from "../../../problem/lowered.ts";
import { equationParams } from "../../item/equation/records.ts";
import { rollbackKernel } from "../../rollback.ts";
import { groupSize, type Team } from "../team.ts";
import { advance } from "./advance.ts";
import { begin, runAt } from "./begin.ts";
import { applyEvents } from "./events.ts";
import { factor } from "./factor.ts";
import { allocate, placeOf } from "./memory.ts";
import { planOf } from "./plan.ts";
import { readSolution } from "./read.ts";

/**
 * Returns a kernel with the time loop, tables and results of `equationKernel`, in which a team of items, one workgroup,
 * solves each instance; an item has a run of capacity/items consecutive nodes. Sweeps and pivots are scans over the
 * items (`scan.ts`, `factor.ts`), Brennan & Schwartz's projection too (`projectRuns`): the same elimination, whose
 * results differ by rounding only.
 *
 * Rows are divided by 1 + hc, so a matrix with 1 + hc ≤ 0 somewhere makes no sense here, nor one with entries beyond
 * 1e15, whose products over a run might overflow: such an instance has `STATUS.growth`, and its results are to be
 * made again by items. Convection has to be fitted: negative entries off the diagonal would let products over runs
 * grow.
 *
 * Cost: a stage is about 10 flops a node besides the user's functions, and 8 shuffles or 10 barriers an item (Brennan
 * & Schwartz 14 and two comparisons, 11 shuffles; its boundary 4 barriers more); a matrix 30 flops, 20 shuffles and 8
 * words of workgroup memory, besides the equation; a round of the penalty method as much as a matrix and a stage.
 * Workgroup memory: `equationBytes`.
 */
export function teamEquationKernel(variant: EquationVariant, team: Team): Kernel {
  const plan = planOf(variant, team);
  return rollbackKernel(
    {
      name: `equation-${team.name}-${variant.name}`,
      loopBudget: LOOP_BUDGET,
      params: equationParams,
      groupSize: groupSize(team),
    },
    {
      placeOf: placeOf(plan),
      allocate: allocate(plan),
      begin: begin(plan),
      runAt: runAt(variant),
      factor: factor(plan),
      advance: advance(plan),
      applyEvents: applyEvents(plan),
      read: readSolution(plan),
    },
  );
}
