/** Trades on lognormal assets: on coordinates that leave as few mixed derivatives as barriers allow. */
import type { AnyProblem, AxesDerivatives } from "../../../fdm/index.ts";
import { integrate } from "../../../market/index.ts";
import type { Terms } from "../../terms.ts";
import { type Coordinates, coordinatesOf, driftOf, weighted } from "../several/coordinates.ts";
import type { Range } from "../several/domain.ts";
import { axisOf } from "../several/equation.ts";
import { inSpots, lognormalEquation, variablesAt } from "../several/lognormal.ts";
import {
  axisBarriers,
  exerciseOf,
  isAtExpiry,
  isWhole,
  knockOutOf,
  type Level,
  lessText,
  type Part,
  rebateText,
} from "../several/parts.ts";
import { atExpiry, payoffText } from "../several/payoff.ts";
import type { Built } from "../several/engine.ts";
import { Parameters } from "../several/text.ts";
import { widened } from "../several/row.ts";
import { hitText, restarts, SPLITTING } from "./conditions.ts";
import { lognormalFineness } from "./fineness.ts";
import type { Ends } from "./conditions.ts";

/** Standard deviations to each side of where an axis' variable is, or is expected in some asset's measure. */
const DEVIATIONS = 5;
/** The narrowest axis: perfectly correlated assets have components without any deviation. */
const MIN_DEVIATION = 0.01;
/** The dense part of an axis, in standard deviations: nearly uniform, since payoffs are averaged over cells. */
const DENSE = 2.5;
/**
 * The dense part of an axis with barriers on dates, in standard deviations from one of them to the next: over this
 * distance diffusion smooths the jump that the solution has on each date. It is at least a part of the whole deviation.
 */
const DENSE_BETWEEN_DATES = 2;
const MIN_DENSE = 0.05;
/** The number of steps between two of these dates. With two of them errors of jumps stayed, whatever the mesh. */
const STEPS_BETWEEN_DATES = 4;

/** Tells whether all assets are lognormal and nothing happens to them before expiry. */
export const isLognormal = ({ assets, shortRate, expiry }: Terms): boolean =>
  shortRate === undefined &&
  assets.every(
    ({ volatility, underlying }) =>
      volatility.kind === "deterministic" &&
      underlying.dividends.discrete.every((dividend) => dividend.time <= 0 || isAtExpiry(dividend.time, expiry)),
  );

/** The problem of a part. `from`: the terms whose mesh it has. */
export function lognormalProblem(
  terms: Terms,
  from: Terms,
  spots: readonly (readonly number[])[],
  { knockOuts, less }: Part,
  level: number,
): Built<AnyProblem> {
  const p = new Parameters();
  const { expiry, exercise, assets } = terms;
  const own = [...new Set(knockOuts.map(({ asset }) => asset))].toSorted((a, b) => a - b);
  const coordinates = coordinatesOf(from, own);
  const isAmerican = exercise.kind === "american";
  const equation = lognormalEquation(terms, coordinates, isAmerican, p);
  const { names } = equation;
  const today = assets.map(({ underlying }) => underlying.spot);
  const read = spots[0].map((_, k) =>
    variablesAt(
      coordinates,
      today,
      spots.map((of) => of[k]),
    ),
  );
  const rebate = (one: Level): string => rebateText(one, terms, p);
  const ranges = names.map((_, j) =>
    rangeOf(
      from,
      coordinates,
      j,
      read.map((at) => at[j]),
      isAmerican,
    ),
  );
  const { nodes, steps } = lognormalFineness(from, coordinates.deviations, ranges, level);
  const axes: Record<string, ReturnType<typeof axisOf>> = {};
  const boundaries: Record<string, Ends> = {};
  names.forEach((name, j) => {
    const asset = coordinates.owner[j];
    const { range, low, high, inner } = axisBarriers(
      ranges[j],
      asset === undefined ? [] : knockOuts,
      asset ?? -1,
      expiry,
    );
    const points = inner.map((one) => ({
      at: p.add(one.level, "H"),
      align: one.times === undefined ? ("node" as const) : ("midway" as const),
    }));
    const width = Math.min(range.width, denseWidth(inner, coordinates.deviations[j]));
    axes[name] = axisOf({ range: { ...range, width }, today: read[0][j] }, nodes[j], points, p);
    boundaries[name] = {
      ...(low === undefined ? {} : { low: { kind: "dirichlet", value: rebate(low) } }),
      ...(high === undefined ? {} : { high: { kind: "dirichlet", value: rebate(high) } }),
    };
  });
  const dated = knockOuts.filter((one) => !isWhole(one, expiry));
  const isLast = (one: Level): boolean => one.times?.some((time) => isAtExpiry(time, expiry)) === true;
  const paid = lessText(payoffText(terms.payoff, atExpiry(terms, equation.atExpiry, p), p), less, p);
  const spotNames = assets.map((_, i) => equation.atTime[i]);
  // A jump needs Rannacher's steps. A kink, averaged over cells, is better without them, and so are jumps on dates, in
  // the dense part of the mesh (design/factors.md).
  const isRough =
    terms.payoff.kind === "expression" || isAmerican || knockOuts.some(({ times }) => times === undefined);
  const problem: AnyProblem = {
    axes,
    equation: equation.coefficients,
    // A knock-out at expiry is part of the payoff, which is averaged over cells.
    terminal: dated
      .filter(isLast)
      .reduce((text, one) => `(${hitText(one, spotNames, p)} ? ${rebate(one)} : ${text})`, paid),
    expiry: p.add(expiry, "T"),
    boundaries,
    conditions: [
      ...exerciseOf(exercise, expiry, payoffText(terms.payoff, equation.atTime, p), p),
      ...dated
        .map((one) => (isLast(one) ? { ...one, times: one.times!.filter((time) => !isAtExpiry(time, expiry)) } : one))
        .filter(({ times }) => times === undefined || times.length > 0)
        .map((one) => knockOutOf(one, spotNames, rebate(one), p)),
      ...restarts(terms, names[0], p),
    ],
    steps: Math.max(steps, minSteps(dated)),
    extrapolate: "both",
    ...(isRough ? {} : { scheme: { kind: "modified-craig-sneyd", rannacherSteps: 0 } }),
  };
  return {
    problem,
    parameters: p,
    nodes: nodes.reduce((product, count) => product * count, 1),
    read: (entry, at) => {
      const y = variablesAt(coordinates, today, at);
      const point = entry.at(Object.fromEntries(names.map((name, j) => [name, y[j]])));
      const { corrections, errorEstimate, ...rest } = widened(point, isAmerican ? SPLITTING : 1);
      const moved = (derivatives: AxesDerivatives): AxesDerivatives => inSpots(derivatives, names, coordinates, at);
      return { ...moved(rest), corrections: corrections.map(moved), errorEstimate };
    },
  };
}

const dateCountOf = (levels: readonly Level[]): number => Math.max(0, ...levels.map(({ times = [] }) => times.length));

/** The dense part of an axis for its barriers on dates; infinite without them. */
function denseWidth(levels: readonly Level[], deviation: number): number {
  const between = Math.max(DENSE_BETWEEN_DATES / Math.sqrt(dateCountOf(levels)), MIN_DENSE);
  return between * Math.max(deviation, MIN_DEVIATION);
}

/** The number of steps of the life for those between dates, which are as the root of their share of the life. */
const minSteps = (levels: readonly Level[]): number =>
  2 * Math.ceil(0.5 * STEPS_BETWEEN_DATES * Math.sqrt(dateCountOf(levels)));

/** Axis j, read at some values of its variable. `standing`: whether every axis keeps its drift. */
function rangeOf(
  terms: Terms,
  { owner, deviations, covariances, inverse }: Coordinates,
  j: number,
  read: readonly number[],
  standing: boolean,
): Range {
  const asset = owner[j];
  const deviation = Math.max(deviations[j], MIN_DEVIATION);
  const drifts = terms.assets.map((_, i) => driftOf(terms, i));
  const drift = standing || asset !== undefined ? integrate(weighted(drifts, inverse[j]), terms.expiry) : 0;
  // Where y ends on average, also in the measures of the assets.
  const ends = [0, ...covariances[j]].map((one) => drift + one);
  const below = Math.min(0, ...ends) - DEVIATIONS * deviation;
  const above = Math.max(0, ...ends) + DEVIATIONS * deviation;
  const width = DENSE * deviation;
  const [lowest, highest] = [Math.min(...read), Math.max(...read)];
  return asset === undefined
    ? { from: lowest + below, to: highest + above, width, coordinate: "linear" }
    : { from: lowest * Math.exp(below), to: highest * Math.exp(above), width, coordinate: "log" };
}
