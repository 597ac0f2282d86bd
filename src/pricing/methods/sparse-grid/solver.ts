/**
 * Sparse grids as a solver of trades in several factors. Trades without barriers have the principal components of the
 * logarithms of their spots as axes, others the spots themselves, so that barriers are parallel to the axes.
 */
import { type AnySparseProblem, type SparseAxis, solveOnSparseGrid } from "../../../pde/sparsegrid/index.ts";
import { coordinatesOf } from "../../equations/coordinates.ts";
import { assetName, factorEquation } from "../../equations/equation.ts";
import { inSpots, lognormalEquation, variablesAt } from "../../equations/lognormal.ts";
import {
  axisBarriers,
  datedOf,
  endsAt,
  exerciseOf,
  knockOutsOf,
  lessRebate,
  paidBeyond,
} from "../../equations/parts.ts";
import { atExpiry, payoffOn } from "../../equations/payoff.ts";
import { followFromGamma } from "../../equations/measures.ts";
import { ridgeSafety, ridgeWidth } from "../../equations/ridge.ts";
import { widened } from "../../equations/solution.ts";
import type { BuildProblem, EquationSolver } from "../../equations/solver.ts";
import type { Terms } from "../../terms.ts";
import { finenessOf, levelsOfComponents, levelsOfSpots, nodesOf, OF_BARRIER, OF_DATES, restarts } from "./fineness.ts";

/** Grids of more nodes take minutes. */
const MAX_NODES = 1e6;
/** A level more makes an error as many times smaller, or more. */
const GAIN = 8;
/** A level more takes about so many times as long: nodes and steps grow. */
const GROWTH = 5;

/** The standard deviations that the axis of a component extends to each side. */
const DEVIATIONS = 4.5;
/**
 * The smallest deviations that the dense part of an axis, and an axis with bumped copies, are made for: perfectly
 * correlated spots have components without any.
 */
const MIN_DEVIATION = { dense: 1e-5, bumped: 0.01 };
/** The width of the dense part of an axis that `assetRange` has: one standard deviation. */
const WIDTH = 0.4;

/** The solver by sparse grids for trades with several factors. */
export const solver: EquationSolver<AnySparseProblem> = {
  name: "sparse-grid",
  accuracy: 1e-3,
  build: (...given) => (given[3].knockOuts.length === 0 ? onPrincipalComponents : onSpots)(...given),
  solve: async (problem, { parameters, functions, precision, ...on }) =>
    (await solveOnSparseGrid({ ...problem, parameters, functions, precision }, on)).entries,
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
const onPrincipalComponents: BuildProblem<AnySparseProblem> = (terms, mesh, spots, { less }, ofMethod) => {
  const { assets, expiry, exercise, payoff } = terms;
  const coordinates = coordinatesOf(mesh, []);
  const { deviations } = coordinates;
  const fineness = finenessOf(levelsOfComponents(deviations), ofMethod);
  const { level, initial, steps } = fineness;
  const today = assets.map(({ underlying }) => underlying.spot);
  const componentsAt = (at: readonly number[]): readonly number[] => variablesAt(coordinates, today, at);
  const read = spots[0].map((_, k) => componentsAt(spots.map((of) => of[k])));
  const { names, coefficients, atExpiry: atEnd, atTime } = lognormalEquation(terms, coordinates, false);
  const axes: Record<string, SparseAxis> = {};
  names.forEach((name, j) => {
    const width = Math.max(deviations[j], MIN_DEVIATION.dense);
    const deviation = followFromGamma(mesh) ? width : Math.max(width, MIN_DEVIATION.bumped);
    // Behind the deviations, what a change to an asset's own measure moves.
    const reach = DEVIATIONS * deviation + deviation * deviation;
    const of = read.map((y) => y[j]);
    const [from, to] = [Math.min(0, ...of) - reach, Math.max(0, ...of) + reach];
    axes[name] = { from, to, points: [0], width, initialLevel: initial[j] };
  });
  const conditions = exerciseOf(exercise, expiry, payoffOn(payoff, atTime));
  const problem: AnySparseProblem = {
    axes,
    equation: coefficients,
    terminal: lessRebate(payoffOn(payoff, atExpiry(terms, atEnd)), less),
    expiry,
    conditions: [...conditions, ...restarts(terms, names[0])],
    level,
    // Exercise on nodes leaves kinks between them: errors are not of order h², which extrapolation takes them to be.
    ...(conditions.length === 0 ? { extrapolate: "levels" } : {}),
    steps,
    errorEstimate: true,
  };
  return {
    problem,
    nodes: nodesOf(fineness),
    read: (entry, at) => {
      const y = componentsAt(at);
      const point = entry.at(Object.fromEntries(names.map((name, j) => [name, y[j]])));
      const moved = { ...point, ...inSpots(point, names, coordinates, at) };
      return widened(moved, conditions.length === 0 ? OF_DATES.none : OF_DATES.exercise);
    },
  };
};

/** The problem of a part on the axes Sᵢ; correlations are mixed derivatives. */
const onSpots: BuildProblem<AnySparseProblem> = (terms, mesh, spots, { knockOuts, less }, ofMethod) => {
  const { factors, coefficients } = factorEquation(terms, mesh, spots);
  const { expiry, exercise, assets } = terms;
  const fineness = finenessOf(levelsOfSpots(assets.length), ofMethod);
  const { level, initial, steps } = fineness;
  const names = assets.map((_, i) => assetName(assets.length, i));
  const axes: Record<string, SparseAxis> = {};
  const boundaries: Record<string, ReturnType<typeof endsAt>> = {};
  factors.forEach(({ name, range: whole, today }, k) => {
    const barriers = axisBarriers(whole, knockOuts, k, expiry);
    const { from, to, width, coordinate } = barriers.range;
    const isInside = today > from && today < to;
    axes[name] = {
      from,
      to,
      // Beyond a barrier today, and read at the spots of scenarios.
      points: [isInside ? today : 0.5 * (from + to)],
      width: WIDTH * width,
      coordinate,
      initialLevel: initial[k],
    };
    boundaries[name] = endsAt(barriers, terms);
  });
  const { last, before } = datedOf(knockOuts, expiry);
  const paid = lessRebate(payoffOn(terms.payoff, atExpiry(terms, names)), less);
  const exercised = exerciseOf(exercise, expiry, payoffOn(terms.payoff, names));
  const knockedOut = knockOutsOf(before, terms);
  const irregular = knockedOut.length > 0 ? OF_DATES.knockOut : exercised.length > 0 ? OF_DATES.exercise : OF_BARRIER;
  const safety = irregular * ridgeSafety(ridgeWidth(mesh.correlations, [...assets.keys()]));
  const problem: AnySparseProblem = {
    axes,
    equation: coefficients,
    // Averaged over cells, unlike conditions.
    terminal: last.reduce((payoff, one) => paidBeyond(one, terms, names, payoff), paid),
    expiry,
    boundaries,
    conditions: [...exercised, ...knockedOut, ...restarts(terms, names[0])],
    level,
    steps,
    errorEstimate: true,
  };
  return {
    problem,
    nodes: nodesOf(fineness),
    read: (entry, at) => widened(entry.at(Object.fromEntries(names.map((name, i) => [name, at[i]]))), safety),
  };
};
