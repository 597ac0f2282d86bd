/** The interface of the solvers for equations of several factors. */
import type { AxesPoint } from "../../pde/fdm/index.ts";
import type { Device } from "../../device/index.ts";
import type { Precision, UserFunctions } from "../../kernel/index.ts";
import type { Terms } from "../terms.ts";
import type { Part } from "./parts.ts";

/** A problem with the function that reads its solution. */
export interface Built<P> {
  readonly problem: P;
  /** The approximate number of nodes that it needs in memory. */
  readonly nodes: number;
  /** Returns the value, the derivatives by the names of the factors, and the error estimate at given spots. */
  readonly read: (entry: EntryReading, spots: readonly number[]) => AxesPoint;
}

/**
 * A function that makes the problem of one part of a trade at a level of refinement. `mesh` are the terms for which its
 * mesh is made, and `spots` all values of each asset at which it will be read, [asset][spot].
 */
export type BuildProblem<P> = (
  terms: Terms,
  mesh: Terms,
  spots: readonly (readonly number[])[],
  part: Part,
  level: number,
) => Built<P>;

/** The solution of one entry, to be read at points. @throws the error of a failed solution */
export interface EntryReading {
  at(point: Readonly<Record<string, number>>): AxesPoint;
}

/** A solver for the equations of trades with several factors. */
export interface EquationSolver<P> {
  readonly name: "adi" | "sparse-grid";
  /** The default target error of a value, relative to the largest spot. */
  readonly accuracy: number;
  readonly build: BuildProblem<P>;
  /** Solves a problem, with one entry for each element of the parameters' arrays. */
  solve(problem: P, run: SolverRun): Promise<readonly EntryReading[]>;
  /**
   * Returns the level at which an error that is now `ratio` times too large is expected to be small enough; the given
   * level if there is none finer.
   */
  refined(terms: Terms, level: number, ratio: number): number;
  /** Returns the approximate ratio of the computing time at level `to` to that at level `from`. */
  growth(terms: Terms, from: number, to: number): number;
  /** The number of levels by which the second solution, for the error estimate, is coarser; 0 without one. */
  readonly levelsBelow: number;
  /**
   * Returns the error estimate of a value at a level from its correction by extrapolation and its distance to the value
   * that is `levels` levels coarser.
   */
  estimate(terms: Terms, correction: number, distance: number, at: { level: number; levels: number }): number;
  /**
   * Returns the level at which bumped copies of a value are solved. It may be coarser, because errors on one mesh
   * cancel in differences.
   */
  bumpLevel(terms: Terms, level: number): number;
}

/** The parameters and settings with which problems of one shape are solved. */
export interface SolverRun {
  /** The value of each parameter for each entry, by name. `functions` are those that the problem calls. */
  readonly parameters: Readonly<Record<string, readonly number[]>>;
  readonly functions: UserFunctions;
  readonly precision: Precision;
  readonly device: Device;
  readonly signal: AbortSignal | undefined;
}
