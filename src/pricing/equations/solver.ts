/** The interface of the solvers for equations of several factors. */
import type { AxesPoint } from "../../fdm/index.ts";
import type { Device } from "../../device/index.ts";
import type { Precision } from "../../kernel/index.ts";
import type { Terms } from "../terms.ts";
import type { Part } from "./parts.ts";
import type { Parameters } from "./text.ts";

/** A problem with its numbers kept separately as parameters. */
export interface Built<P> {
  readonly problem: P;
  readonly parameters: Parameters;
  /** The approximate number of nodes in memory. */
  readonly nodes: number;
  /** Returns the value, derivatives by the factors' names, and error estimate at given spots. */
  readonly read: (entry: EntryReading, spots: readonly number[]) => AxesPoint;
}

/** A reader of a solution. @throws the error of a failed solution */
export interface EntryReading {
  at(point: Readonly<Record<string, number>>): AxesPoint;
}

/** The interface of a solver for the equations of several factors. */
export interface EquationSolver<P> {
  readonly name: "adi" | "sparse-grid";
  /** The default target error of a value, relative to the largest spot. */
  readonly accuracy: number;
  /** Builds the problem of a part of the terms on the mesh of the terms `mesh`, to be read at `spots`, by asset. */
  build(terms: Terms, mesh: Terms, spots: readonly (readonly number[])[], part: Part, level: number): Built<P>;
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
  /** The numbers of the entries by name. */
  readonly parameters: Readonly<Record<string, readonly number[]>>;
  readonly precision: Precision;
  readonly device: Device;
  readonly signal: AbortSignal | undefined;
}
