/**
 * Sparse grids as a solver of trades in several factors. Trades without barriers have the principal components of the
 * logarithms of their spots as axes, others the spots themselves, so that barriers are parallel to the axes.
 */
import type { Condition } from "../../../pde/fdm/index.ts";
import {
  type AnySparseProblem,
  combinationGrids,
  solveOnSparseGrid,
  type SparseAxis,
} from "../../../pde/sparsegrid/index.ts";
import { coordinatesOf } from "../../equations/coordinates.ts";
import { assetName, spotsAtExpiry, factorEquation, payoffExpression } from "../../equations/equation.ts";
import { derivativesBySpots, lognormalEquation, coordinatesAt } from "../../equations/lognormal.ts";
import { followFromGamma } from "../../equations/measures.ts";
import {
  axisBarriers,
  datedKnockOuts,
  endsAt,
  exerciseOf,
  knockOutsOf,
  lessRebate,
  paidBeyond,
  restartsOf,
} from "../../equations/parts.ts";
import { ridgeSafety, ridgeWidth } from "../../equations/ridge.ts";
import type { BuildProblem, EquationSolver } from "../../equations/solver.ts";
import type { Terms } from "../../terms.ts";

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
  costRatio: (_, from, to) => GROWTH ** (to - from),
  levelsBelow: 0,
  estimate: (_, correction) => correction,
  bumpLevel: (_, level) => Math.min(level, 1),
};

function isFinest(terms: Terms, level: number): boolean {
  const { barriers, assets } = terms;
  const { deviations } = coordinatesOf(terms, []);
  const initial = barriers.length === 0 ? levelsOfComponents(deviations) : levelsOfSpots(assets.length);
  return nodesOf(resolutionOf(initial, level + 1)) > MAX_NODES;
}

/** The problem of a part on the principal components, which move without drift (`lognormalEquation`). */
const onPrincipalComponents: BuildProblem<AnySparseProblem> = (terms, mesh, spots, { less }, ofMethod) => {
  const { assets, expiry, exercise, payoff } = terms;
  const coordinates = coordinatesOf(mesh, []);
  const { deviations } = coordinates;
  const fineness = resolutionOf(levelsOfComponents(deviations), ofMethod);
  const { level, initial, steps } = fineness;
  const today = assets.map(({ underlying }) => underlying.spot);
  const componentsAt = (at: readonly number[]): readonly number[] => coordinatesAt(coordinates, today, at);
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
  const conditions = exerciseOf(exercise, expiry, payoffExpression(payoff, atTime));
  const problem: AnySparseProblem = {
    axes,
    equation: coefficients,
    terminal: lessRebate(payoffExpression(payoff, spotsAtExpiry(terms, atEnd)), less),
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
    placeOf: (at) => {
      const y = componentsAt(at);
      return Object.fromEntries(names.map((name, j) => [name, y[j]]));
    },
    byFactors: (derivatives, at) => derivativesBySpots(derivatives, names, coordinates, at),
    safety: conditions.length === 0 ? ERROR_FACTORS_OF_DATES.none : ERROR_FACTORS_OF_DATES.exercise,
  };
};

/** The problem of a part on the axes Sᵢ; correlations are mixed derivatives. */
const onSpots: BuildProblem<AnySparseProblem> = (terms, mesh, spots, { knockOuts, less }, ofMethod) => {
  const { factors, coefficients } = factorEquation(terms, mesh, spots);
  const { expiry, exercise, assets } = terms;
  const fineness = resolutionOf(levelsOfSpots(assets.length), ofMethod);
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
  const { last, before } = datedKnockOuts(knockOuts, expiry);
  const paid = lessRebate(payoffExpression(terms.payoff, spotsAtExpiry(terms, names)), less);
  const exercised = exerciseOf(exercise, expiry, payoffExpression(terms.payoff, names));
  const knockedOut = knockOutsOf(before, terms);
  const irregular =
    knockedOut.length > 0
      ? ERROR_FACTORS_OF_DATES.knockOut
      : exercised.length > 0
        ? ERROR_FACTORS_OF_DATES.exercise
        : ERROR_FACTOR_OF_BARRIER;
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
    placeOf: (at) => Object.fromEntries(names.map((name, i) => [name, at[i]])),
    safety,
  };
};

/** The resolution at which a problem is solved on sparse grids. */
export interface Resolution {
  /** The number of refinements above the coarsest levels, summed over the axes. */
  readonly level: number;
  /** The coarsest level of each axis. */
  readonly initial: readonly number[];
  readonly steps: number;
}

/** Refinements at level 0, by axes; with more axes every refinement costs more. */
const FIRST = [0, 4, 3, 3, 3, 2, 2] as const;
const FIRST_OF_MANY = 1;
/** Time steps of two refinements, and the factor of each more, so that both errors fall as fast. */
const STEPS = 20;
const STEPS_PER_REFINEMENT = 1.6;

/** The level of an axis of mean importance; a fraction, so that equal axes have one level. */
const MEAN_LEVEL = 1.4;

/**
 * Returns the coarsest level of each principal component. It is finer where the deviation is larger, so that the
 * spacing of nodes is about equal.
 */
export function levelsOfComponents(deviations: readonly number[]): readonly number[] {
  const logs = deviations.map((one) => Math.log2(Math.max(one, 1e-6)));
  const mean = logs.reduce((sum, one) => sum + one, 0) / logs.length;
  return logs.map((one) => Math.min(Math.max(Math.round(MEAN_LEVEL + one - mean), 1), 4));
}

/**
 * Returns the coarsest level of each axis of spots. It is the same for all, and lower for seven axes or more, whose
 * grids would otherwise be too large.
 */
export const levelsOfSpots = (axes: number): readonly number[] => new Array<number>(axes).fill(axes > 6 ? 1 : 2);

/** Returns the resolution at a level of refinement, with given coarsest levels. */
export function resolutionOf(initial: readonly number[], level: number): Resolution {
  const refinements = Math.max((FIRST[initial.length] ?? FIRST_OF_MANY) + level, 1);
  return {
    level: refinements,
    initial,
    steps: 2 * Math.round(0.5 * STEPS * STEPS_PER_REFINEMENT ** (refinements - 2)),
  };
}

/** Returns the total number of nodes of all grids of a combination. */
export const nodesOf = ({ level, initial }: Resolution): number =>
  combinationGrids({ level, initialLevel: initial }).reduce(
    (sum, { levels }) => sum + levels.reduce((product, one) => product * (2 ** one + 1), 1),
    0,
  );

/**
 * Returns conditions for `solveOnSparseGrid` that change nothing but make the time grid restart on the dates where
 * rates or volatilities jump.
 */
export function restarts(terms: Terms, axis: string): readonly Condition<string>[] {
  const at = restartsOf(terms);
  return at.length === 0 ? [] : [{ kind: "knock-out", axis, above: NOWHERE, value: 0, at }];
}

const NOWHERE = 1e30;

/**
 * The factors by which error estimates of trades with exercise or knock-outs on dates are multiplied. These leave a
 * kink or a jump between two nodes that cell averages miss, so that errors fall irregularly. Compared with quadrature
 * on two and three underlyings, differences of levels underestimated the error by up to 1.7 times with exercise and 3.7
 * times with knock-outs.
 */
export const ERROR_FACTORS_OF_DATES = { none: 1, exercise: 2, knockOut: 4 } as const;

/**
 * The factor by which error estimates of trades with a barrier that is monitored for the whole life are multiplied.
 * Compared with alternating directions on converged grids (two underlyings, scenarios), differences of levels
 * underestimated the error by up to 2.4 times.
 */
export const ERROR_FACTOR_OF_BARRIER = 2.5;
