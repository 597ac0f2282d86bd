import { memoize } from "../../../../base/memoize.ts";
import type { Kernel } from "../../../../kernel/index.ts";
import { itemParts } from "../item/option.ts";
import { rollbackKernel } from "../rollback.ts";
import { teamParts } from "../team/option.ts";
import { groupSize, MAX_RESIDENT_ROWS, type Team } from "../team/team.ts";
import { MAX_VARIANTS, solverParams, type SolverVariant, teamPlan, variantKey, variantName } from "./plan.ts";

/**
 * Subgroups of one multiprocessor that 2,048 options give an H200, whose registers hold them with 128 each: with more,
 * the sixteenth would wait for the first.
 */
const RESIDENT = 16;
/**
 * Two options a subgroup have segments twice as long: in f64 there are eight subgroups, for nothing less than all
 * registers will do; in f32 room for more registers than sixteen subgroups leave is worth more than these.
 */
const PAIRED_RESIDENT = 12;

const residents = ({ options, shuffles }: Team, rows: number): Pick<Kernel, "residentGroups"> => {
  if (options === 2) return { residentGroups: { f32: PAIRED_RESIDENT } };
  return shuffles && rows <= MAX_RESIDENT_ROWS ? { residentGroups: RESIDENT } : {};
};

/**
 * Returns the kernel that runs the whole backward time loop of a batch of one-factor problems:
 *
 *   ∂V/∂t + ½σ(S,t)²S² ∂²V/∂S² + (r−q)S ∂V/∂S − rV = 0,   V(S, T) = payoff,   V ≥ obstacle if exercise is early.
 *
 * An instance is solved by one work item, or by a `team` of items; a workgroup then has one instance, or two side by
 * side. `homogeneous` is true for a team if no coefficient depends on time.
 *
 * A step solves (I − hL)·y = u and sets u ← y (implicit Euler, h = Δt) or u ← 2y − u (Crank–Nicolson, h = Δt/2), so
 * that L is never applied (`factor.ts`). Of Alexander's two stages (1977), h = (1 − 1/√2)·Δt, the second sets u ← (1 +
 * √2)·y − √2·u. L is the three-point operator on a nonuniform mesh (`matrix.ts`). V = obstacle at a first node that is
 * certain to be exercised (`firstExercised`).
 *
 * Elimination carries the row sums (Grassmann, Taksar & Heyman 1985). It has no subtractions, so the factors are
 * accurate to a few ulp even in f32. `brennan-schwartz` requires the exercise region at the first nodes. `policy`
 * (`policy.ts`) makes no such assumption and costs some six times as much. `dates` sets V ← max(V, obstacle) at the
 * ends of steps that are marked (`exercise.ts`). With `time-dependent` the obstacle is φ·(slope·x − kink) with other
 * numbers in each step (`time/forward.ts`).
 *
 * Where a barrier is monitored the nodes beyond it are decoupled (a = c = 0), and its own node holds the amount paid
 * there, exactly. On dates on which a barrier is monitored, or begins or ends to be, the nodes beyond it are set again
 * (`barrier.ts`). With knock-ins a second value, that of the trade before any knock-in was breached, is solved along
 * with the first (`barrier.ts`).
 *
 * Layout: value i of instance l is at [i·pitch + l].
 *   table         columns of `nodes` values: S, V(S, T), the obstacle where it is not V(S, T), then σ²S² (shape
 *                 "table"); `closed`: six numbers from which the nodes and max(φ·(S − kink), 0) follow: kink, width,
 *                 step, at, zeroAt (`KinkedMesh`), φ; "time-dependent": slope and φ·kink of each step, the last one's
 *                 twice; after all that the surface (shape "surface"), see `readSurface`, or the formula's spot and
 *                 literals (shape "formula"), see `VolatilityShape`
 *   coefficients  for each factorisation: h, h·σ² (h if σ comes from elsewhere), h·(r−q), h·r [, t, shift of σ];
 *                 `homogeneous`: after the first one h alone (`flagsOfKept`); with barriers, at expiry and at each
 *                 event: `knockInReals`, `barrierReals` (`barrier.ts`); before those for each dividend: keep, cash,
 *                 `crossInReals`, `CROSSING_REALS` a barrier; at the end for each point: `realsPerPoint`
 *   flags         one integer for each series of equal steps, the same for all instances (`encodedSteps`)
 *   start         first node of each window of six that is read at the end; plus `nodes` for the value before a
 *                 knock-in
 *   out           [window·6 + k]; `closed`: then as many nodes, as they were rounded here; then the points' values
 *                 (`point.ts`)
 * Cost for each node: a step is 7 flops and 8 (with early exercise 9) reals of private memory; a factorisation costs as
 * much as about 4 steps.
 *
 * Each item of a team has capacity/items consecutive nodes, in private arrays short enough for registers. Both sweeps
 * of Thomas' algorithm, and the recurrence of its pivots, are scans over the items (Stone 1973; `scan.ts`,
 * `factor.ts`): an item needs only the value that enters its nodes. Elimination, pivots and projection are the same as
 * with a single item, and results differ by rounding only (with early exercise see `stepSegment`). Barriers and
 * exercise dates are applied to an item's nodes at their events. There is no value before a knock-in.
 *
 * Cost of a team's step: 10 to 14 flops for each node (with early exercise 11 to 19) and no workgroup memory; besides,
 * 24 flops for each item, and either 12 shuffles, or 28 reals of workgroup memory and 14 barriers. For policy iteration
 * `iteratePolicyOnSegment` gives the cost of a round. Workgroup memory: `teamWords`.
 */
export const solverKernel = (variant: SolverVariant, team?: Team, homogeneous = false): Kernel =>
  kernelOf(variant, team, homogeneous);

const kernelOf = memoize(
  (variant: SolverVariant, team: Team | undefined, homogeneous: boolean): Kernel =>
    team === undefined
      ? rollbackKernel({ name: `fdm-${variantName(variant)}`, params: solverParams }, itemParts(variant))
      : teamKernel(variant, team, homogeneous),
  MAX_VARIANTS,
  (variant, team, homogeneous) => `${team?.name} ${homogeneous} ${variantKey(variant)}`,
);

function teamKernel(variant: SolverVariant, team: Team, homogeneous: boolean): Kernel {
  const plan = teamPlan(variant, team, homogeneous);
  const kind = plan.scaled ? "-scaled" : homogeneous ? "" : "-refactorised";
  return rollbackKernel(
    {
      name: `fdm-${team.name}-${variantName(variant)}${kind}`,
      params: solverParams,
      groupSize: groupSize(team),
      ...residents(team, plan.rows),
    },
    teamParts(plan),
  );
}
