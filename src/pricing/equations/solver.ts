/** The interface of the solvers for equations of several factors. */
import type { Device } from "../../device/index.ts";
import type { Precision, UserFunctions } from "../../kernel/index.ts";
import type { AxesDerivatives, AxesPoint } from "../../pde/fdm/index.ts";
import type { Estimate } from "../plan/request.ts";
import type { Terms } from "../terms.ts";
import type { ProblemShape } from "./expression.ts";
import { isKnockedOut, type KnownValue, type SignedProblem } from "./parts.ts";

/** A problem with the function that reads its solution. */
export interface BuiltProblem<P> {
  readonly problem: P;
  /** The approximate number of nodes that it needs in memory. */
  readonly nodes: number;
  /** Returns the value, the derivatives by the names of the factors, and the error estimate at given spots. */
  readonly read: (entry: EntryReading, spots: readonly number[]) => AxesPoint;
}

/**
 * A function that makes one of the problems of a trade (`part`) at a level of refinement. `mesh` has the terms that
 * determine the mesh, so that bumped copies share it. `spots` has all spots of each asset at which the solution will be
 * read, [asset][spot].
 */
export type BuildProblem<P> = (
  terms: Terms,
  mesh: Terms,
  spots: readonly (readonly number[])[],
  part: SignedProblem,
  level: number,
) => BuiltProblem<P>;

/**
 * The solution of one entry of a batch of problems, which can be read at points. @throws the error of a failed solution
 */
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
  costRatio(terms: Terms, from: number, to: number): number;
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

/** The estimate that a solver of equations returns for a request. */
export interface GridEstimate extends Estimate {
  /** The level of refinement. */
  readonly level: number;
  /** The value at each requested spot where it is known without a solution. */
  readonly known: readonly (KnownValue | undefined)[];
  /** The value and derivatives at each requested spot, summed over the problems of the trade (`SignedProblem`). */
  readonly points: readonly AxesPoint[];
  /** The solution at a coarser level, if the error estimate uses one. */
  readonly coarser: Pick<GridEstimate, "level" | "points"> | undefined;
}

/** One problem to be solved for a request. */
export interface EquationTask<P> {
  readonly terms: Terms;
  readonly spots: readonly (readonly number[])[];
  readonly known: GridEstimate["known"];
  readonly part: SignedProblem;
  readonly built: BuiltProblem<P>;
  readonly shape: ProblemShape<P>;
  /** The solution at each requested spot; undefined where it is not needed, or the problem has failed. */
  points: readonly (AxesPoint | undefined)[];
}

/** Reads the solution of a task at its spots; undefined at a spot that is knocked out or whose value is known. */
export const pointsOf = (
  { terms, spots, known, part, built }: EquationTask<unknown>,
  entry: EntryReading,
): EquationTask<unknown>["points"] =>
  spots.map((one, k) =>
    known[k] !== undefined || isKnockedOut(part, one, terms.expiry) ? undefined : built.read(entry, one),
  );

const NOTHING: AxesPoint = { value: 0, first: {}, second: {}, corrections: [], errorEstimate: undefined };

/**
 * Returns the signed sum of the problems' solutions at each spot, and the largest correction of their values by
 * extrapolation.
 */
export function sumOfSolutions(
  tasks: readonly EquationTask<unknown>[],
  spots: number,
): { readonly points: readonly AxesPoint[]; readonly correction: number } {
  const points = Array.from({ length: spots }, () => NOTHING);
  let correction = 0;
  for (const { part, points: own } of tasks) {
    let largest = 0;
    own.forEach((point, k) => {
      if (point === undefined) return;
      largest = Math.max(largest, point.errorEstimate ?? 0);
      const { corrections } = points[k];
      points[k] = {
        ...addScaled(points[k], point, part.sign),
        corrections: point.corrections.map((one, c) => addScaled(corrections[c] ?? NOTHING, one, part.sign)),
        errorEstimate: undefined,
      };
    });
    correction += largest;
  }
  return { points, correction };
}

/** Returns the sum `to` + `factor`·`from` of the value and of each derivative. */
export const addScaled = (to: AxesDerivatives, from: AxesDerivatives, factor: number): AxesDerivatives => ({
  value: to.value + factor * from.value,
  first: added(to.first, from.first, factor),
  second: added(to.second, from.second, factor),
});

const added = (
  to: Readonly<Record<string, number>>,
  from: Readonly<Record<string, number>>,
  factor: number,
): Record<string, number> =>
  Object.fromEntries(Object.entries(from).map(([name, value]) => [name, (to[name] ?? 0) + factor * value]));

/** Returns a point with its error estimate and its corrections by extrapolation multiplied by `factor`. */
export const withErrorsTimes = (point: AxesPoint, factor: number): AxesPoint => ({
  ...point,
  corrections: point.corrections.map((one) => addScaled(NOTHING, one, factor)),
  errorEstimate: point.errorEstimate === undefined ? undefined : factor * point.errorEstimate,
});
