import type { SolverVariant } from "../variant.ts";
import { MAX_RESIDENT_ROWS, partsOf, type Team } from "../team/team.ts";

/**
 * The choices that determine the code of a one-factor problem's kernel: the variant, and how many items solve an
 * instance.
 */
export interface OptionPlan {
  readonly variant: SolverVariant;
  /** The team of items that solve an instance together; undefined where a single item does. */
  readonly team: Team | undefined;
  /** The number of items that solve an instance. */
  readonly items: number;
  /** The number of nodes of each item of a team; undefined where a single item has all nodes. */
  readonly rows: number | undefined;
  /** True with exercise at all times. */
  readonly early: boolean;
  readonly dates: boolean;
  readonly timeDependent: boolean;
  readonly policy: boolean;
  readonly hasBarriers: boolean;
}

/** The choices for a kernel in which a team of items solves an instance, with the algorithms of its steps. */
export interface TeamPlan extends OptionPlan {
  readonly team: Team;
  readonly rows: number;
  /** The number of intervals into which an item divides its nodes, to process them side by side. */
  readonly parts: number;
  /** True where one factorisation serves several steps; otherwise every step has its own. */
  readonly lasting: boolean;
  /** True where an event may end a segment of the time grid, after which the solution is not scaled by the factors. */
  readonly eventful: boolean;
  /**
   * True where elimination is bounded below by thresholds (`thresholdRuns`), because the exercise region can only
   * shrink on the way back to today.
   */
  readonly held: boolean;
  /** True where the state is w = gain·u between factorisations (`stepRuns`). */
  readonly scaled: boolean;
  /**
   * True where steps are running sums, in f64 (`advanceSums`); with `held`, they are sums of premiums (`sourceRuns`).
   */
  readonly summed: boolean;
  /** True where matrix rows are computed from metrics of the mesh that are stored once (`computeRowMetrics`). */
  readonly metrics: boolean;
  /** True where the matrix rows of later factorisations are those before, scaled (`rescaleRuns`). */
  readonly rescaled: boolean;
}

/** Returns the choices for a variant in which a single item solves an instance. */
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

/**
 * Returns the choices for a variant in which a team solves an instance; `homogeneous` means that no coefficient depends
 * on time.
 */
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
