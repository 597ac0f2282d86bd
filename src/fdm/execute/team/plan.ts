import type { SolverVariant } from "../variant.ts";
import { MAX_RESIDENT_ROWS, partsOf, type Team } from "./team.ts";

/** The choices from which a team kernel's code follows: its team, the variant, and the algorithms of a step. */
export interface TeamPlan {
  readonly team: Team;
  readonly variant: SolverVariant;
  /** The number of rows of an item's run, and parts that they are worked on in. */
  readonly rows: number;
  readonly parts: number;
  /** True where factors last for a run of steps; otherwise every step is factored. */
  readonly lasting: boolean;
  /** True where exercise is possible at all times. */
  readonly early: boolean;
  readonly dates: boolean;
  readonly timeDependent: boolean;
  readonly policy: boolean;
  readonly hasBarriers: boolean;
  /** True where an event may end a segment of the time grid, after which the solution is not scaled. */
  readonly eventful: boolean;
  /** True where elimination is bounded below by thresholds: the exercise region only shrinks on the way to today. */
  readonly held: boolean;
  /** True where the state is w = gain·u between factorisations (`stepRuns`). */
  readonly scaled: boolean;
  /** True where steps are running sums, in f64 (`advanceSums`); where `held` too, of premiums (`sourceRuns`). */
  readonly summed: boolean;
  /** True where rows come from metrics that are laid once (`layMetrics`). */
  readonly metrics: boolean;
  /** True where rows after the first follow from those before (`rescaleRuns`). */
  readonly rescaled: boolean;
}

/** Returns the plan of a team kernel; `homogeneous` means that no coefficient depends on time. */
export function planOf(variant: SolverVariant, team: Team, homogeneous: boolean): TeamPlan {
  const { exercise, shape, dividends, barriers = 0, capacity } = variant;
  const rows = Math.ceil(capacity / team.items);
  const dates = exercise === "dates";
  const early = exercise !== "none" && !dates;
  const policy = exercise === "policy";
  const hasBarriers = barriers > 0;
  // Without dividends and with constant coefficients the exercise region shrinks on the way to today.
  const held = exercise === "brennan-schwartz" && homogeneous && !dividends && !hasBarriers;
  const scaled = held || (homogeneous && !early);
  const byMesh = shape === "lognormal" || shape === "table";
  return {
    team,
    variant,
    rows,
    parts: partsOf(rows).count,
    lasting: homogeneous,
    early,
    dates,
    timeDependent: exercise === "time-dependent",
    policy,
    hasBarriers,
    eventful: dates || hasBarriers,
    held,
    scaled,
    summed: scaled && team.shuffles && rows > MAX_RESIDENT_ROWS && !dividends && !hasBarriers && !dates,
    // Local variances that a mesh and a table give once are weighed once.
    metrics: !homogeneous && byMesh,
    rescaled: homogeneous && !policy && !hasBarriers && byMesh,
  };
}
