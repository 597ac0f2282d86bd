import { remembered } from "../../../remembered.ts";
import type { Kernel } from "../../../kernel/index.ts";
import { rollbackKernel } from "../rollback.ts";
import { MAX_VARIANTS, solverParams, type SolverVariant, variantKey, variantName } from "../variant.ts";
import { advance } from "./advance.ts";
import { begin } from "./begin.ts";
import { applyEvents } from "./events.ts";
import { allocate } from "./memory.ts";
import { placeOf } from "./place.ts";
import { planOf } from "./plan.ts";
import { readSolution } from "./read.ts";
import { factor } from "./refactor.ts";
import { runAt } from "./run.ts";
import { groupSize, MAX_RESIDENT_ROWS, type Team } from "./team.ts";

/**
 * Subgroups of one multiprocessor that 2,048 options give an H200, whose registers hold them with 128 each: with more,
 * the sixteenth would wait for the first.
 */
const RESIDENT = 16;
/**
 * Two options a subgroup have runs twice as long: in f64 there are eight subgroups, for nothing less than all registers
 * will do; in f32 room for more registers than sixteen subgroups leave is worth more than these.
 */
const PAIRED_RESIDENT = 12;

const residents = ({ options, shuffles }: Team, rows: number): Pick<Kernel, "residentGroups"> => {
  if (options === 2) return { residentGroups: { f32: PAIRED_RESIDENT } };
  return shuffles && rows <= MAX_RESIDENT_ROWS ? { residentGroups: RESIDENT } : {};
};

/**
 * Returns a kernel with the time loop, tables and results of `solverKernel`, in which a team of items solves each
 * option: one workgroup an instance, or one for two instances side by side. Each item has a run of capacity/items
 * consecutive nodes, in private arrays short enough for registers.
 *
 * Both sweeps of Thomas' algorithm, and the recurrence of its pivots, are scans over the items (Stone 1973; `scan.ts`,
 * `factor.ts`): an item needs only the value that enters its run. The elimination, its pivots and the projection are
 * the same, and results differ by rounding only (with early exercise see `stepRuns`). Barriers and dates of exercise
 * work on the runs at their events; there is no value before a knock-in.
 *
 * Cost of a step: 10 to 14 flops a node (early exercise 11 to 19), no workgroup memory a node; an item has 24 flops
 * beside, and either 12 shuffles, or 28 words of workgroup memory and 14 barriers. Policy iteration: see `iterateRuns`,
 * a round. Workgroup memory: `teamWords`.
 */
export const teamKernel = remembered(
  makeKernel,
  MAX_VARIANTS,
  (variant, team, homogeneous) => `${team.name} ${homogeneous} ${variantKey(variant)}`,
);

function makeKernel(variant: SolverVariant, team: Team, homogeneous: boolean): Kernel {
  const plan = planOf(variant, team, homogeneous);
  const kind = plan.scaled ? "-scaled" : homogeneous ? "" : "-refactorised";
  return rollbackKernel(
    {
      name: `fdm-${team.name}-${variantName(variant)}${kind}`,
      params: solverParams,
      groupSize: groupSize(team),
      ...residents(team, plan.rows),
    },
    {
      placeOf: placeOf(plan),
      allocate: allocate(plan),
      begin: begin(plan),
      runAt: runAt(plan),
      factor: factor(plan),
      advance: advance(plan),
      applyEvents: applyEvents(plan),
      read: readSolution(plan),
    },
  );
}
