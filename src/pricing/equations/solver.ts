/** The interface of the solvers for equations of several factors. */
import type { AxesPoint } from "../../fdm/index.ts";
import type { Device } from "../../device/index.ts";
import type { Precision, UserFunctions } from "../../kernel/index.ts";
import type { Terms } from "../terms.ts";
import type { Part } from "./parts.ts";

/** A problem with the reader of its solution. */
export interface Built<P> {
  readonly problem: P;
  /** The approximate number of nodes in memory. */
  readonly nodes: number;
  /** Returns the value, derivatives by the factors' names, and error estimate at given spots. */
  readonly read: (entry: EntryReading, spots: readonly number[]) => AxesPoint;
}

/** Builds the problem of a part of the terms on the mesh of the terms `mesh`, to be read at `spots`, by asset. */
export type BuildProblem<P> = (
  terms: Terms,
  mesh: Terms,
  spots: readonly (readonly number[])[],
  part: Part,
  level: number,
) => Built<P>;

/** A reader of a solution. @throws the error of a failed solution */
export interface EntryReading {
  at(point: Readonly<Record<string, number>>): AxesPoint;
}

/** The interface of a solver for the equations of several factors. */
export interface EquationSolver<P> {
  readonly name: "adi" | "sparse-grid";
  /** The default target error of a value, relative to the largest spot. */
  readonly accuracy: number;
  readonly build: BuildProblem<P>;
  /** Solves a problem, with one entry for each element of the parameters. */
  solve(problem: P, run: SolverRun): Promise<readonly EntryReading[]>;
  /**
   * Returns the level at which an error that is `ratio` times too large is expected to be small enough; the same level
   * if there is none finer.
   */
  refined(terms: Terms, level: number, ratio: number): number;
  /** Returns the approximate ratio of the time of a solution at a finer level to that at another. */
  growth(terms: Terms, from: number, to: number): number;
  /** The number of levels by which the second solution for the error estimate is coarser; 0 without one. */
  readonly levelsBelow: number;
  /**
   * Returns the error estimate of a value from its correction by extrapolation and its distance to the value some
   * levels below.
   */
  estimate(terms: Terms, correction: number, distance: number, levels: number): number;
  /** Returns the level of a value's bumps, whose errors on one mesh cancel in differences. */
  bumpLevel(terms: Terms, level: number): number;
}

/** The settings with which problems of one shape are solved. */
export interface SolverRun {
  /** The numbers of the entries by name, and the functions that the problem calls. */
  readonly parameters: Readonly<Record<string, readonly number[]>>;
  readonly functions: UserFunctions;
  readonly precision: Precision;
  readonly device: Device;
  readonly signal: AbortSignal | undefined;
}
