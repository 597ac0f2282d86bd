import type { SolverVariant } from "../variant.ts";
import { MAX_RESIDENT_ROWS, partsOf, type Team } from "../team/team.ts";

/** The choices from which the code of an option's kernel follows: who solves an instance, and the variant. */
export interface OptionPlan {
  readonly variant: SolverVariant;
  /** The items that solve an instance together; undefined: one item does it alone. */
  readonly team: Team | undefined;
  /** The number of these items. */
  readonly items: number;
  /** The number of nodes that each holds; undefined: one item holds all nodes. */
  readonly rows: number | undefined;
  /** True where exercise is possible at all times. */
  readonly early: boolean;
  readonly dates: boolean;
  readonly timeDependent: boolean;
  readonly policy: boolean;
  readonly hasBarriers: boolean;
}

/** The plan of a kernel for a team: besides, the algorithms of its steps. */
export interface TeamPlan extends OptionPlan {
  readonly team: Team;
  readonly rows: number;
  /** The number of parts that a run's rows are worked on in. */
  readonly parts: number;
  /** True where factors last for a run of steps; otherwise every step is factored. */
  readonly lasting: boolean;
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

/** Returns the plan of a kernel in which one item solves an instance alone. */
export function itemPlan(variant: SolverVariant): OptionPlan {
  const { exercise, barriers = 0 } = variant;
  const dates = exercise === "dates";
  return {
    variant,
    team: undefined,
    items: 1,
    rows: undefined,
    early: exercise !== "none" && !dates,
    dates,
    timeDependent: exercise === "time-dependent",
    policy: exercise === "policy",
    hasBarriers: barriers > 0,
  };
}

/** Returns the plan of a kernel for a team; `homogeneous` means that no coefficient depends on time. */
export function teamPlan(variant: SolverVariant, team: Team, homogeneous: boolean): TeamPlan {
  const { exercise, shape, dividends, capacity } = variant;
  const plan = itemPlan(variant);
  const { early, dates, policy, hasBarriers } = plan;
  const rows = Math.ceil(capacity / team.items);
  // Without dividends and with constant coefficients the exercise region shrinks on the way to today.
  const held = exercise === "brennan-schwartz" && homogeneous && !dividends && !hasBarriers;
  const scaled = held || (homogeneous && !early);
  const byMesh = shape === "lognormal" || shape === "table";
  return {
    ...plan,
    team,
    items: team.items,
    rows,
    parts: partsOf(rows).count,
    lasting: homogeneous,
    eventful: dates || hasBarriers,
    held,
    scaled,
    summed: scaled && team.shuffles && rows > MAX_RESIDENT_ROWS && !dividends && !hasBarriers && !dates,
    // Local variances that a mesh and a table give once are weighed once.
    metrics: !homogeneous && byMesh,
    rescaled: homogeneous && !policy && !hasBarriers && byMesh,
  };
}
