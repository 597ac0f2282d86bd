import {
  type Arena,
  coarserInTime,
  driftExcess,
  type Grid,
  grids,
  isExercisableNow,
  lane,
  type Lane,
  type LaneValues,
  type OneFactorProblem,
  type PointValue,
  pointValue,
  premiumAtBoundary,
  type Resolution,
} from "../fdm/index.ts";
import type { Judged } from "./error-estimate.ts";
import type { Observed } from "./resolution.ts";

/** A lane, and its values once it has been solved. */
export interface Solving {
  readonly lane: Lane;
  values: LaneValues | undefined;
}

/** Two lanes that extrapolation makes one value of: a fine one, and one with every second node and half the time steps. */
export interface Pair {
  readonly fine: Solving;
  readonly coarse: Solving;
  /** Above 1 where drift dominates diffusion on the fine mesh. */
  readonly drift: number;
}

/** `shifted` is the problem on its own meshes, or a shift of the one that the grids are for. */
export function pairOn(
  fine: Grid,
  coarse: Grid,
  shifted: OneFactorProblem,
  arena: Arena,
  drift = driftExcess(fine),
): Pair {
  return { fine: solvingOn(fine, shifted, arena), coarse: solvingOn(coarse, shifted, arena), drift };
}

export function solvingOn(grid: Grid, shifted: OneFactorProblem, arena: Arena): Solving {
  return { lane: lane(grid, shifted, arena), values: undefined };
}

export const lanesOf = ({ fine, coarse }: Pair): readonly Solving[] => [fine, coarse];

/**
 * A problem solved at a resolution: on two meshes, and, with early exercise, once more with the coarse time steps on the fine mesh. That tells
 * the error in time, of which extrapolation then leaves much, from that in space; the two may cancel each other in the first two solutions.
 */
export class JudgedCase {
  readonly pair: Pair;
  readonly size: Resolution;
  private readonly inTime: Solving | undefined;

  constructor(problem: OneFactorProblem, size: Resolution, arena: Arena) {
    const [fine, coarse] = grids(problem, size, arena);
    this.size = size;
    this.pair = pairOn(fine, coarse, problem, arena);
    this.inTime = problem.american ? solvingOn(coarserInTime(fine, size), problem, arena) : undefined;
  }

  get lanes(): readonly Solving[] {
    return this.inTime === undefined ? lanesOf(this.pair) : [...lanesOf(this.pair), this.inTime];
  }

  /** Today's value, and what its three solutions say of each other. */
  judge(rounding: number): PointValue & Judged {
    const { drift } = this.pair;
    const spot = this.pair.fine.lane.grid.problem.spots[0];
    const [fine, coarse] = [this.pair.fine, this.pair.coarse].map((one) => pointOf(one, 0, rounding));
    const difference = (a: number, b: number): number => Math.abs(a - b) / (3 * spot);
    const both = difference(fine.value, coarse.value);
    // Not told apart, either may be all of it.
    let observed: Observed = { inSpace: both, inTime: both, total: both, drift };
    if (this.inTime !== undefined) {
      const between = pointOf(this.inTime, 0, rounding).value;
      const [inSpace, inTime] = [difference(between, coarse.value), difference(fine.value, between)];
      observed = { inSpace, inTime, total: inSpace + inTime, drift };
    }
    return {
      ...extrapolated(this.pair, 0, fine, coarse),
      premium: premiumOf(this.pair.fine, rounding),
      size: this.size,
      observed,
      driftDominated: drift > 1,
    };
  }
}

export function pointOf({ lane: { grid }, values }: Solving, spot: number, rounding: number): PointValue {
  if (values === undefined) throw new Error("a lane is read before it is solved");
  return pointValue(grid, values, spot, rounding);
}

function premiumOf({ lane: { grid }, values }: Solving, rounding: number): number {
  return values === undefined ? 0 : premiumAtBoundary(grid, values, 0, rounding);
}

/** Today's value on one mesh. */
export function readOne(one: Solving, rounding: number): PointValue {
  return pointOf(one, 0, rounding);
}

export function readPair(pair: Pair, spot: number, rounding: number): PointValue {
  const fine = pointOf(pair.fine, spot, rounding);
  if (fine.exercised || pair.drift > 1) return fine;
  return extrapolated(pair, spot, fine, pointOf(pair.coarse, spot, rounding));
}

/** Richardson's extrapolation (4·fine − coarse)/3: both meshes have the kinks, and both schemes an h² expansion. */
export function extrapolated(
  { fine: { lane: solved }, drift }: Pair,
  spot: number,
  fine: PointValue,
  coarse: PointValue,
): PointValue {
  if (fine.exercised || drift > 1) return fine;
  const further = (f: number, c: number): number => f + (f - c) / 3;
  const { problem } = solved.grid;
  const price = problem.spots[spot];
  const value = further(fine.value, coarse.value);
  return {
    value: isExercisableNow(problem, price) ? Math.max(value, problem.payoff.exercised(price)) : value,
    delta: coarse.exercised ? fine.delta : further(fine.delta, coarse.delta),
    gamma: coarse.exercised ? fine.gamma : further(fine.gamma, coarse.gamma),
    exercised: false,
  };
}
