import type { Kernel } from "../../../../kernel/index.ts";
import type { EquationVariant } from "../../../operator/equation-variant.ts";
import { LOOP_BUDGET } from "../../../problem/lowered.ts";
import { rollbackKernel } from "../../rollback.ts";
import { advance } from "./advance.ts";
import { allocate, begin, placeOf, runAt } from "./begin.ts";
import { applyEvents } from "./events.ts";
import { factor } from "./factor.ts";
import { readSolution } from "./read.ts";
import { equationParams } from "./records.ts";

/**
 * Returns the kernel that runs the whole backward time loop of a batch of one-factor equations, one work item an
 * instance: terminal values, then the rows of a time program, stages (`Stage`) and events, in order. The matrix is
 * recomputed only in rows marked FACTOR.
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
 */
export const equationKernel = (variant: EquationVariant): Kernel =>
  rollbackKernel(
    { name: `equation-${variant.name}`, loopBudget: LOOP_BUDGET, params: equationParams },
    {
      placeOf,
      allocate: allocate(variant),
      begin: begin(variant),
      runAt: runAt(variant),
      factor: factor(variant),
      advance: advance(variant),
      applyEvents: applyEvents(variant),
      read: readSolution(variant),
    },
  );
