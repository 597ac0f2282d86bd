/** The grid of a one-factor problem: its mesh, its time steps, and what is known of both. */
import type { ExerciseScheme } from "../execute/variant.ts";
import type { Forward } from "../problem/forward.ts";
import type { Mesh } from "./mesh.ts";
import type { OneFactorProblem } from "../problem/one-factor.ts";
import type { Stencil } from "../read/interpolation.ts";
import type { Table } from "./payoff-table.ts";
import type { TimeGrid } from "../time/time-grid.ts";

/** The window of nodes from which the value at today's spot is interpolated, the same for all instances of a grid. */
export interface TodaysWindow {
  /** The spot's cell; undefined where it is knocked out, or beyond the mesh, in the exercise region. */
  readonly cell: number | undefined;
  /** The window's first node, if it has one. */
  readonly first: number | undefined;
  /** The interpolation weights, computed on first use. */
  stencil: Stencil | undefined;
}

/** A mesh with everything that does not depend on a shift of volatility or rates. */
export interface Grid {
  readonly problem: OneFactorProblem;
  readonly mesh: Mesh;
  /** The values node by node; undefined where mesh and payoff have closed forms, which the device then makes. */
  readonly table: Table | undefined;
  /** True where the first node is certain to be exercised. */
  readonly firstExercised: boolean;
  readonly scheme: ExerciseScheme;
  readonly time: TimeGrid;
  /** The window of today's spot, computed on first use; see `windowOf`. */
  today: TodaysWindow | undefined;
  /** The grid every second node of which these are. */
  readonly finer: Grid | undefined;
  /** The coordinate of the nodes, where they are not prices at all times. */
  readonly forward: Forward | undefined;
  /** A text that is equal for grids whose instances may share a launch, given the same time grid. */
  readonly key: string;
}
