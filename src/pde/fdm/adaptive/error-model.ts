import { type LifePhase, phasesOf } from "../mesh/domain.ts";
import type { Grid, Resolution } from "../mesh/grid.ts";
import { cellOf, nodeAt } from "../mesh/mesh.ts";
import { hasLargeDividends } from "../mesh/pinned-domain.ts";
import { volatilityAt } from "../problem/diffusion.ts";
import {
  deviationOf,
  valuesInLife,
  type MonitoredLevel,
  type OneFactorProblem,
  totalVariance,
} from "../problem/one-factor.ts";
import { varianceTimeOf } from "../problem/variance.ts";
import type { ProblemDifference } from "./extrapolation.ts";
import { power } from "../../../base/elementary.ts";

/**
 * The error that extrapolation leaves, in space or in time: a `part` of the leading error, which falls with the power
 * `order`. Measured at 41 to 2,561 nodes and 8 to 768 steps; parts hold nine cases of ten at the first resolution
 * (design/accuracy.md).
 */
interface Left {
  readonly part: number;
  readonly order: number;
  /** The part of the leading error that an estimate takes it for, in space with 113 nodes or more. */
  readonly certain: number;
}

/** The empirical parameters of error estimates and refinement for one kind of product. */
export interface ErrorModel {
  /**
   * The first resolution: `value` for a value alone; `greeks` for a value with Greeks, whose remaining noise only more
   * nodes reduce; `rough` for a target error of 1e-4 of the spot or more.
   */
  readonly first: { readonly value: Resolution; readonly greeks: Resolution; readonly rough: Resolution };
  /** The error that extrapolation leaves in space. */
  readonly space: Left;
  /** The error that extrapolation leaves in time. */
  readonly time: Left;
  /**
   * The leading error beyond which estimates are meaningless, relative to the spot. The square of a smaller leading
   * error divided by this is added to the estimate.
   */
  readonly beyond: number;
  /**
   * The lower bound of an estimate from two resolutions, as a fraction of the estimate from one, because two
   * resolutions may agree by chance.
   */
  readonly min: number;
}

const ROUGH: Resolution = { nodes: 57, steps: 24 };
const SMOOTH: ErrorModel = {
  first: { value: { nodes: 113, steps: 36 }, greeks: { nodes: 113, steps: 36 }, rough: ROUGH },
  space: { part: 0.05, order: 3, certain: 0.1 },
  time: { part: 0.03, order: 4, certain: 0.03 },
  beyond: 1e-3,
  min: 0.05,
};
/** A dividend of cash is read between nodes, whose errors differ from mesh to mesh. */
const CASH: ErrorModel = {
  first: { value: { nodes: 161, steps: 36 }, greeks: { nodes: 161, steps: 36 }, rough: ROUGH },
  space: { part: 0.15, order: 3, certain: 0.35 },
  time: SMOOTH.time,
  beyond: 1e-3,
  min: 0.35,
};
/** A mesh that is dense about several prices has fewer nodes for each. */
const LARGE_DIVIDENDS: ErrorModel = {
  first: { ...CASH.first, rough: CASH.first.value },
  space: { part: 0.15, order: 3, certain: 1 },
  time: SMOOTH.time,
  beyond: 1e-3,
  min: 1,
};
/** The exercise boundary among the nodes keeps extrapolation in time from its full order. */
const AMERICAN: ErrorModel = {
  first: { value: { nodes: 113, steps: 36 }, greeks: { nodes: 161, steps: 36 }, rough: ROUGH },
  space: { part: 0.05, order: 2.5, certain: 0.1 },
  time: { part: 1, order: 2.1, certain: 0.5 },
  beyond: 1e-3,
  min: 0.35,
};
/** Exercise on dates: V has a kink there, between nodes. */
const BERMUDAN: ErrorModel = {
  first: { value: { nodes: 113, steps: 24 }, greeks: { nodes: 161, steps: 36 }, rough: ROUGH },
  space: { part: 0.1, order: 3.5, certain: 0.12 },
  time: { part: 0.05, order: 4, certain: 0.06 },
  beyond: 2e-3,
  min: 0.2,
};
/** Barriers stand on nodes, and dense meshes about them. */
const BARRIERS: ErrorModel = {
  first: { value: { nodes: 57, steps: 24 }, greeks: { nodes: 161, steps: 48 }, rough: ROUGH },
  space: { part: 0.03, order: 3, certain: 0.04 },
  time: { part: 0.1, order: 4, certain: 0.1 },
  beyond: 4e-3,
  min: 0.05,
};
/** The model of barriers far from all kinks of the payoff: each of both takes half of the nodes. */
const BARRIERS_AFAR: ErrorModel = { ...BARRIERS, space: { ...BARRIERS.space, certain: 0.25 }, min: 0.35 };
/** The distance from the spot, in standard deviations of its logarithm, beyond which a kink is far. */
const FAR = 4.5;
/** A knock-in by parity has the trade without it on the same mesh, whose kinks are left to chance there. */
const KNOCKED_IN: ErrorModel = {
  first: { value: { nodes: 81, steps: 36 }, greeks: BARRIERS.first.greeks, rough: ROUGH },
  space: { part: 0.1, order: 3, certain: 0.35 },
  time: { part: 0.1, order: 4, certain: 0.5 },
  beyond: 5e-4,
  min: 0.35,
};
/**
 * V jumps at barriers that are monitored on dates, where monitoring begins, and where a payoff that jumps is exercised
 * on dates.
 */
const MONITORED: ErrorModel = {
  first: { value: { nodes: 113, steps: 48 }, greeks: { nodes: 161, steps: 48 }, rough: ROUGH },
  space: { part: 0.05, order: 3, certain: 0.1 },
  time: { part: 0.3, order: 4, certain: 0.3 },
  beyond: 2e-3,
  min: 0.2,
};

/** Kinks near to each other share the nodes, and their leading errors cancel. */
const SEVERAL_KINKS: ErrorModel = {
  ...SMOOTH,
  space: { part: 0.1, order: 3, certain: 0.25 },
  min: 0.2,
};

/**
 * Payoffs that jump at several prices, or on a mesh that is pinned to barriers: jumps there are averaged over cells,
 * whose leading errors cancel by chance.
 */
const SEVERAL_JUMPS: ErrorModel = {
  ...SEVERAL_KINKS,
  first: { value: { nodes: 161, steps: 36 }, greeks: { nodes: 161, steps: 48 }, rough: ROUGH },
  space: { part: 0.3, order: 3, certain: 1 },
  beyond: 5e-4,
  min: 0.5,
};

/**
 * σ² that changes much in time: each step sees it change, which keeps extrapolation in time from its full order, the
 * more the fewer steps there are from date to date.
 */
const UNEVEN: ErrorModel = {
  first: SMOOTH.first,
  space: SMOOTH.space,
  time: { part: 0.15, order: 3, certain: 0.25 },
  beyond: 1e-3,
  min: 0.2,
};
const UNEVEN_ON_DATES: ErrorModel = { ...UNEVEN, time: { part: 0.2, order: 2.5, certain: 0.35 }, min: 0.25 };

/** Returns the error model of a trade: the most cautious of the models that apply to its problems. */
export function errorModelOf({ problem, subtracted }: ProblemDifference): ErrorModel {
  const { american, exerciseTimes, dividends, expiry, payoff } = problem;
  const { barriers = [], knockIns } = subtracted ?? problem;
  const levels = [...barriers, ...(knockIns?.levels ?? [])];
  const kinds: ErrorModel[] = [];
  if (american) kinds.push(AMERICAN);
  if (exerciseTimes !== undefined) kinds.push(payoff.jumps ? worse(BERMUDAN, MONITORED) : BERMUDAN);
  if (dividends.some(({ cash }) => cash > 0)) kinds.push(CASH);
  if (hasLargeDividends(subtracted ?? problem)) kinds.push(LARGE_DIVIDENDS);
  if (subtracted !== undefined) kinds.push(KNOCKED_IN);
  if (levels.length > 0) kinds.push(levels.every((one) => isAlwaysThere(one, expiry)) ? BARRIERS : MONITORED);
  if (levels.length > 0 && hasFarKinks(problem)) kinds.push(BARRIERS_AFAR);
  if (payoff.kinks.length > 1) kinds.push(SEVERAL_KINKS);
  if (payoff.jumps && (payoff.kinks.length > 1 || levels.length > 0)) kinds.push(SEVERAL_JUMPS);
  if (varianceTimeOf(problem) !== undefined) kinds.push(exerciseTimes === undefined ? UNEVEN : UNEVEN_ON_DATES);
  return kinds.length === 0 ? SMOOTH : kinds.reduce(worse);
}

/** Tells whether a payoff has kinks, but none near today's spot. */
function hasFarKinks(problem: OneFactorProblem): boolean {
  const [spot] = problem.spots;
  const far = FAR * deviationOf(problem);
  const { kinks } = problem.payoff;
  return kinks.length > 0 && kinks.every((kink) => Math.abs(Math.log(kink / spot)) > far);
}

function isAlwaysThere({ times, from, to }: MonitoredLevel, expiry: number): boolean {
  return times === undefined && from === 0 && to >= expiry;
}

function worse(a: ErrorModel, b: ErrorModel): ErrorModel {
  return {
    first: {
      value: finer(a.first.value, b.first.value),
      greeks: finer(a.first.greeks, b.first.greeks),
      rough: finer(a.first.rough, b.first.rough),
    },
    space: worseLeft(a.space, b.space),
    time: worseLeft(a.time, b.time),
    beyond: Math.min(a.beyond, b.beyond),
    min: Math.max(a.min, b.min),
  };
}

const worseLeft = (a: Left, b: Left): Left => ({
  part: Math.max(a.part, b.part),
  order: Math.min(a.order, b.order),
  certain: Math.max(a.certain, b.certain),
});

const finer = (a: Resolution, b: Resolution): Resolution => ({
  nodes: Math.max(a.nodes, b.nodes),
  steps: Math.max(a.steps, b.steps),
});

/** Nodes of a mesh, 4k + 1, and time steps, even: few, and a factor of √2 apart, so that many trades have the same. */
const NODES = [57, 81, 113, 161, 225, 321, 449, 641, 897, 1281, 1793, 2561, 4097];
const STEPS = [16, 24, 36, 48, 72, 96, 144, 192, 288, 384, 576, 768, 1152];

/**
 * The leading errors of a value in space and in time, relative to the spot, observed on two meshes and two time grids.
 */
export interface LeadingErrors {
  /** The leading error in space. */
  readonly inSpace: number;
  /** The leading error in time. */
  readonly inTime: number;
  /** The sum of the absolute leading errors of space and time. */
  readonly total: number;
  /** The largest error that comes from the exercise boundary lying between two nodes; it falls as h². */
  readonly noise: number;
  /**
   * The factor by which the mesh must be refined for diffusion to outweigh drift on the coarse mesh too; at most 1
   * where it already does.
   */
  readonly drift: number;
}

/**
 * Returns the resolution at which all trades of one kind start. At the default accuracy it suffices for four fifths of
 * the reference cases. `accuracy` is the target error relative to the spot.
 */
export function firstResolution(
  accuracy: number,
  { first }: ErrorModel,
  greeks: boolean,
  maxNodes: number,
): Resolution {
  const { nodes, steps } = accuracy >= 1e-4 ? first.rough : greeks ? first.greeks : first.value;
  return { nodes: rung(NODES, nodes, maxNodes), steps };
}

/**
 * Returns the next resolution to try. By the observed errors it suffices for the target error, half of which is allowed
 * in space and half in time. It is at least twice as fine as `before` in both, so that the two can be compared, or √2
 * times as fine with `nearly`. The result is `before` itself if `maxNodes` allows no finer resolution.
 */
export function nextResolution(
  before: Resolution,
  observed: LeadingErrors,
  accuracy: number,
  { space, time }: ErrorModel,
  nearly: boolean,
  maxNodes: number,
): Resolution {
  const min = nearly ? 1.4 : 2;
  const finer = ({ part, order }: ErrorModel["space"], error: number): number =>
    Math.max(min, power((part * error) / (0.5 * accuracy), 1 / order));
  return {
    nodes: rung(
      NODES,
      before.nodes *
        Math.max(finer(space, observed.inSpace), Math.sqrt(observed.noise / (0.5 * accuracy)), observed.drift),
      maxNodes,
    ),
    steps: rung(STEPS, before.steps * finer(time, observed.inTime), Number.POSITIVE_INFINITY),
  };
}

/** The first rung that is `wanted`, or just short of it; the last that is not beyond `max` if there is none. */
function rung(ladder: readonly number[], wanted: number, max: number): number {
  const allowed = ladder.filter((step) => step <= max);
  return allowed.find((step) => step >= 0.95 * wanted) ?? allowed[allowed.length - 1] ?? ladder[0];
}

/** Standard deviations to either side of the spot and the kinks in which σ is looked at, and at how many prices. */
const LOOKED_AT = 3;
const LOOKS = 24;
/** A volatility below this part of the largest is none: drift alone decides there. */
const NO_PART = 1e-3;

/**
 * Returns the cell Péclet number of a problem on a grid: the largest ratio of drift to diffusion between neighbouring
 * nodes at the kinks and at today's spot, |r − q|·S·h / ½σ²S², at any time of the life. Above 1 the scheme adds
 * artificial diffusion and is of first order. It is infinite where σ(S, t) is rough (`lacksErrorExpansion`).
 */
export function cellPeclet({ mesh, forward }: Grid, problem: OneFactorProblem): number {
  const { rates, dividendYield, expiry, spots, payoff } = forward?.flat ?? problem;
  const strongest = Math.max(...valuesInLife(rates, expiry).map((rate) => Math.abs(rate - dividendYield)));
  const drift = strongest * expiry;
  if (lacksErrorExpansion(problem)) return Number.POSITIVE_INFINITY;
  if (drift === 0) return 0;
  const phases = [{ drift, variance: totalVariance(problem) }, ...phasesOf(problem)];
  const excessAt = (price: number): number => {
    const i = cellOf(mesh, price);
    return excessOf(phases, Math.abs(nodeAt(mesh, i + 1) - nodeAt(mesh, i)) / price);
  };
  let excess = excessAt(spots[0]);
  for (const kink of payoff.kinks) excess = Math.max(excess, excessAt(kink));
  return excess;
}

/** Artificial diffusion below this part of the variance of the life changes no value. */
const NO_DIFFUSION = 1e-6;
/** More than this there is no use in refining. */
const MAX_EXCESS = 16;

/**
 * The largest excess of a phase on a cell of a relative width, of the first phase, which is the whole life, and of the
 * others if what the scheme adds to their variance is a part of the life's that counts.
 */
function excessOf([life, ...phases]: readonly LifePhase[], width: number): number {
  const excess = (2 * life.drift * width) / life.variance;
  let added = 0;
  let largest = 0;
  for (const { drift, variance } of phases) {
    const least = 2 * Math.abs(drift) * width;
    added += Math.max(least - variance, 0);
    if (least > largest * variance) largest = least / variance;
  }
  return added > NO_DIFFUSION * life.variance ? Math.max(excess, Math.min(largest, MAX_EXCESS)) : excess;
}

/**
 * Tells whether the solution has no error expansion in h² on any mesh, so that extrapolation fails: σ(S, t) jumps
 * between nodes, or nearly vanishes for part of the life at a price that the spot may reach.
 */
export function lacksErrorExpansion(problem: OneFactorProblem): boolean {
  const { diffusion, spots, payoff, expiry } = problem;
  if (diffusion.kind !== "local" && diffusion.kind !== "formula") return false;
  if (diffusion.kind === "formula" && diffusion.jumps === true) return true;
  const variance = totalVariance(problem);
  const min = NO_PART * Math.sqrt(variance / expiry);
  const reach = Math.exp(LOOKED_AT * Math.sqrt(variance));
  const lowest = Math.min(spots[0], ...payoff.kinks) / reach;
  const highest = Math.max(spots[0], ...payoff.kinks) * reach;
  const times = diffusion.kind === "local" ? [0] : [0.1, 0.3, 0.5, 0.7, 0.9].map((part) => part * expiry);
  for (let i = 0; i <= LOOKS; i++) {
    const price = lowest * power(highest / lowest, i / LOOKS);
    if (times.some((time) => volatilityAt(diffusion, price, time) < min)) return true;
  }
  return false;
}
