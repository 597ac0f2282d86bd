import { bool, i32, read, real, record, write } from "../../kernel/index.ts";
import type { VolatilityShape } from "../operator/read-volatility.ts";

/**
 * The treatment of early exercise; "dates": at the ends of some steps only; "time-dependent": Brennan and Schwartz's
 * method for a time-dependent obstacle. See `solverKernel`.
 */
export type ExerciseScheme = "none" | "brennan-schwartz" | "policy" | "dates" | "time-dependent";

/**
 * The source of σ²: constant in S, a column of the table, a formula in S and t evaluated in the kernel, or a surface of
 * cubics in S for each step that the instances of one expiry share (`surface.ts`).
 */
export type DiffusionShape = "lognormal" | "table" | "formula" | "surface";

/** The features of a one-factor problem for which a solver kernel is compiled. */
export interface SolverVariant {
  readonly exercise: ExerciseScheme;
  readonly shape: DiffusionShape;
  /** True where any step ends at a dividend; without dividends a third of the code is omitted. */
  readonly dividends: boolean;
  /** The number of barriers of each instance, 0 by default. */
  readonly barriers?: number;
  /**
   * The number of pending knock-ins of instances, 0 by default; with some a second value is solved besides the first
   * (`knock-in.ts`).
   */
  readonly knockIns?: number;
  /** True where instances bring a mesh and a vanilla payoff in closed form, in place of a table. */
  readonly closed: boolean;
  /**
   * True where no coefficient depends on time: rows are made once, and scaled when the step changes; two factorisations
   * are kept.
   */
  readonly homogeneous?: boolean;
  /** True where values at points are read besides windows; false by default. */
  readonly points?: boolean;
  /** The largest number of nodes an instance may have. */
  readonly capacity: number;
  /** The volatility σ(S, t), for the shape "formula". */
  readonly volatility?: VolatilityShape;
}

/** Returns a key of a variant; equal keys mean equal variants. */
export const variantKey = (variant: SolverVariant): string =>
  variant.volatility === undefined ? variantName(variant) : `${variantName(variant)} ${variant.volatility.key}`;

/** The name of a variant, the same for all formulas. */
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
 * The maximum number of variants whose kernels are cached. A book has a dozen, 600 random trades of every kind some
 * 200; numbers of barriers and knock-ins make their number unbounded in a stream.
 */
export const MAX_VARIANTS = 512;
/** The parameters of every executor of the problems of books, laid out as `solverKernel` describes. */
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

/** The parameters of every executor of the problems of books as one record. */
export const Launch = record(solverParams);
