import type { Accuracy, RelativeAccuracy } from "../../accuracy.ts";
import type { Axis, AxisPoint, CoefficientName, EquationProblem, OneAxisScheme, Quantity } from "../../fdm/index.ts";
import type { UserFunctions } from "../../kernel/index.ts";

/** An axis of a sparse grid: that of `solve`, with levels in place of a number of nodes. */
export interface SparseAxis extends Omit<Axis, "nodes" | "points" | "density"> {
  /**
   * The point of an axis, at most one: a node of every level, and where nodes are dense; the spot or the strike.
   * Without one the nodes are equidistant in the coordinate, and so they are with `density: "uniform"`.
   */
  readonly points?: readonly [Quantity | AxisPoint];
  readonly density?: "uniform" | "sinh";
  /**
   * The width of the dense part, in units of the coordinate; by default a fifth of the axis, wider than on full grids,
   * since few nodes have to cover the axis on coarse levels.
   */
  readonly width?: Quantity;
  /** The coarsest level: grids have at least 2^level intervals. 2 by default. */
  readonly initialLevel?: number;
  /** The finest level; no limit by default. */
  readonly maxLevel?: number;
}

/** The solver of each grid's systems; see `krylovSpec`. */
export interface GridSolver {
  /** The method, "bicgstab" by default. */
  readonly method?: "bicgstab" | "cgs";
  /**
   * The residual at which a system is solved: ‖M⁻¹(b − A·x)‖₂ ≤ relative·‖M⁻¹b‖₂, M the diagonal of A. 1e-9 by default,
   * 1e-5 in f32.
   */
  readonly tolerance?: RelativeAccuracy;
  /** The largest number of iterations, 1,000 by default. */
  readonly maxIterations?: number;
}

/** The accuracy that is wanted of the value at a point. */
export interface SparseAccuracy<A extends string> extends Accuracy {
  readonly at: Readonly<Record<A, number>>;
  /** The largest number of unknowns of all grids; 20 million by default. */
  readonly maxUnknowns?: number;
}

/**
 * A problem for a parabolic equation on one to ten axes, as `solve` takes it (`EquationProblem`), solved on a
 * combination of grids.
 */
export interface SparseGridProblem<
  A extends string,
  P extends string = never,
  C extends string = CoefficientName<A>,
  F extends UserFunctions = Record<never, never>,
> extends Omit<EquationProblem<A, P, C, F>, "axes" | "scheme" | "extrapolate"> {
  /** One to ten axes, by name. */
  readonly axes: Readonly<Record<A, SparseAxis>>;
  /** Refinements above the initial levels, summed over the axes; 3 by default. */
  readonly level?: number;
  /**
   * Richardson extrapolation in space: along every axis, from one level more ("space"), or from the combination with
   * one level less ("levels"), at no cost.
   */
  readonly extrapolate?: "space" | "levels";
  /** Crank–Nicolson with two Rannacher steps by default. */
  readonly scheme?: OneAxisScheme;
  /** Averages terminal values over the nodes' cells, which kinks need; true by default. */
  readonly averaging?: boolean;
  /** The solver of each grid's systems. */
  readonly solver?: GridSolver;
  /**
   * The accuracy to reach, in place of `level`: grids are added where they matter most, until the estimated error is as
   * small.
   */
  readonly accuracy?: SparseAccuracy<NoInfer<A>>;
}

/** A problem of any names, as the solver handles it inside. */
export type AnySparseProblem = SparseGridProblem<string, string, string, UserFunctions>;
