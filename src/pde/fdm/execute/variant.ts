import { bool, i32, read, real, record, write } from "../../../kernel/index.ts";
import type { ExerciseScheme } from "../mesh/grid.ts";
import type { VolatilityShape } from "../operator/read-volatility.ts";

/**
 * The source of σ²: constant in S, a column of the table, a formula in S and t that the kernel evaluates, or a surface
 * with cubics in S for each step, which the instances of one expiry share (`surface.ts`).
 */
export type DiffusionShape = "lognormal" | "table" | "formula" | "surface";

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
   * first (`knock-in.ts`).
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
  /** The largest number of nodes that an instance may have. */
  readonly capacity: number;
  /** The volatility formula σ(S, t), for the shape "formula". */
  readonly volatility?: VolatilityShape;
}

/** Returns a text that is equal for equal variants, and differs for others. */
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
    capacity,
  } = variant;
  const levels = `${barriers > 0 ? `-barriers${barriers}` : ""}${knockIns > 0 ? `-ins${knockIns}` : ""}`;
  const events = `${dividends ? "-dividends" : ""}${levels}`;
  return `${exercise}-${shape}${events}${closed ? "-closed" : ""}${points ? "-points" : ""}${homogeneous ? "-homogeneous" : ""}-${capacity}`;
}

/** The number of factorisations that a time-homogeneous solver keeps. */
export const KEPT_FACTORS = 2;

/**
 * The largest number of variants whose kernels are cached. A book has a dozen, and 600 random trades of every kind have
 * some 200; in a stream of trades their number is unlimited, because each number of barriers and knock-ins is another.
 */
export const MAX_VARIANTS = 512;
/**
 * The launch parameters of every kernel for the one-factor problems of books (`solverKernel` describes their layout).
 */
export const solverParams = {
  instances: i32,
  pitch: i32,
  nodes: i32,
  runs: i32,
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
