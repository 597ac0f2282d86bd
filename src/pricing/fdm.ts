import type { Scenarios } from "../book/index.ts";
import { DeviceLostError } from "../errors.ts";
import {
  type Arena,
  driftDominates,
  type Grid,
  grids,
  gridsOn,
  isExercisableNow,
  knockedOutBy,
  lane,
  type Lane,
  type LaneSolver,
  type LaneValues,
  type OneFactorProblem,
  type PointValue,
  pointValue,
  type Resolution,
  shiftedProblem,
  totalVariance,
  volatilityAt,
} from "../fdm/index.ts";
import type { Precision } from "../kernel/index.ts";
import { pdeTheta } from "./black-scholes.ts";
import { deterministicValuation, deterministicValue } from "./deterministic.ts";
import { knockedOutGreeks, knockedOutPoint } from "./knocked-out.ts";
import type { Settings } from "./options.ts";
import { type Cases, isDeterministic, scenarioValues, type Valuation } from "./plan.ts";
import type { TradeProblems } from "./trade-barriers.ts";

/** What is solved for one trade: lanes in order, and how to read their values. */
export interface FdmPlan {
  readonly lanes: readonly Lane[];
  /** `values` as the lanes', in their order, from `first` on. */
  read(values: readonly LaneValues[], first: number): Valuation;
}

/**
 * Nodes and steps for an accuracy, as a part of the spot. At 161 × 48 the largest error on the reference cases is about 1e-5,
 * the median 1e-6; the error of the extrapolated value falls at least as the square of the mesh width.
 */
export function resolution(accuracy: number, mostNodes: number): Resolution {
  const refinement = Math.sqrt(1e-5 / accuracy);
  const nodes = Math.min(Math.max(Math.round(40 * refinement), 16), Math.floor((mostNodes - 1) / 4)) * 4 + 1;
  return { nodes, steps: Math.max(1, Math.round(2 * refinement)) * 24 };
}

/**
 * One solve serves every spot; each time, volatility and rate of the scenarios is a problem of its own, solved on a fine and a
 * coarse mesh. Vega and rho are differences of further solutions on the fine mesh.
 */
export function fdmPlan(
  all: Cases,
  scenarios: Scenarios | undefined,
  settings: Settings,
  precision: Precision,
  size: Resolution,
  arena: Arena,
): FdmPlan {
  const lanes: Lane[] = [];
  const add = (made: Lane): number => lanes.push(made) - 1;
  const cases = all.map((one) => one && caseOf(one, size, add, arena));
  const base = cases[0] as Case;
  const [problems] = all;
  const { problem } = problems;
  const paid = knockedOutBy(problem, problem.spots[0]);
  const bumps =
    settings.greeks === "all" && base.kind === "solved" && paid === undefined
      ? bumpsOf(base, problems, precision, add, arena)
      : undefined;
  const rounding = precision === "f32" ? 2e-6 : 1e-12;
  return {
    lanes,
    read(every, first) {
      const values = first === 0 && every.length === lanes.length ? every : every.slice(first, first + lanes.length);
      const at = (index: number, spot: number): number => readCase(cases[index] ?? base, values, spot, rounding).value;
      const ladder = scenarios === undefined ? {} : { scenarios: scenarioValues(scenarios, all, at) };
      if (base.kind === "deterministic") return { ...deterministicValuation([problems], undefined), ...ladder };
      const point = readCase(base, values, 0, rounding);
      return {
        value: point.value,
        ...sensitivities(problem, settings, point),
        vega: bumps === undefined ? null : bumps.vega(values, rounding),
        rho: bumps === undefined ? null : bumps.rho(values, rounding),
        ...(paid === undefined
          ? { errorEstimate: errorEstimate(problems, point, precision), method: "fdm" }
          : knockedOutGreeks(problem, paid)),
        warnings: point.driftDominated ? ["drift dominates diffusion: the scheme is of first order"] : [],
        ...ladder,
      };
    },
  };
}

/** A problem on its two meshes. */
interface Solution {
  readonly fine: Grid;
  readonly coarse: Grid;
  readonly fineLane: number;
  readonly coarseLane: number;
}

/** A shift of the market: solved on two meshes, or known without: no volatility, or all spots knocked out. */
type Case =
  | { readonly kind: "solved"; readonly plus: Solution; readonly minus: Solution | undefined }
  | { readonly kind: "deterministic"; readonly problems: TradeProblems };

/** What a knock-in lacks is solved on the mesh of the rest, so that their errors cancel where it is far away. */
function caseOf(problems: TradeProblems, size: Resolution, add: (lane: Lane) => number, arena: Arena): Case {
  const { problem, notYet } = problems;
  const isKnockedOut = (spot: number): boolean => knockedOutBy(problem, spot) !== undefined;
  if (isDeterministic(problem) || problem.spots.every(isKnockedOut)) return { kind: "deterministic", problems };
  const solution = ([fine, coarse]: readonly [Grid, Grid]): Solution => ({
    fine,
    coarse,
    fineLane: add(lane(fine, fine.problem, arena)),
    coarseLane: add(lane(coarse, coarse.problem, arena)),
  });
  if (notYet === undefined) return { kind: "solved", plus: solution(grids(problem, size, arena)), minus: undefined };
  const both = grids(notYet, size, arena);
  return {
    kind: "solved",
    plus: solution(gridsOn(problem, both[0].mesh, size, arena)),
    minus: solution(both),
  };
}

interface Errors {
  /** A third of the difference of the two solutions: the leading error of the finer one, with its sign. */
  readonly difference: number;
  readonly driftDominated: boolean;
}

function readCase(one: Case, values: readonly LaneValues[], spot: number, rounding: number): PointValue & Errors {
  if (one.kind === "deterministic") {
    const { problem } = one.problems;
    const paid = knockedOutBy(problem, problem.spots[spot]);
    if (paid !== undefined) return { ...knockedOutPoint(problem, paid), difference: 0, driftDominated: false };
    const value = deterministicValue(one.problems, problem.spots[spot]);
    return { value, delta: Number.NaN, gamma: Number.NaN, exercised: false, difference: 0, driftDominated: false };
  }
  const plus = readSolution(one.plus, values, spot, rounding);
  if (one.minus === undefined) return plus;
  const minus = readSolution(one.minus, values, spot, rounding);
  return {
    value: plus.value - minus.value,
    delta: plus.delta - minus.delta,
    gamma: plus.gamma - minus.gamma,
    exercised: plus.exercised && minus.exercised,
    difference: plus.difference - minus.difference,
    driftDominated: plus.driftDominated || minus.driftDominated,
  };
}

/** Richardson's extrapolation (4·fine − coarse)/3: both meshes have the kinks, and both schemes an h² expansion. */
function readSolution(
  one: Solution,
  values: readonly LaneValues[],
  spot: number,
  rounding: number,
): PointValue & Errors {
  const { problem } = one.fine;
  const paid = knockedOutBy(problem, problem.spots[spot]);
  if (paid !== undefined) return { ...knockedOutPoint(problem, paid), difference: 0, driftDominated: false };
  const fine = pointValue(one.fine, values[one.fineLane], spot, rounding);
  const coarse = pointValue(one.coarse, values[one.coarseLane], spot, rounding);
  const difference = (fine.value - coarse.value) / 3;
  const driftDominated = driftDominates(one.fine);
  if (fine.exercised || driftDominated) return { ...fine, difference, driftDominated };
  const extrapolated = (f: number, c: number): number => f + (f - c) / 3;
  const value = extrapolated(fine.value, coarse.value);
  return {
    value: isExercisableNow(problem) ? Math.max(value, problem.payoff.exercised(problem.spots[spot])) : value,
    delta: coarse.exercised ? fine.delta : extrapolated(fine.delta, coarse.delta),
    gamma: coarse.exercised ? fine.gamma : extrapolated(fine.gamma, coarse.gamma),
    exercised: false,
    difference,
    driftDominated,
  };
}

function sensitivities(
  problem: OneFactorProblem,
  { greeks }: Settings,
  point: PointValue,
): Pick<Valuation, "delta" | "gamma" | "theta"> {
  if (greeks === "none") return { delta: null, gamma: null, theta: null };
  const { value, delta, gamma, exercised } = point;
  const sigma = volatilityAt(problem.diffusion, problem.spots[0], 0);
  return { delta, gamma, theta: exercised ? 0 : pdeTheta(problem, value, delta, gamma, sigma) };
}

type Difference = (values: readonly LaneValues[], rounding: number) => number;

interface Bumps {
  readonly vega: Difference;
  readonly rho: Difference;
}

/**
 * Vega and rho. A European solution is smooth in its parameters: a forward difference with a tiny step serves in f64. The exercise
 * boundary moves from node to node as they change, which leaves noise of about 1e-6 of spot in the value: there, and in f32,
 * differences are central and wide. Measured on the reference cases, in units of S·√T: 95 % within 3e-4, against 1.3e-3 with the tiny step.
 */
function bumpsOf(
  base: Case & { kind: "solved" },
  problems: TradeProblems,
  precision: Precision,
  add: (lane: Lane) => number,
  arena: Arena,
): Bumps {
  const { problem } = problems;
  const sigma = Math.sqrt(totalVariance(problem) / problem.expiry);
  const forward = precision !== "f32" && !problem.american && problem.exerciseTimes === undefined;
  const sizes = forward
    ? { volatility: 1e-4 * sigma, rate: 1e-6 }
    : precision !== "f32"
      ? { volatility: 0.02 * sigma, rate: 0.002 }
      : { volatility: 0.05 * sigma, rate: 0.005 };
  const differenceOf = ({ fine, fineLane }: Solution, volatility: number, rate: number): Difference => {
    const moved = (sign: number): number =>
      add(lane(fine, shiftedProblem(fine.problem, { volatility: sign * volatility, rate: sign * rate }), arena));
    const up = moved(1);
    const down = forward ? fineLane : moved(-1);
    const width = (forward ? 1 : 2) * (volatility + rate);
    return (values, rounding) => {
      const [above, below] = [pointValue(fine, values[up], 0, rounding), pointValue(fine, values[down], 0, rounding)];
      return (above.value - below.value) / width;
    };
  };
  const isKnockedIn = problems.notYet !== undefined && knockedOutBy(problems.notYet, problem.spots[0]) !== undefined;
  const difference = (volatility: number, rate: number): Difference => {
    const plus = differenceOf(base.plus, volatility, rate);
    if (base.minus === undefined || isKnockedIn) return plus;
    const minus = differenceOf(base.minus, volatility, rate);
    return (values, rounding) => plus(values, rounding) - minus(values, rounding);
  };
  return { vega: difference(sizes.volatility, 0), rho: difference(0, sizes.rate) };
}

/**
 * From the leading error of the finer solution: extrapolation removes nearly all of it where the solution is smooth, and about
 * nine tenths where an exercise boundary falls among the nodes. The parts of it below are those that hold the true error on more
 * than 95 % of the reference cases (test/pricing/reference.test.ts), and of random trades.
 */
function errorEstimate(
  { problem, notYet }: TradeProblems,
  { value, difference: signed, exercised, driftDominated }: PointValue & Errors,
  precision: Precision,
): number {
  const difference = Math.abs(signed);
  const spot = problem.spots[0];
  const rounding = precision === "f32" ? 3e-6 * spot + 8e-6 * Math.abs(value) : 1e-12 * (spot + Math.abs(value));
  // Next to the exercise boundary holding on is worth a little more than the nodes show.
  if (exercised) return 5e-8 * spot + rounding;
  if (driftDominated) return 9 * difference + 1e-5 * spot;
  // Of the next order, and no more than the leading one: what is left on meshes too coarse for their problem.
  const beyond = Math.min(difference, (difference * difference) / (4e-4 * spot));
  if (problem.american || problem.exerciseTimes !== undefined || problem.payoff.exerciseSide === "unknown")
    return 0.5 * difference + beyond + 2e-6 * spot + rounding;
  const { barriers = [], dividends } = notYet ?? problem;
  if (barriers.length > 0 && (dividends.length > 0 || barriers.some(({ times }) => times !== undefined)))
    return 0.3 * difference + beyond + 1e-6 * spot + rounding;
  return (problem.dividends.length > 0 ? 0.3 : 0.03) * difference + beyond + 5e-8 * spot + rounding;
}

/**
 * Solves all plans' lanes together; each result is a function that reads it, or throws what went wrong. If solving them together
 * fails for another reason than the device's loss, each is solved by itself: one bad formula must not take the others along.
 */
export async function fdmValuations(
  plans: readonly FdmPlan[],
  solver: LaneSolver,
  signal: AbortSignal | undefined,
): Promise<(() => Valuation)[]> {
  if (plans.length === 0) return [];
  try {
    return await solvedTogether(plans, solver, signal);
  } catch (error) {
    if (error instanceof DeviceLostError || signal?.aborted === true) throw error;
    if (plans.length === 1) return [() => rethrow(error)];
    const alone: (() => Valuation)[] = [];
    for (const plan of plans) alone.push(...(await fdmValuations([plan], solver, signal)));
    return alone;
  }
}

function rethrow(error: unknown): never {
  throw error;
}

async function solvedTogether(
  plans: readonly FdmPlan[],
  solver: LaneSolver,
  signal: AbortSignal | undefined,
): Promise<(() => Valuation)[]> {
  const lanes: Lane[] = [];
  const firsts = plans.map((plan) => {
    const first = lanes.length;
    for (const one of plan.lanes) lanes.push(one);
    return first;
  });
  const values = await solver.solve(lanes, signal);
  return plans.map((plan, i) => () => plan.read(values, firsts[i]));
}
