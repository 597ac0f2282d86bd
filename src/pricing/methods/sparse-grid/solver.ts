/**
 * Sparse grids as a solver of trades in several factors. Trades without barriers have the principal components of the
 * logarithms of their spots as axes, others the spots themselves, so that barriers are parallel to the axes.
 */
import type { Boundary } from "../../../fdm/index.ts";
import { type AnySparseProblem, type SparseAxis, solveOnSparseGrid } from "../../../sparsegrid/index.ts";
import { coordinatesOf } from "../../equations/coordinates.ts";
import { assetName, factorEquation } from "../../equations/equation.ts";
import { inSpots, lognormalEquation, variablesAt } from "../../equations/lognormal.ts";
import {
  axisBarriers,
  exerciseOf,
  hitText,
  isAtExpiry,
  isWhole,
  knockOutOf,
  type Level,
  lessText,
  type Part,
  rebateText,
} from "../../equations/parts.ts";
import { atExpiry, payoffText } from "../../equations/payoff.ts";
import { widened } from "../../equations/solution.ts";
import type { Built, EquationSolver } from "../../equations/solver.ts";
import { Parameters } from "../../equations/text.ts";
import type { Terms } from "../../terms.ts";
import {
  type Fineness,
  finenessOf,
  levelsOfComponents,
  levelsOfSpots,
  nodesOf,
  OF_BARRIER,
  OF_DATES,
  restarts,
} from "./fineness.ts";

/** Grids of more nodes take minutes. */
const MAX_NODES = 1e6;
/** A level more makes an error as many times smaller, or more. */
const GAIN = 8;
/** A level more takes about so many times as long: nodes and steps grow. */
const GROWTH = 5;

/** The standard deviations that the axis of a component extends to each side. */
const DEVIATIONS = 4.5;
/** The smallest deviation of a logarithm: perfectly correlated spots have components without any. */
const MIN_DEVIATION = 0.01;
/** The width of the dense part of an axis that `assetRange` has: one standard deviation. */
const WIDTH = 0.4;

/** The solver by sparse grids for trades in several factors. */
export const solver: EquationSolver<AnySparseProblem> = {
  name: "sparse-grid",
  accuracy: 1e-3,
  build: (terms, mesh, spots, part, level) =>
    part.knockOuts.length === 0
      ? onPrincipalComponents(terms, mesh, spots, part, level)
      : onSpots(terms, mesh, spots, part, finenessOf(levelsOfSpots(terms.assets.length), level)),
  solve: async (problem, { parameters, precision, ...on }) =>
    (await solveOnSparseGrid({ ...problem, parameters, precision }, on)).entries,
  refined: (terms, level, ratio) => (isFinest(terms, level) ? level : level + (ratio > GAIN ? 2 : 1)),
  growth: (_, from, to) => GROWTH ** (to - from),
  levelsBelow: 0,
  estimate: (_, correction) => correction,
  bumpLevel: (_, level) => Math.min(level, 1),
};

function isFinest(terms: Terms, level: number): boolean {
  const { barriers, assets } = terms;
  const { deviations } = coordinatesOf(terms, []);
  const initial = barriers.length === 0 ? levelsOfComponents(deviations) : levelsOfSpots(assets.length);
  return nodesOf(finenessOf(initial, level + 1)) > MAX_NODES;
}

/** The problem of a part on the principal components, which move without drift (`lognormalEquation`). */
function onPrincipalComponents(
  terms: Terms,
  from: Terms,
  spots: readonly (readonly number[])[],
  { less }: Part,
  ofMethod: number,
): Built<AnySparseProblem> {
  const p = new Parameters();
  const { assets, expiry, exercise, payoff } = terms;
  const coordinates = coordinatesOf(from, []);
  const { deviations } = coordinates;
  const fineness = finenessOf(levelsOfComponents(deviations), ofMethod);
  const { level, initial, steps } = fineness;
  const today = assets.map(({ underlying }) => underlying.spot);
  const componentsAt = (at: readonly number[]): readonly number[] => variablesAt(coordinates, today, at);
  const read = spots[0].map((_, k) => componentsAt(spots.map((of) => of[k])));
  const { names, coefficients, atExpiry: atEnd, atTime } = lognormalEquation(terms, coordinates, false, p);
  const axisOf = (name: string, j: number): [string, SparseAxis] => {
    const deviation = Math.max(deviations[j], MIN_DEVIATION);
    // Behind the deviations, what a change to an asset's own measure moves.
    const reach = DEVIATIONS * deviation + deviation * deviation;
    const of = read.map((y) => y[j]);
    const axis: SparseAxis = {
      from: p.add(Math.min(0, ...of) - reach, "from"),
      to: p.add(Math.max(0, ...of) + reach, "to"),
      points: [p.add(0, "at")],
      width: p.add(deviation, "width"),
      initialLevel: initial[j],
    };
    return [name, axis];
  };
  const axes = Object.fromEntries(names.map(axisOf));
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
    nodes: nodesOf(fineness),
    read: (entry, at) => {
      const y = componentsAt(at);
      const point = entry.at(Object.fromEntries(names.map((name, j) => [name, y[j]])));
      const moved = { ...point, ...inSpots(point, names, coordinates, at) };
      return widened(moved, conditions.length === 0 ? OF_DATES.none : OF_DATES.exercise);
    },
  };
}

/** The problem of a part on the axes Sᵢ; correlations are mixed derivatives. */
function onSpots(
  terms: Terms,
  from: Terms,
  spots: readonly (readonly number[])[],
  { knockOuts, less }: Part,
  fineness: Fineness,
): Built<AnySparseProblem> {
  const p = new Parameters();
  const { factors, coefficients } = factorEquation(terms, from, spots, p);
  const { expiry, exercise, assets } = terms;
  const { level, initial, steps } = fineness;
  const names = assets.map((_, i) => assetName(assets.length, i));
  const rebate = (level: Level): string => rebateText(level, terms, p);
  const axes: Record<string, SparseAxis> = {};
  const boundaries: Record<string, { low?: Boundary<string>; high?: Boundary<string> }> = {};
  factors.forEach(({ name, range: whole, today }, k) => {
    const { range, low, high } = axisBarriers(whole, knockOuts, k, expiry);
    const { from: lower, to: upper, width, coordinate } = range;
    const isInside = today > lower && today < upper;
    axes[name] = {
      from: p.add(lower, "from"),
      to: p.add(upper, "to"),
      // Beyond a barrier today, and read at the spots of scenarios.
      points: [p.add(isInside ? today : 0.5 * (lower + upper), "at")],
      width: p.add(WIDTH * width, "width"),
      coordinate,
      initialLevel: initial[k],
    };
    boundaries[name] = {
      ...(low === undefined ? {} : { low: { kind: "dirichlet", value: rebate(low) } }),
      ...(high === undefined ? {} : { high: { kind: "dirichlet", value: rebate(high) } }),
    };
  });
  const dated = knockOuts.filter((one) => !isWhole(one, expiry));
  const last = dated.filter(({ times }) => times!.some((time) => isAtExpiry(time, terms.expiry)));
  const paid = lessText(payoffText(terms.payoff, atExpiry(terms, names, p), p), less, p);
  const exercised = exerciseOf(exercise, expiry, payoffText(terms.payoff, names, p), p);
  const knockedOut = dated.flatMap((one) =>
    beforeExpiry(one, terms).map((early) => knockOutOf(early, names, rebate(one), p)),
  );
  const irregular = knockedOut.length > 0 ? OF_DATES.knockOut : exercised.length > 0 ? OF_DATES.exercise : OF_BARRIER;
  const problem: AnySparseProblem = {
    axes,
    equation: coefficients,
    // Averaged over cells, unlike conditions.
    terminal: last.reduce((text, one) => `(${hitText(one, names, p)} ? ${rebate(one)} : ${text})`, paid),
    expiry: p.add(expiry, "T"),
    boundaries,
    conditions: [...exercised, ...knockedOut, ...restarts(terms, names[0], p)],
    level,
    steps,
    errorEstimate: true,
  };
  return {
    problem,
    parameters: p,
    nodes: nodesOf(fineness),
    read: (entry, at) => widened(entry.at(Object.fromEntries(names.map((name, i) => [name, at[i]]))), irregular),
  };
}

/** A barrier on its dates before expiry, if there are some. */
function beforeExpiry(level: Level, terms: Terms): readonly Level[] {
  const times = level.times!.filter((time) => time > 0 && !isAtExpiry(time, terms.expiry));
  return times.length === 0 ? [] : [{ ...level, times }];
}
