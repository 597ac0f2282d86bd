/** The interface of the solvers for equations of several factors. */
import type { AxesPoint } from "../../fdm/index.ts";
import type { Device } from "../../device/index.ts";
import type { Precision, UserFunctions } from "../../kernel/index.ts";
import type { Terms } from "../terms.ts";
import type { Part } from "./parts.ts";

/** A problem, and how its solution is read. */
export interface Built<P> {
  readonly problem: P;
  /** The approximate number of nodes in memory. */
  readonly nodes: number;
  /** Returns the value, derivatives by the factors' names, and error estimate at some spots. */
  readonly read: (entry: EntryReading, spots: readonly number[]) => AxesPoint;
}

/** Builds the problem of a part of the terms. `mesh`: the terms whose mesh it has; `spots`: by asset, where it is read. */
export type BuildProblem<P> = (
  terms: Terms,
  mesh: Terms,
  spots: readonly (readonly number[])[],
  part: Part,
  level: number,
) => Built<P>;

/** A solution as it is read. @throws why there is none */
export interface EntryReading {
  at(point: Readonly<Record<string, number>>): AxesPoint;
}

/** The interface of a solver for the equations of several factors. */
export interface EquationSolver<P> {
  readonly name: "adi" | "sparse-grid";
  /** The error of a value to aim at where nothing is said, relative to the largest spot. */
  readonly accuracy: number;
  readonly build: BuildProblem<P>;
  /** An entry for each element of the parameters. */
  solve(problem: P, run: SolverRun): Promise<readonly EntryReading[]>;
  /**
   * The level at which an error that is `ratio` times too large is expected to be small enough; the same if there is
   * none finer.
   */
  refined(terms: Terms, level: number, ratio: number): number;
  /** The approximate ratio of the time of a solution at a finer level to that at another. */
  growth(terms: Terms, from: number, to: number): number;
  /** The number of levels by which a second solution is coarser, for the error estimate; 0 where there is none. */
  readonly levelsBelow: number;
  /**
   * The error estimate of a value: from the correction by its extrapolation, and the distance to the value some levels
   * below.
   */
  estimate(terms: Terms, correction: number, distance: number, levels: number): number;
  /** The level of bumps of a value: errors of two values on one mesh cancel in their difference. */
  bumpLevel(terms: Terms, level: number): number;
}

/** The settings that problems of one shape are solved with. */
export interface SolverRun {
  /** The numbers of the entries by name, and the functions that the problem calls. */
  readonly parameters: Readonly<Record<string, readonly number[]>>;
  readonly functions: UserFunctions;
  readonly precision: Precision;
  readonly device: Device;
  readonly signal: AbortSignal | undefined;
}
