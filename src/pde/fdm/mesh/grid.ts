/** The grid of a one-factor problem: its mesh, its time steps, and what is known of both. */
import type { Forward } from "../time/forward.ts";
import type { Mesh } from "./mesh.ts";
import type { OneFactorProblem } from "../problem/one-factor.ts";
import type { Table } from "./payoff-table.ts";
import type { TimeGrid } from "../time/time-grid.ts";

/**
 * The treatment of early exercise: by Brennan and Schwartz's projection, by policy iteration, only at the ends of some
 * steps ("dates"), or by projection with a payoff that changes in time in the forward coordinate ("time-dependent").
 * See `solverKernel`.
 */
export type ExerciseScheme = "none" | "brennan-schwartz" | "policy" | "dates" | "time-dependent";

/** The interpolation weights of six neighbouring nodes for the value, delta and gamma. */
export interface Stencil {
  /** The six weights of the value. */
  readonly value: readonly number[];
  readonly delta: readonly number[];
  readonly gamma: readonly number[];
}

/**
 * The few neighbouring nodes from which the value at today's spot is interpolated, the same for all instances of a
 * grid.
 */
export interface TodaysWindow {
  /**
   * The index of the cell that contains the spot; undefined where the spot is knocked out, or beyond the mesh in the
   * exercise region.
   */
  readonly cell: number | undefined;
  /** The index of the first of these nodes; undefined where there is no cell. */
  readonly first: number | undefined;
  /** The interpolation weights, computed on first use. */
  stencil: Stencil | undefined;
}

/**
 * The mesh, time grid and terminal values of a problem: everything that a shift of volatility or rates does not change.
 * @experimental
 */
export interface Grid {
  /** The problem for which the grid was made. */
  readonly problem: OneFactorProblem;
  readonly mesh: Mesh;
  /** The payoff at each node; undefined where mesh and payoff have closed forms, which the device then evaluates. */
  readonly table: Table | undefined;
  /** True where the first node is certain to be exercised. */
  readonly firstExercised: boolean;
  /** The method of early exercise. */
  readonly scheme: ExerciseScheme;
  readonly time: TimeGrid;
  /** The window of today's spot, computed on first use; see `windowOf`. */
  today: TodaysWindow | undefined;
  /** The finer grid of which this one has every second node; undefined for a finest grid. */
  readonly finer: Grid | undefined;
  /** The forward coordinate, if the nodes are values of it; undefined where they are prices. */
  readonly forward: Forward | undefined;
  /** A text that is equal for grids whose instances may share a launch if their time grids are equal too. */
  readonly key: string;
}
