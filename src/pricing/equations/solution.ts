/** Solutions of the parts of a request, and their sums. */
import type { AxesDerivatives, AxesPoint } from "../../pde/fdm/index.ts";
import type { Estimate } from "../plan/request.ts";
import type { Terms } from "../terms.ts";
import type { Shape } from "./expression.ts";
import { isKnockedOut, type Known, type Part } from "./parts.ts";
import type { Built, EntryReading } from "./solver.ts";

/** The answer of a solver of equations to a request. */
export interface GridEstimate extends Estimate {
  /** The level of refinement. */
  readonly level: number;
  /** The value at each requested spot where it is known without a solution. */
  readonly known: readonly (Known | undefined)[];
  /** The value and derivatives at each requested spot, summed over the problems of the trade (`Part`). */
  readonly points: readonly AxesPoint[];
  /** The solution at a coarser level, if the error estimate uses one. */
  readonly coarser: Pick<GridEstimate, "level" | "points"> | undefined;
}

/** One problem to be solved for a request. */
export interface Task<P> {
  readonly terms: Terms;
  readonly spots: readonly (readonly number[])[];
  readonly known: GridEstimate["known"];
  readonly part: Part;
  readonly built: Built<P>;
  readonly shape: Shape<P>;
  /** The solution at each requested spot; undefined where it is not needed, or the problem has failed. */
  points: readonly (AxesPoint | undefined)[];
}

/** Reads the solution of a task at its spots; undefined at a spot that is knocked out or whose value is known. */
export const pointsOf = (
  { terms, spots, known, part, built }: Task<unknown>,
  entry: EntryReading,
): Task<unknown>["points"] =>
  spots.map((one, k) =>
    known[k] !== undefined || isKnockedOut(part, one, terms.expiry) ? undefined : built.read(entry, one),
  );

const NOTHING: AxesPoint = { value: 0, first: {}, second: {}, corrections: [], errorEstimate: undefined };

/**
 * Returns the signed sum of the problems' solutions at each spot, and the largest correction of their values by
 * extrapolation.
 */
export function summed(
  tasks: readonly Task<unknown>[],
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
        ...sumOf(points[k], point, part.sign),
        corrections: point.corrections.map((one, c) => sumOf(corrections[c] ?? NOTHING, one, part.sign)),
        errorEstimate: undefined,
      };
    });
    correction += largest;
  }
  return { points, correction };
}

/** Returns to + factor·from, of values and derivatives. */
export const sumOf = (to: AxesDerivatives, from: AxesDerivatives, factor: number): AxesDerivatives => ({
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
export const widened = (point: AxesPoint, factor: number): AxesPoint => ({
  ...point,
  corrections: point.corrections.map((one) => sumOf(NOTHING, one, factor)),
  errorEstimate: point.errorEstimate === undefined ? undefined : factor * point.errorEstimate,
});
