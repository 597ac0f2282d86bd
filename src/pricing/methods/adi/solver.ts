/** Alternating directions as a solver of trades in several factors: their problems for `solve`. */
import {
  type AnyProblem,
  type Axis,
  type AxisPoint,
  type Condition,
  SAME_DATE,
  solveAxes,
} from "../../../pde/fdm/index.ts";
import { integrate } from "../../../market/index.ts";
import { type Coordinates, coordinatesOf, driftOf, type Range, weightedSum } from "../../equations/coordinates.ts";
import {
  assetName,
  spotsAtExpiry,
  axisOf,
  type Coefficients,
  factorEquation,
  payoffExpression,
} from "../../equations/equation.ts";
import { apply, type Expression } from "../../equations/expression.ts";
import { coordinatesAt, derivativesBySpots, lognormalEquation } from "../../equations/lognormal.ts";
import {
  axisBarriers,
  datedKnockOuts,
  endsAt,
  exerciseOf,
  isMonitoredForLife,
  knockOutsOf,
  type AssetBarrier,
  lessRebate,
  paidBeyond,
  restartsOf,
} from "../../equations/parts.ts";
import type { BuildProblem, EquationSolver } from "../../equations/solver.ts";
import type { Terms, TermsPayoff } from "../../terms.ts";
import {
  AMERICAN_HESTON_SPARED,
  estimateOf,
  resolutionOf,
  costRatio,
  isLognormal,
  isPlainAmerican,
  leastDeviation,
  LEVELS_BELOW,
  lognormalResolution,
  refined,
} from "./estimate.ts";

/**
 * The number of levels that a trade may rise at once. Estimates of lognormal ones fall faster than their order tells.
 */
const MAX_RISE = 4;

/** The solver by alternating directions for trades with several factors. */
export const solver: EquationSolver<AnyProblem> = {
  name: "adi",
  accuracy: 1e-4,
  build: (...given) => (isLognormal(given[0]) ? onCoordinates : onFactors)(...given),
  solve: async (problem, { parameters, functions, precision, ...on }) =>
    (await solveAxes({ ...problem, parameters, functions, precision }, on)).entries,
  refined: (terms, level, ratio) => refined(terms, level, ratio, isLognormal(terms) ? LEVELS_BELOW : MAX_RISE),
  costRatio,
  levelsBelow: LEVELS_BELOW,
  estimate: estimateOf,
  bumpLevel: (terms, level) => (isLognormal(terms) ? Math.min(level, Math.max(level - 2, 0)) : Math.min(level, 2)),
};

/**
 * A safety factor. Operator splitting is of first order in time, of which an extrapolation of second order leaves two
 * thirds: the error is up to twice the correction.
 */
const SPLITTING = 2;

/** An axis before its barriers. */
interface OpenAxis {
  readonly name: string;
  readonly range: Range;
  /** Today's value. */
  readonly today: number;
  readonly nodes: number;
  /** The asset whose own axis it is. */
  readonly asset: number | undefined;
  /** The value of the axis at which the payoff has a kink or a jump. */
  readonly strike?: number | undefined;
  /** The width of the dense part that barriers on dates or in a window ask for. */
  readonly widthFor?: (inner: readonly AssetBarrier[]) => number;
}

/** An equation on its axes, in the order in which `solve` takes them. */
interface OpenEquation {
  readonly axes: readonly OpenAxis[];
  readonly coefficients: Coefficients;
  /** The spots at time t as functions of the axes' variables. */
  readonly atTime: readonly Expression[];
  /** The payoff at expiry. */
  readonly paid: Expression;
  /** The knock-outs on dates or in a window, without those that `paid` knows of. */
  readonly dated: readonly AssetBarrier[];
  readonly steps: number;
  /** True where the solution jumps, so that it needs Rannacher's steps. Kinks are averaged over cells, and do not. */
  readonly lacksErrorExpansion: boolean;
}

/** The problem of an equation with a part's barriers, exercise and dividends. */
function problemOf(terms: Terms, knockOuts: readonly AssetBarrier[], equation: OpenEquation): AnyProblem {
  const { expiry, exercise, payoff } = terms;
  const { atTime } = equation;
  const axes: Record<string, Axis> = {};
  const boundaries: Record<string, NonNullable<AnyProblem["boundaries"]>[string]> = {};
  for (const { name, asset, strike, widthFor, today, nodes, range: whole } of equation.axes) {
    const barriers = axisBarriers(whole, asset === undefined ? [] : knockOuts, asset ?? -1, expiry);
    const { range, inner } = barriers;
    const points: AxisPoint[] = inner.map(({ level, times }) => ({
      at: level,
      align: times === undefined ? "node" : "midway",
    }));
    if (strike !== undefined && strike > range.from && strike < range.to)
      points.unshift({ at: strike, align: payoff.kind === "digital" ? "midway" : "none" });
    const width = Math.min(range.width, widthFor?.(inner) ?? Number.POSITIVE_INFINITY);
    axes[name] = axisOf({ range: { ...range, width }, today }, nodes, points);
    // A first node above zero has a mixed derivative.
    const open = (whole.firstNode ?? 0) > 0 ? { low: { kind: "zero-curvature" } as const } : {};
    boundaries[name] = { ...open, ...endsAt(barriers, terms) };
  }
  return {
    axes,
    equation: equation.coefficients,
    terminal: equation.paid,
    expiry,
    boundaries,
    conditions: [
      ...exerciseOf(exercise, expiry, payoffExpression(payoff, atTime)),
      ...knockOutsOf(equation.dated, terms),
      ...dividendsOf(terms, axes),
      ...restarts(terms, (equation.axes.find(({ asset }) => asset === 0) ?? equation.axes[0]).name),
    ],
    steps: equation.steps,
    extrapolate: "both",
    ...(equation.lacksErrorExpansion ? {} : { scheme: { kind: "modified-craig-sneyd", rannacherSteps: 0 } }),
  };
}

/** Dates of the time grid at which nothing moves: where rates or volatilities jump. */
function restarts(terms: Terms, axis: string): readonly Condition<string>[] {
  const at = restartsOf(terms);
  return at.length === 0 ? [] : [{ kind: "jump", axis, at, to: axis }];
}

/** Dividends before expiry: the spot falls, and never below the end of its axis. */
function dividendsOf({ assets, expiry }: Terms, axes: Readonly<Record<string, Axis>>): readonly Condition<string>[] {
  return assets.flatMap(({ underlying }, i) => {
    const axis = assetName(assets.length, i);
    return underlying.dividends.discrete
      .filter(({ time }) => time > SAME_DATE * expiry && time < expiry * (1 - SAME_DATE))
      .map(({ time, cash, proportional }) => ({
        kind: "jump" as const,
        axis,
        at: [time],
        to: apply(
          (S, kept, paid, end) => Math.max(S * kept - paid, end),
          axis,
          1 - proportional,
          cash,
          axes[axis].from,
        ),
      }));
  });
}

/** The problem of a part on the factors themselves. */
const onFactors: BuildProblem<AnyProblem> = (terms, mesh, spots, { knockOuts, less }, level) => {
  const { factors, coefficients } = factorEquation(terms, mesh, spots);
  const { expiry, exercise, assets, payoff } = terms;
  const isAmerican = exercise.kind === "american";
  const { nodes, steps } = resolutionOf(mesh, level);
  const all = factors.map(({ name, range, today }, k): OpenAxis => {
    const asset = k < assets.length ? k : undefined;
    return {
      name,
      range,
      today,
      nodes: nodes[k],
      asset,
      strike: assets.length === 1 && k === 0 ? strikeOf(payoff) : undefined,
    };
  });
  const names = assets.map((_, i) => assetName(assets.length, i));
  const isOfVolatility = (_: unknown, k: number): boolean => k >= assets.length && factors[k].driver < assets.length;
  const problem = problemOf(terms, knockOuts, {
    // `solve` sweeps along the last axis first. Volatilities come before assets, so that their sweeps are the last
    // ones. Diffusion of S vanishes at v = 0. Steps grow there if what the mixed derivative makes at v > 0 comes to
    // v = 0 before the diffusion of S has damped it (design/factors.md).
    axes: [...all.filter(isOfVolatility), ...all.filter((one, k) => !isOfVolatility(one, k))],
    coefficients,
    atTime: names,
    paid: lessRebate(payoffExpression(payoff, spotsAtExpiry(terms, names)), less),
    dated: knockOuts.filter((one) => !isMonitoredForLife(one, expiry)),
    steps,
    lacksErrorExpansion:
      payoff.kind === "digital" || payoff.kind === "expression" || knockOuts.length > 0 || isAmerican,
  });
  return {
    problem,
    nodes: nodes.reduce((product, count) => product * count, 1),
    placeOf: (at) => Object.fromEntries(factors.map(({ name, today }, i) => [name, at[i] ?? today])),
    safety: varianceSafety(terms) * (isAmerican ? SPLITTING : 1),
    spared: isPlainAmerican(terms) ? AMERICAN_HESTON_SPARED : 0,
  };
};

const strikeOf = (payoff: TermsPayoff): number | undefined =>
  payoff.kind === "expression" ? payoff.kinks[0] : payoff.kind === "script" ? undefined : payoff.strike;

/**
 * The safety factor of error estimates in Heston's model: corrections in space and in time may cancel, and their order
 * is not two where paths stay near v = 0. Without it 4 % of 150 checks on random trades were beyond, by up to 5.8
 * times; American ones were so only far from Feller's condition. The factors were chosen on those trades.
 */
function varianceSafety({ assets, exercise }: Terms): number {
  const feller = assets.flatMap(({ volatility }) =>
    volatility.kind === "heston" ? [(2 * volatility.kappa * volatility.theta) / volatility.sigma ** 2] : [],
  );
  if (feller.length === 0) return 1;
  if (exercise.kind !== "american") return 2;
  return feller.some((ratio) => ratio < FAR_FROM_FELLER) ? 3 : 1;
}

const FAR_FROM_FELLER = 0.1;

/** The standard deviations to each side of where a coordinate is, or is expected in some asset's measure. */
const DEVIATIONS = 5;
/** The narrowest dense part, in standard deviations: perfectly correlated assets have components without any. */
const MIN_DEVIATION = 1e-5;
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

/**
 * The problem of a part whose assets are log-normal, on coordinates that leave as few mixed derivatives as barriers
 * allow.
 */
const onCoordinates: BuildProblem<AnyProblem> = (terms, mesh, spots, { knockOuts, less }, level) => {
  const { expiry, exercise, assets, payoff } = terms;
  const own = [...new Set(knockOuts.map(({ asset }) => asset))].toSorted((a, b) => a - b);
  const coordinates = coordinatesOf(mesh, own);
  const { owner, deviations } = coordinates;
  const isAmerican = exercise.kind === "american";
  const { names, coefficients, atTime, atExpiry: atEnd } = lognormalEquation(terms, coordinates, isAmerican);
  const today = assets.map(({ underlying }) => underlying.spot);
  const pointAt = (at: readonly number[]): readonly number[] => coordinatesAt(coordinates, today, at);
  const read = spots[0].map((_, k) => pointAt(spots.map((of) => of[k])));
  const ranges = names.map((_, j) =>
    rangeOf(
      mesh,
      coordinates,
      j,
      read.map((at) => at[j]),
      isAmerican,
    ),
  );
  const { nodes, steps } = lognormalResolution(mesh, deviations, ranges, level);
  // A knock-out at expiry is part of the payoff, which is averaged over cells.
  const { last, before } = datedKnockOuts(knockOuts, expiry);
  const problem = problemOf(terms, knockOuts, {
    axes: names.map((name, j) => ({
      name,
      range: ranges[j],
      today: read[0][j],
      nodes: nodes[j],
      asset: owner[j],
      widthFor: (inner) => denseWidth(inner, deviations[j]),
    })),
    coefficients,
    atTime,
    paid: last.reduce(
      (payoff, one) => paidBeyond(one, terms, atTime, payoff),
      lessRebate(payoffExpression(payoff, spotsAtExpiry(terms, atEnd)), less),
    ),
    dated: before,
    steps: Math.max(steps, minSteps(knockOuts)),
    lacksErrorExpansion:
      payoff.kind === "expression" || isAmerican || knockOuts.some(({ times }) => times === undefined),
  });
  return {
    problem,
    nodes: nodes.reduce((product, count) => product * count, 1),
    placeOf: (at) => {
      const y = pointAt(at);
      return Object.fromEntries(names.map((name, j) => [name, y[j]]));
    },
    byFactors: (derivatives, at) => derivativesBySpots(derivatives, names, coordinates, at),
    safety: isAmerican ? SPLITTING : 1,
  };
};

const dateCountOf = (levels: readonly AssetBarrier[]): number =>
  Math.max(0, ...levels.map(({ times = [] }) => times.length));

/** The dense part of an axis for its barriers on dates; infinite without them. */
function denseWidth(levels: readonly AssetBarrier[], deviation: number): number {
  const between = Math.max(DENSE_BETWEEN_DATES / Math.sqrt(dateCountOf(levels)), MIN_DENSE);
  return between * Math.max(deviation, MIN_DEVIATION);
}

/** The number of steps of the life for those between dates, which are as the root of their share of the life. */
const minSteps = (levels: readonly AssetBarrier[]): number =>
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
  const deviation = Math.max(deviations[j], leastDeviation(terms));
  const drifts = terms.assets.map((_, i) => driftOf(terms, i));
  const drift = standing || asset !== undefined ? integrate(weightedSum(drifts, inverse[j]), terms.expiry) : 0;
  // Where y ends on average, also in the measures of the assets.
  const ends = [0, ...covariances[j]].map((one) => drift + one);
  const below = Math.min(0, ...ends) - DEVIATIONS * deviation;
  const above = Math.max(0, ...ends) + DEVIATIONS * deviation;
  // Kinks across a component without deviation stay: they are at today's spots, if anywhere.
  const width = DENSE * Math.max(deviations[j], MIN_DEVIATION);
  const [lowest, highest] = [Math.min(...read), Math.max(...read)];
  return asset === undefined
    ? { from: lowest + below, to: highest + above, width, coordinate: "linear" }
    : { from: lowest * Math.exp(below), to: highest * Math.exp(above), width, coordinate: "log" };
}
