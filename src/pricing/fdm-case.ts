import {
  type Arena,
  boundaryNoise,
  coarserInTime,
  driftExcess,
  type Grid,
  grids,
  gridsOn,
  hasLargeDividends,
  isExercisableNow,
  knockedOutBy,
  instance,
  type Instance,
  type InstanceValues,
  type OneFactorProblem,
  type PointValue,
  pointValue,
  premiumAtBoundary,
  type Reading,
  rebateValue,
  type Resolution,
  spotValues,
} from "../fdm/index.ts";
import type { Assessed } from "./error-estimate.ts";
import { knockedOutPoint } from "./knocked-out.ts";
import type { Observed } from "./resolution.ts";
import type { TradeProblems } from "./trade-barriers.ts";

/** An instance, and its values once it has been solved. */
export interface Solving {
  readonly instance: Instance;
  values: InstanceValues | undefined;
}

/** Two instances that extrapolation makes one value of: a fine one, and one with every second node and half the time steps. */
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
      [fine.instance.grid, coarse.instance.grid],
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
  return { instance: instance(grid, problem, arena, reading), values: undefined };
}

/**
 * A trade's problems at a resolution: on two meshes, and, where errors in space and in time may cancel each other in those or fall at rates of their own, once
 * more with the coarse time steps on the fine mesh. That tells the error in time from that in space.
 */
export class AssessedCase {
  readonly pairs: Case;
  readonly size: Resolution;
  private readonly inTime: readonly Solving[];
  private readonly noiseAt: ((spot: number) => number) | undefined;

  constructor(problems: TradeProblems, size: Resolution, arena: Arena, reading: "both" | "points") {
    this.size = size;
    this.pairs = caseAt(problems, size, arena, reading);
    const fine = this.pairs.map((pair) => pair.fine.instance.grid);
    const reads = reading === "points" || problems.problem.spots.length > 1 ? reading : "window";
    this.inTime = fine.some(({ problem }) => tellsTime(problem))
      ? fine.map((grid) => solvingOn(coarserInTime(grid, size), grid.problem, arena, reads))
      : [];
    this.noiseAt = boundaryNoise(fine[0]);
  }

  get instances(): readonly Solving[] {
    return [...lanesOf(this.pairs), ...this.inTime];
  }

  private get drift(): number {
    return Math.max(...this.pairs.map((pair) => pair.drift));
  }

  /** Today's value, and what its solutions say of each other. */
  assess(rounding: number): PointValue & Assessed {
    const [{ fine }] = this.pairs;
    const [spot] = fine.instance.grid.problem.spots;
    const valueOf = (solved: readonly Solving[]): number =>
      difference(solved.map((one) => pointOf(one, rounding))).value;
    const point = readCase(this.pairs, rounding);
    const { size } = this;
    if (knockedOutBy(fine.instance.grid.problem, spot) !== undefined)
      return { ...point, size, observed: NOTHING, exercised: true, driftDominated: false };
    return {
      ...point,
      size,
      observed: observed(
        spot,
        valueOf(this.pairs.map((pair) => pair.fine)),
        valueOf(this.pairs.map((pair) => pair.coarse)),
        this.inTime.length === 0 ? undefined : valueOf(this.inTime),
        this.noiseToday(spot, point, rounding),
        this.drift,
      ),
      driftDominated: this.drift > 1,
    };
  }

  /**
   * A part of the largest premium over the payoff where no formula tells; none where the payoff is all that is left on
   * the nodes about the spot, for the boundary is not near.
   */
  private noiseToday(spot: number, { exercised }: PointValue, rounding: number): number {
    const [{ fine }] = this.pairs;
    if (this.noiseAt === undefined) return premiumOf(fine, rounding) / 8;
    return exercised && premiumOf(fine, rounding) === 0 ? 0 : this.noiseAt(spot);
  }

  /** The same of the spots after today's, if there are some. */
  assessSpots(): AssessedSpots | undefined {
    const [{ fine: one }] = this.pairs;
    const { spots } = one.instance.grid.problem;
    if (spots.length < 2) return undefined;
    const [fines, coarses] = [
      this.pairs.map((pair) => spotColumn(pair.fine)),
      this.pairs.map((pair) => spotColumn(pair.coarse)),
    ];
    const [fine, coarse] = [fines.reduce(lessColumn), coarses.reduce(lessColumn)];
    const between = this.inTime.length === 0 ? undefined : this.inTime.map(spotColumn).reduce(lessColumn);
    const { values } = this.pairs.map((pair, i) => extrapolated(pair, fines[i], coarses[i])).reduce(lessColumn);
    const { drift, size } = this;
    return {
      values,
      at: (k) => {
        const spot = spots[k + 1];
        const exercised = fine.exercised[k] !== 0;
        // Exercised on both meshes: the boundary is not near.
        const noise = exercised && coarse.exercised[k] !== 0 ? 0 : (this.noiseAt?.(spot) ?? 0);
        return {
          value: values[k],
          exercised,
          size,
          observed: observed(spot, fine.values[k], coarse.values[k], between?.values[k], noise, drift),
          driftDominated: drift > 1,
        };
      },
    };
  }
}

/** Values at the spots after today's, and what each solution says of the others there. */
export interface AssessedSpots {
  readonly values: Float64Array;
  at(k: number): Assessed;
}

const NOTHING: Observed = { inSpace: 0, inTime: 0, total: 0, noise: 0, drift: 0 };

/**
 * The leading errors that a fine and a coarse solution show, as parts of the spot, and with coarse time steps on the
 * fine mesh each by itself; `noise` in the currency.
 */
function observed(
  spot: number,
  fine: number,
  coarse: number,
  between: number | undefined,
  noise: number,
  drift: number,
): Observed {
  const leading = (a: number, b: number): number => Math.abs(a - b) / (3 * spot);
  const rest = { noise: noise / spot, drift: 2 * drift };
  if (between === undefined) {
    // Not told apart, either may be all of it.
    const both = leading(fine, coarse);
    return { inSpace: both, inTime: both, total: both, ...rest };
  }
  const [inSpace, inTime] = [leading(between, coarse), leading(fine, between)];
  return { inSpace, inTime, total: inSpace + inTime, ...rest };
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

/** The same of its fine solutions alone. */
export function readFine(one: readonly Solving[], rounding: number): PointValue {
  return difference(one.map((solving) => pointOf(solving, rounding)));
}

/** The fine instances alone of shifted problems on the grids of others. */
export function fineOn(base: Case, { problem, notYet }: TradeProblems, arena: Arena): readonly Solving[] {
  return base.map(({ fine }, i) =>
    solvingOn(fine.instance.grid, i === 0 ? problem : (notYet as OneFactorProblem), arena, "window"),
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
  return pointValue(solving.instance.grid, valuesOf(solving), rounding);
}

function valuesOf({ values }: Solving): InstanceValues {
  if (values === undefined) throw new Error("an instance is read before it is solved");
  return values;
}

function premiumOf({ instance: { grid }, values }: Solving, rounding: number): number {
  return values === undefined ? 0 : premiumAtBoundary(grid, values, rounding);
}

/** Richardson's extrapolation (4·fine − coarse)/3: both meshes have the kinks, and both schemes an h² expansion. */
function readPair(pair: Pair, rounding: number): PointValue {
  const { problem } = pair.fine.instance.grid;
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

/**
 * One solution's values at the spots after today's, where exercise is optimal at once and where a barrier has been hit
 * what they pay.
 */
interface SpotColumn {
  readonly values: Float64Array;
  /** 1 where exercise is optimal at once. */
  readonly exercised: Uint8Array;
}

function spotColumn(solving: Solving): SpotColumn {
  const { grid } = solving.instance;
  const { problem } = grid;
  const count = problem.spots.length - 1;
  const [values, exercised] = [new Float64Array(count), new Uint8Array(count)];
  spotValues(grid, valuesOf(solving), paidAt(problem, count), values);
  for (let k = 0; k < count; k++) {
    const spot = problem.spots[k + 1];
    const out = problem.barriers === undefined ? undefined : knockedOutBy(problem, spot);
    if (out !== undefined) values[k] = rebateValue(out, 0, problem);
    else if (values[k] === Number.POSITIVE_INFINITY) {
      values[k] = problem.payoff.exercised(spot);
      exercised[k] = 1;
    }
  }
  return { values, exercised };
}

const lessColumn = (plus: SpotColumn, minus: SpotColumn): SpotColumn => ({
  values: plus.values.map((value, k) => value - minus.values[k]),
  exercised: plus.exercised,
});

/** A pair's values at the spots after today's, as `readPair` has today's. */
function extrapolated(
  {
    fine: {
      instance: { grid },
    },
    drift,
  }: Pair,
  fine: SpotColumn,
  coarse: SpotColumn,
): SpotColumn {
  if (drift > 1) return fine;
  const { exercised } = fine;
  const paid = paidAt(grid.problem, exercised.length);
  const values = fine.values.map((value, k) =>
    exercised[k] === 0 ? Math.max(further(value, coarse.values[k]), paid[k]) : value,
  );
  return { values, exercised };
}

/** What exercise now pays at the spots after today's, −∞ where nobody may. Made once: a number that a function returns is an allocation. */
function paidAt(problem: OneFactorProblem, count: number): Float64Array {
  const paid = new Float64Array(count).fill(Number.NEGATIVE_INFINITY);
  const { american, exerciseTimes, payoff, spots } = problem;
  if (!american && exerciseTimes === undefined) return paid;
  for (let k = 0; k < count; k++) {
    const spot = spots[k + 1];
    if (isExercisableNow(problem, spot) && knockedOutBy(problem, spot) === undefined) paid[k] = payoff.exercised(spot);
  }
  return paid;
}
