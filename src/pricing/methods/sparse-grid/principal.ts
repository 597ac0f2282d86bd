/** Trades without barriers: on the principal components of the logarithms of their spots. */
import type { AnySparseProblem, SparseAxis } from "../../../sparsegrid/index.ts";
import { coordinatesOf } from "../../equations/coordinates.ts";
import { inSpots, lognormalEquation, variablesAt } from "../../equations/lognormal.ts";
import { exerciseOf, lessText, type Part } from "../../equations/parts.ts";
import { atExpiry, payoffText } from "../../equations/payoff.ts";
import { widened } from "../../equations/solution.ts";
import type { Built } from "../../equations/solver.ts";
import { Parameters } from "../../equations/text.ts";
import type { Terms } from "../../terms.ts";
import { type Fineness, nodesOf, OF_DATES, restarts } from "./fineness.ts";

/** Standard deviations to each side. */
const DEVIATIONS = 4.5;
/** The smallest deviation of a logarithm: perfectly correlated spots have components without any. */
const MIN_DEVIATION = 0.01;

/** The standard deviations of the principal components at expiry, largest first. */
export const deviationsOf = (terms: Terms): readonly number[] => coordinatesOf(terms, []).deviations;

/** The problem of a part on the principal components, which move without drift (`lognormalEquation`). */
export function onPrincipalComponents(
  terms: Terms,
  from: Terms,
  spots: readonly (readonly number[])[],
  { less }: Part,
  fineness: (deviations: readonly number[]) => Fineness,
): Built<AnySparseProblem> {
  const p = new Parameters();
  const { assets, expiry, exercise, payoff } = terms;
  const coordinates = coordinatesOf(from, []);
  const { deviations } = coordinates;
  const { level, initial, steps } = fineness(deviations);
  const today = assets.map(({ underlying }) => underlying.spot);
  const componentsAt = (at: readonly number[]): readonly number[] => variablesAt(coordinates, today, at);
  const read = spots[0].map((_, k) => componentsAt(spots.map((of) => of[k])));
  const { names, coefficients, atExpiry: atEnd, atTime } = lognormalEquation(terms, coordinates, false, p);
  const axes: Readonly<Record<string, SparseAxis>> = Object.fromEntries(
    names.map((name, j): [string, SparseAxis] => {
      const deviation = Math.max(deviations[j], MIN_DEVIATION);
      // Behind the deviations, what a change to an asset's own measure moves.
      const reach = DEVIATIONS * deviation + deviation * deviation;
      const of = read.map((y) => y[j]);
      return [
        name,
        {
          from: p.add(Math.min(0, ...of) - reach, "from"),
          to: p.add(Math.max(0, ...of) + reach, "to"),
          points: [p.add(0, "at")],
          width: p.add(deviation, "width"),
          initialLevel: initial[j],
        },
      ];
    }),
  );
  const conditions = exercise.kind === "european" ? [] : exerciseOf(exercise, expiry, payoffText(payoff, atTime, p), p);
  const problem: AnySparseProblem = {
    axes,
    equation: coefficients,
    terminal: lessText(payoffText(payoff, atExpiry(terms, atEnd, p), p), less, p),
    expiry: p.add(expiry, "T"),
    conditions: [...conditions, ...restarts(terms, names[0], p)],
    level,
    // Exercise on nodes leaves kinks between them: errors are not of order h², which extrapolation takes them to be.
    ...(conditions.length === 0 ? { extrapolate: "levels" } : {}),
    steps,
    errorEstimate: true,
  };
  return {
    problem,
    parameters: p,
    nodes: nodesOf({ level, initial, steps }),
    read: (entry, at) => {
      const y = componentsAt(at);
      const point = entry.at(Object.fromEntries(names.map((name, j) => [name, y[j]])));
      const moved = { ...point, ...inSpots(point, names, coordinates, at) };
      return widened(moved, conditions.length === 0 ? OF_DATES.none : OF_DATES.exercise);
    },
  };
}
