import { bool, fn, i32, read, real, record, write } from "../../../../kernel/index.ts";
import type { DiffusionShape, ExerciseScheme } from "../../mesh/grid.ts";
import type { VolatilityShape } from "../../operator/coefficients.ts";
import { MAX_RESIDENT_ROWS, partsOf, type Team } from "../team/team.ts";
import { itemContextOf } from "../rollback.ts";

/** The features of a one-factor problem that the code of its kernel depends on. */
export interface SolverVariant {
  readonly exercise: ExerciseScheme;
  readonly shape: DiffusionShape;
  /** True where a step may end at a dividend. Without dividends a third of the code is omitted. */
  readonly dividends: boolean;
  /** The number of barriers of each instance, 0 by default. */
  readonly barriers?: number;
  /**
   * The number of pending knock-ins of each instance, 0 by default. With any, a second value is solved along with the
   * first (`barrier.ts`).
   */
  readonly knockIns?: number;
  /** True where instances have their mesh and vanilla payoff in closed form, instead of in a table. */
  readonly closed: boolean;
  /**
   * True where no coefficient depends on time. Matrix rows are then assembled once and scaled when the step changes,
   * and two factorisations are kept.
   */
  readonly homogeneous?: boolean;
  /** True where values at points are read in addition to those at nodes; false by default. */
  readonly points?: boolean;
  /**
   * True where the value at today's spot is differentiated by the inputs of the scheme (`item/adjoint.ts`), which a
   * single item does; false by default.
   */
  readonly differentiated?: boolean;
  /**
   * The number of reals of an item's private memory for the layers that it keeps to go back; 0, the default, where they
   * are behind the results.
   */
  readonly privateLayers?: number;
  /** The largest number of nodes that an instance may have. */
  readonly capacity: number;
  /** The volatility formula σ(S, t), for the shape "formula". */
  readonly volatility?: VolatilityShape;
}

/** Returns the key of a variant, a text that is the same for equal variants only. */
export const variantKey = (variant: SolverVariant): string =>
  variant.volatility === undefined ? variantName(variant) : `${variantName(variant)} ${variant.volatility.key}`;

/** Returns the name of a variant, which is the same for all volatility formulas. */
export function variantName(variant: SolverVariant): string {
  const {
    exercise,
    shape,
    dividends,
    barriers = 0,
    knockIns = 0,
    closed,
    points = false,
    homogeneous = false,
    differentiated = false,
    privateLayers = 0,
    capacity,
  } = variant;
  const levels = `${barriers > 0 ? `-barriers${barriers}` : ""}${knockIns > 0 ? `-ins${knockIns}` : ""}`;
  const events = `${dividends ? "-dividends" : ""}${levels}`;
  return `${exercise}-${shape}${events}${closed ? "-closed" : ""}${points ? "-points" : ""}${homogeneous ? "-homogeneous" : ""}${differentiated ? `-differentiated${privateLayers}` : ""}-${capacity}`;
}

/** The number of factorisations that a time-homogeneous solver keeps. */
export const KEPT_FACTORS = 2;

/**
 * The largest number of variants whose kernels are cached. A book has about a dozen variants, and 600 random trades of
 * every kind have about 200. In a stream of trades the number of variants is unlimited, because each number of barriers
 * and knock-ins is another variant.
 */
export const MAX_VARIANTS = 512;
/**
 * The launch parameters of every kernel for the one-factor problems of books (`solverKernel` describes their layout).
 */
export const solverParams = {
  instances: i32,
  pitch: i32,
  nodes: i32,
  programRows: i32,
  windows: i32,
  points: i32,
  obstacleColumn: i32,
  firstExercised: bool,
  table: read(real),
  coefficients: read(real),
  flags: read(i32),
  start: read(i32),
  out: write(real),
} as const;

/** The launch parameters of every kernel for the one-factor problems of books as one record. */
export const Launch = record(solverParams);

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
  readonly reusesFactors: boolean;
  /** True where an event may end a segment of the time grid, after which the solution is not scaled by the factors. */
  readonly eventful: boolean;
  /**
   * True where elimination is bounded below by thresholds (`eliminationThresholds`), because the exercise region can
   * only shrink on the way back to today.
   */
  readonly held: boolean;
  /** True where the state is w = gain·u between factorisations (`stepSegment`). */
  readonly scaled: boolean;
  /**
   * True where steps are running sums, in f64 (`advanceSums`); with `held`, they are sums of premiums
   * (`premiumSources`).
   */
  readonly summed: boolean;
  /** True where matrix rows are computed from metrics of the mesh that are stored once (`computeRowMetrics`). */
  readonly metrics: boolean;
  /** True where the matrix rows of later factorisations are those before, scaled (`rescaleSegment`). */
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
    reusesFactors: homogeneous,
    eventful: dates || hasBarriers,
    held,
    scaled,
    summed: scaled && team.shuffles && rows > MAX_RESIDENT_ROWS && !dividends && !hasBarriers && !dates,
    // Local variances that a mesh and a table give once are weighed once.
    metrics: !homogeneous && byMesh,
    rescaled: homogeneous && !policy && !hasBarriers && byMesh,
  };
}

/** Returns the function that computes the context of a work item: its instance and its nodes. */
export const contextOf = ({ team, rows }: OptionPlan) =>
  fn({
    name: "contextOf",
    params: { launch: Launch, globalId: i32 },
    env: { itemContextOf: itemContextOf(team, rows) },
    body({ launch: { instances, pitch, programRows, table, coefficients }, globalId }, _gpu, { itemContextOf }) {
      return itemContextOf({ instances, pitch, first: 0, end: programRows, table, parameters: coefficients, globalId });
    },
  });
