import type { Accuracy, RelativeAccuracy } from "../../accuracy.ts";
import type { Axis, AxisPoint, CoefficientName, EquationProblem, OneAxisScheme, Quantity } from "../../fdm/index.ts";
import type { UserFunctions } from "../../kernel/index.ts";

/** An axis of a sparse grid: that of `solve`, with levels in place of a number of nodes. */
export interface SparseAxis extends Omit<Axis, "nodes" | "points" | "density"> {
  /**
   * The point of an axis, at most one, such as the spot or the strike: a node of every level, about which nodes are
   * dense. Without one, or with `density: "uniform"`, nodes are equidistant in the coordinate.
   */
  readonly points?: readonly [Quantity | AxisPoint];
  readonly density?: "uniform" | "sinh";
  /**
   * The width of the dense part, in units of the coordinate; by default a fifth of the axis, wider than on full grids,
   * since coarse levels have few nodes.
   */
  readonly width?: Quantity;
  /** The coarsest level, 2 by default: grids have at least 2^level intervals. */
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
  /** The maximum number of iterations, 1,000 by default. */
  readonly maxIterations?: number;
}

/** The target accuracy at a point. */
export interface SparseAccuracy<A extends string> extends Accuracy {
  readonly at: Readonly<Record<A, number>>;
  /** The maximum number of unknowns of all grids together; 20 million by default. */
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
  /** The axes by name, one to ten. */
  readonly axes: Readonly<Record<A, SparseAxis>>;
  /** The number of refinements above the initial levels, summed over the axes; 3 by default. */
  readonly level?: number;
  /**
   * The Richardson extrapolation in space: along every axis, from one further level ("space"), or from the combination
   * with one level less ("levels"), at no cost.
   */
  readonly extrapolate?: "space" | "levels";
  /** The time-stepping scheme; by default Crank–Nicolson with two Rannacher steps. */
  readonly scheme?: OneAxisScheme;
  /** True to average terminal values over the nodes' cells, which kinks require; true by default. */
  readonly averaging?: boolean;
  /** The solver of each grid's systems. */
  readonly solver?: GridSolver;
  /**
   * The target accuracy, in place of `level`: grids are added where they contribute most, until the estimated error is
   * small enough.
   */
  readonly accuracy?: SparseAccuracy<NoInfer<A>>;
}

/** A problem with any names, as the solver handles it internally. */
export type AnySparseProblem = SparseGridProblem<string, string, string, UserFunctions>;
