import type { Accuracy, RelativeAccuracy } from "../../../base/accuracy.ts";
import type { Axis, AxisPoint, CoefficientName, EquationProblem, OneAxisScheme, Quantity } from "../../fdm/index.ts";
import type { UserFunctions } from "../../../kernel/index.ts";

/** An axis of a sparse grid, as for `solve` but with levels in place of a number of nodes. @experimental */
export interface SparseAxis extends Omit<Axis, "nodes" | "points" | "density"> {
  /**
   * The point that matters on the axis, such as the spot or the strike; at most one. It is a node of every level, and
   * nodes are dense about it. Without a point, or with `density: "uniform"`, nodes are equidistant in the coordinate.
   */
  readonly points?: readonly [Quantity | AxisPoint];
  /** The concentration of nodes about the point: "sinh" (the default) or "uniform". */
  readonly density?: "uniform" | "sinh";
  /**
   * The width of the dense region, in units of the coordinate. By default it is a fifth of the axis, wider than on full
   * grids, because coarse levels have few nodes.
   */
  readonly width?: Quantity;
  /** The coarsest level, 2 by default: grids have at least 2^level intervals. */
  readonly initialLevel?: number;
  /** The finest level; no limit by default. */
  readonly maxLevel?: number;
}

/** The iterative solver of each grid's linear systems; see `krylovSpec`. @experimental */
export interface GridSolver {
  /** The method, "bicgstab" by default. */
  readonly method?: "bicgstab" | "cgs";
  /**
   * The residual at which the iteration ends: ‖M⁻¹(b − A·x)‖₂ ≤ relative·‖M⁻¹b‖₂, with M the diagonal of A. 1e-9 by
   * default, 1e-5 in f32.
   */
  readonly tolerance?: RelativeAccuracy;
  /** The maximum number of iterations, 1,000 by default. */
  readonly maxIterations?: number;
}

/** The target accuracy of the value at a point. @experimental */
export interface SparseAccuracy<A extends string> extends Accuracy {
  /** The point, with a value for each axis by name. */
  readonly at: Readonly<Record<A, number>>;
  /** The maximum number of unknowns of all grids together; 20 million by default. */
  readonly maxUnknowns?: number;
}

/**
 * A parabolic equation on one to ten axes, as `solve` takes it (`EquationProblem`), to be solved on a combination of
 * sparse grids.
 * @experimental
 */
export interface SparseGridProblem<
  A extends string,
  P extends string = never,
  C extends string = CoefficientName<A>,
  F extends UserFunctions = Record<never, never>,
> extends Omit<EquationProblem<A, P, C, F>, "axes" | "scheme" | "extrapolate"> {
  /** The axes by name, one to ten. */
  readonly axes: Readonly<Record<A, SparseAxis>>;
  /** The largest number of refinements of a grid above the initial levels, summed over the axes; 3 by default. */
  readonly level?: number;
  /**
   * The Richardson extrapolation in space: along every axis, which needs one further level ("space"), or from the
   * combination with one level less ("levels"), which costs nothing.
   */
  readonly extrapolate?: "space" | "levels";
  /** The time-stepping scheme; by default Crank–Nicolson with two Rannacher steps. */
  readonly scheme?: OneAxisScheme;
  /**
   * True (the default) to average terminal values over the cells of the nodes, which second order requires for payoffs
   * with kinks.
   */
  readonly averaging?: boolean;
  /** The iterative solver of each grid's linear systems. */
  readonly solver?: GridSolver;
  /**
   * The target accuracy, in place of `level`. Grids are refined where they contribute most, until the estimated error
   * is small enough.
   */
  readonly accuracy?: SparseAccuracy<NoInfer<A>>;
}

/** A problem with arbitrary names, as the solver handles it internally. */
export type AnySparseProblem = SparseGridProblem<string, string, string, UserFunctions>;
