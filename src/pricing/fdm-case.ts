import {
  type Arena,
  coarserInTime,
  driftExcess,
  type Grid,
  grids,
  gridsOn,
  hasLargeDividends,
  isExercisableNow,
  knockedOutBy,
  lane,
  type Lane,
  type LaneValues,
  type OneFactorProblem,
  type PointValue,
  pointValue,
  premiumAtBoundary,
  type Reading,
  rebateValue,
  type Resolution,
  spotValues,
} from "../fdm/index.ts";
import type { Judged } from "./error-estimate.ts";
import { knockedOutPoint } from "./knocked-out.ts";
import type { Observed } from "./resolution.ts";
import type { TradeProblems } from "./trade-barriers.ts";

/** A lane, and its values once it has been solved. */
export interface Solving {
  readonly lane: Lane;
  values: LaneValues | undefined;
}

/** Two lanes that extrapolation makes one value of: a fine one, and one with every second node and half the time steps. */
interface Pair {
  readonly fine: Solving;
  readonly coarse: Solving;
  /** Above 1 where drift dominates diffusion on the fine mesh. */
  readonly drift: number;
}

/** What is solved of a trade's problems: its value is the first pair's, less the second's where there is one (`TradeProblems`). */
export type Case = readonly Pair[];

/** On meshes of its own: one for both pairs, so that their errors cancel where the knock-in is far away. */
export function caseAt({ problem, notYet }: TradeProblems, size: Resolution, arena: Arena, reading: Reading): Case {
  const pairAt = (made: readonly [Grid, Grid], one: OneFactorProblem): Pair =>
    pairOn(made, one, arena, reading, driftExcess(made[0]));
  if (notYet === undefined) return [pairAt(grids(problem, size, arena), problem)];
  const both = grids(notYet, size, arena);
  return [pairAt(gridsOn(problem, both[0].mesh, size, arena), problem), pairAt(both, notYet)];
}

/** Shifted problems on the grids of others, for today's spot. */
export function caseOn(base: Case, { problem, notYet }: TradeProblems, arena: Arena): Case {
  return base.map(({ fine, coarse, drift }, i) =>
    pairOn(
      [fine.lane.grid, coarse.lane.grid],
      i === 0 ? problem : (notYet as OneFactorProblem),
      arena,
      "window",
      drift,
    ),
  );
}

export const lanesOf = (one: Case): readonly Solving[] => one.flatMap(({ fine, coarse }) => [fine, coarse]);

function pairOn(
  [fine, coarse]: readonly [Grid, Grid],
  problem: OneFactorProblem,
  arena: Arena,
  reading: Reading,
  drift: number,
): Pair {
  return { fine: solvingOn(fine, problem, arena, reading), coarse: solvingOn(coarse, problem, arena, reading), drift };
}

function solvingOn(grid: Grid, problem: OneFactorProblem, arena: Arena, reading: Reading): Solving {
  return { lane: lane(grid, problem, arena, reading), values: undefined };
}

/**
 * A trade's problems at a resolution: on two meshes, and, where errors in space and in time may cancel each other in those or fall at rates of their own, once
 * more with the coarse time steps on the fine mesh. That tells the error in time from that in space.
 */
export class JudgedCase {
  readonly pairs: Case;
  readonly size: Resolution;
  private readonly inTime: readonly Solving[];

  constructor(problems: TradeProblems, size: Resolution, arena: Arena) {
    this.size = size;
    this.pairs = caseAt(problems, size, arena, "both");
    const fine = this.pairs.map((pair) => pair.fine.lane.grid);
    this.inTime = fine.some(({ problem }) => tellsTime(problem))
      ? fine.map((grid) => solvingOn(coarserInTime(grid, size), grid.problem, arena, "window"))
      : [];
  }

  get lanes(): readonly Solving[] {
    return [...lanesOf(this.pairs), ...this.inTime];
  }

  /** Today's value, and what its solutions say of each other. */
  judge(rounding: number): PointValue & Judged {
    const [{ fine }] = this.pairs;
    const drift = Math.max(...this.pairs.map((pair) => pair.drift));
    return {
      ...readCase(this.pairs, rounding),
      premium: premiumOf(fine, rounding),
      size: this.size,
      observed: { ...this.observed(fine.lane.grid.problem.spots[0], rounding), drift: 2 * drift },
      driftDominated: drift > 1,
    };
  }

  private observed(spot: number, rounding: number): Omit<Observed, "drift"> {
    const valueOf = (solved: readonly Solving[]): number =>
      difference(solved.map((one) => pointOf(one, rounding))).value;
    const [fine, coarse] = [
      valueOf(this.pairs.map((pair) => pair.fine)),
      valueOf(this.pairs.map((pair) => pair.coarse)),
    ];
    const leading = (a: number, b: number): number => Math.abs(a - b) / (3 * spot);
    const both = leading(fine, coarse);
    // Not told apart, either may be all of it.
    if (this.inTime.length === 0) return { inSpace: both, inTime: both, total: both };
    const between = valueOf(this.inTime);
    const [inSpace, inTime] = [leading(between, coarse), leading(fine, between)];
    return { inSpace, inTime, total: inSpace + inTime };
  }
}

/** Where exercise is early, there are barriers, or dividends large enough to need many nodes and steps both. */
function tellsTime(problem: OneFactorProblem): boolean {
  const { american, exerciseTimes, barriers } = problem;
  return american || exerciseTimes !== undefined || barriers !== undefined || hasLargeDividends(problem);
}

/** A case's value and sensitivities at today's spot, extrapolated. */
export function readCase(one: Case, rounding: number): PointValue {
  return difference(one.map((pair) => readPair(pair, rounding)));
}

/** A case's values at its spots after today's, extrapolated. */
export function readSpots([plus, minus]: Case, column: Float64Array): void {
  readPairAt(plus, column);
  if (minus === undefined) return;
  const less = new Float64Array(column.length);
  readPairAt(minus, less);
  for (let k = 0; k < column.length; k++) column[k] -= less[k];
}

/** The same of its fine solutions alone. */
export function readFine(one: readonly Solving[], rounding: number): PointValue {
  return difference(one.map((solving) => pointOf(solving, rounding)));
}

/** The fine lanes alone of shifted problems on the grids of others. */
export function fineOn(base: Case, { problem, notYet }: TradeProblems, arena: Arena): readonly Solving[] {
  return base.map(({ fine }, i) =>
    solvingOn(fine.lane.grid, i === 0 ? problem : (notYet as OneFactorProblem), arena, "window"),
  );
}

function difference([plus, minus]: readonly PointValue[]): PointValue {
  if (minus === undefined) return plus;
  return {
    value: plus.value - minus.value,
    delta: plus.delta - minus.delta,
    gamma: plus.gamma - minus.gamma,
    exercised: plus.exercised && minus.exercised,
  };
}

function pointOf(solving: Solving, rounding: number): PointValue {
  return pointValue(solving.lane.grid, valuesOf(solving), rounding);
}

function valuesOf({ values }: Solving): LaneValues {
  if (values === undefined) throw new Error("a lane is read before it is solved");
  return values;
}

function premiumOf({ lane: { grid }, values }: Solving, rounding: number): number {
  return values === undefined ? 0 : premiumAtBoundary(grid, values, rounding);
}

/** Richardson's extrapolation (4·fine − coarse)/3: both meshes have the kinks, and both schemes an h² expansion. */
function readPair(pair: Pair, rounding: number): PointValue {
  const { problem } = pair.fine.lane.grid;
  const [price] = problem.spots;
  const paid = knockedOutBy(problem, price);
  if (paid !== undefined) return knockedOutPoint(problem, paid);
  const fine = pointOf(pair.fine, rounding);
  if (fine.exercised || pair.drift > 1) return fine;
  const coarse = pointOf(pair.coarse, rounding);
  const value = further(fine.value, coarse.value);
  return {
    value: isExercisableNow(problem, price) ? Math.max(value, problem.payoff.exercised(price)) : value,
    delta: coarse.exercised ? fine.delta : further(fine.delta, coarse.delta),
    gamma: coarse.exercised ? fine.gamma : further(fine.gamma, coarse.gamma),
    exercised: false,
  };
}

const further = (fine: number, coarse: number): number => fine + (fine - coarse) / 3;

/** A pair's values alone, at the spots after today's: as `readPair` has them, and as many times faster as a ladder has spots. */
function readPairAt({ fine, coarse, drift }: Pair, column: Float64Array): void {
  const { grid } = fine.lane;
  const { problem } = grid;
  const paid = paidAt(problem, column.length);
  const coarser = new Float64Array(column.length);
  spotValues(grid, valuesOf(fine), paid, column);
  spotValues(coarse.lane.grid, valuesOf(coarse), paid, coarser);
  for (let k = 0; k < column.length; k++) {
    const there = coarser[k] === Number.POSITIVE_INFINITY ? paid[k] : coarser[k];
    if (column[k] === Number.POSITIVE_INFINITY) column[k] = problem.payoff.exercised(problem.spots[k + 1]);
    else if (drift <= 1) column[k] = Math.max(further(column[k], there), paid[k]);
  }
  if (problem.barriers === undefined) return;
  for (let k = 0; k < column.length; k++) {
    const out = knockedOutBy(problem, problem.spots[k + 1]);
    if (out !== undefined) column[k] = rebateValue(out, 0, problem);
  }
}

/** What exercise now pays at the spots after today's, −∞ where nobody may. Made once: a number that a function returns is an allocation. */
function paidAt(problem: OneFactorProblem, count: number): Float64Array {
  const paid = new Float64Array(count).fill(Number.NEGATIVE_INFINITY);
  const { american, exerciseTimes, payoff, spots } = problem;
  if (american || exerciseTimes !== undefined)
    for (let k = 0; k < count; k++)
      if (isExercisableNow(problem, spots[k + 1])) paid[k] = payoff.exercised(spots[k + 1]);
  return paid;
}
