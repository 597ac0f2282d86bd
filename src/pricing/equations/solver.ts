/** The interface of the solvers for equations of several factors. */
import type { Device } from "../../device/index.ts";
import type { Precision, UserFunctions } from "../../kernel/index.ts";
import type { AxesDerivatives, AxesPoint, PointValues } from "../../pde/fdm/index.ts";
import type { Estimate } from "../plan/request.ts";
import type { Terms } from "../terms.ts";
import type { ProblemShape } from "./expression.ts";
import { isKnockedOut, type KnownValue, type SignedProblem } from "./parts.ts";

/** A problem, and how its solution is read at spots. */
export interface BuiltProblem<P> {
  readonly problem: P;
  /** The approximate number of nodes that it needs in memory. */
  readonly nodes: number;
  /** Returns the coordinates of given spots, by the names of the axes. */
  readonly placeOf: (spots: readonly number[]) => Readonly<Record<string, number>>;
  /** Converts derivatives by the axes at given spots to those by the factors; undefined where the axes are these. */
  readonly byFactors?: (derivatives: AxesDerivatives, spots: readonly number[]) => AxesDerivatives;
  /** The factor by which corrections by extrapolation and error estimates are enlarged. */
  readonly safety: number;
  /** The part of the correction in space that does not count in an error estimate; none by default. */
  readonly spared?: number;
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
  /** Returns the values at several points, given by the coordinates of each axis, with the bits of `at`. */
  valuesAt(points: Readonly<Record<string, Float64Array>>): PointValues;
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
  /** The solution at the first requested spot, and its values at all; 0 where they are known without it. */
  readonly point: AxesPoint;
  readonly solved: Float64Array;
  /** The solution at a coarser level, if the error estimate uses one. */
  readonly coarser: Pick<GridEstimate, "level" | "point" | "solved"> | undefined;
}

/** One problem to be solved for a request. */
export interface EquationTask<P> {
  readonly terms: Terms;
  readonly spots: readonly (readonly number[])[];
  readonly known: GridEstimate["known"];
  readonly part: SignedProblem;
  readonly built: BuiltProblem<P>;
  readonly shape: ProblemShape<P>;
  /** Its solution at the requested spots; undefined where it has not been solved. */
  solution: TaskSolution | undefined;
}

/** The solution of a problem at some spots; 0 at those that are knocked out or whose value is known. */
interface TaskSolution {
  /** The solution at the first spot. */
  readonly point: AxesPoint;
  readonly values: Float64Array;
  /** The largest error estimate of the values. */
  readonly error: number;
}

const NOTHING: AxesPoint = { value: 0, first: {}, second: {}, corrections: [], errorEstimate: undefined };

/** Reads the solution of a task at its spots, with derivatives at the first one. */
export function solutionOf(
  { terms, spots, known, part, built }: EquationTask<unknown>,
  entry: EntryReading,
): TaskSolution {
  const read = [...spots.keys()].filter((k) => known[k] === undefined && !isKnockedOut(part, spots[k], terms.expiry));
  const values = new Float64Array(spots.length);
  if (read.length === 0) return { point: NOTHING, values, error: 0 };
  const places = read.map((k) => built.placeOf(spots[k]));
  const names = Object.keys(places[0]);
  const found = entry.valuesAt(
    Object.fromEntries(names.map((name) => [name, Float64Array.from(places, (place) => place[name])])),
  );
  read.forEach((k, p) => (values[k] = found.values[p]));
  const point = read[0] === 0 ? pointOf(built, entry, spots[0], places[0]) : NOTHING;
  return { point, values, error: largestError(built, found) };
}

function pointOf(
  { safety, byFactors = (derivatives) => derivatives }: BuiltProblem<unknown>,
  entry: EntryReading,
  spots: readonly number[],
  place: Readonly<Record<string, number>>,
): AxesPoint {
  const { corrections, errorEstimate, ...derivatives } = entry.at(place);
  return {
    ...byFactors(derivatives, spots),
    corrections: corrections.map((one) => byFactors(addScaled(NOTHING, one, safety), spots)),
    errorEstimate,
  };
}

/** Returns the largest error estimate of values; 0 where a solver has none. */
function largestError(
  { safety, spared = 0 }: BuiltProblem<unknown>,
  { errorEstimates, corrections }: PointValues,
): number {
  let largest = 0;
  for (let p = 0; p < errorEstimates.length; p++) {
    const own = spared === 0 ? errorEstimates[p] : errorEstimates[p] - spared * Math.abs(corrections[SPACE][p]);
    largest = Math.max(largest, Number.isNaN(own) ? 0 : safety * own);
  }
  return largest;
}

/** The index of the correction in space: it follows that in time. */
const SPACE = 1;

/**
 * Returns the signed sum of the problems' solutions, and the sum of the largest error estimates of their values.
 */
export function sumOfSolutions(
  tasks: readonly EquationTask<unknown>[],
  spots: number,
): Pick<GridEstimate, "point" | "solved"> & { readonly correction: number } {
  let point = NOTHING;
  let correction = 0;
  const solved = new Float64Array(spots);
  for (const { part, solution } of tasks) {
    if (solution === undefined) continue;
    const { point: own, values, error } = solution;
    const { corrections } = point;
    point = {
      ...addScaled(point, own, part.sign),
      corrections: own.corrections.map((one, c) => addScaled(corrections[c] ?? NOTHING, one, part.sign)),
      errorEstimate: undefined,
    };
    for (let k = 0; k < spots; k++) solved[k] += part.sign * values[k];
    correction += error;
  }
  return { point, solved, correction };
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
