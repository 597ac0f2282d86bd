/**
 * Trades whose value needs no solver, row by row of a batch: shared by the deterministic method and finite differences.
 */
import { integratedVariance } from "../../../market/index.ts";
import {
  isExercisableNow,
  isKnockedIn,
  knockedOutBy,
  knockedOutPoint,
  type KnockOut,
  type OneFactorProblem,
  type ProblemDifference,
  shiftedDifference,
  totalVariance,
} from "../../../pde/fdm/index.ts";
import { type ResultColumns, WARNING } from "../../columns/result-columns.ts";
import { slopeAcross } from "../../plan/greeks.ts";
import {
  type Acceptance,
  type Batch,
  type MethodPlan,
  type MethodSession,
  type PricingMethod,
  readEach,
} from "../../plan/method.ts";
import { deterministicValue } from "./path.ts";

const ROUNDING = 1e-13;

/**
 * Tells whether a row (a trade in one case of the scenarios) has no randomness, so that its value follows from a
 * deterministic path. This includes settled trades.
 */
export function isDeterministic({ columns, problems }: Batch, row: number): boolean {
  if (columns.settled[row] !== 0 || columns.expiry[row] === 0) return true;
  const sigma = columns.sigmaOf(row);
  if (sigma !== undefined) return integratedVariance(sigma, columns.expiry[row]) === 0;
  return totalVariance(problems.at(row).problem) === 0;
}

/**
 * Stores the value and sensitivities of a trade without volatility. Delta and rho are differences of values, theta is 0
 * where immediate exercise is optimal, and gamma and vega are 0. This is the limit σ → 0, except for a forward on a
 * kink or a barrier.
 */
export function readDeterministic(problems: ProblemDifference, trade: number, results: ResultColumns): void {
  const { problem } = problems;
  const spot = problem.spots[0];
  const paid = knockedOutBy(problem, spot);
  if (paid !== undefined) {
    readKnockedOut(problem, paid, trade, results);
    return;
  }
  const value = deterministicValue(problems, spot);
  const { delta, width, isBent, bend } = deltaOf(problems, spot);
  if (isBent) results.warnings[trade] |= WARNING.bentAtSpot;
  const rateShifted = (rate: number): number =>
    deterministicValue(shiftedDifference(problems, { volatility: 0, rate }), spot);
  const rho = problem.expiry === 0 ? 0 : (rateShifted(0.5 * RATE_WIDTH) - rateShifted(-0.5 * RATE_WIDTH)) / RATE_WIDTH;
  const error = ROUNDING * (Math.abs(value) + spot);
  const { rates, dividendYield } = problem;
  const [rate] = rates.values;
  const ofDelta = (2 * error) / width + bend;
  results.setToday(
    trade,
    value,
    error,
    { delta, gamma: 0, theta: thetaOf(problem, value, delta), vega: 0, rho },
    {
      delta: ofDelta,
      gamma: 0,
      theta: Math.abs(rate) * 2 * error + Math.abs(rate - dividendYield) * spot * ofDelta,
      vega: 0,
      rho: (2 * error) / RATE_WIDTH,
    },
  );
  results.priced(trade, problem.expiry === 0 ? "payoff" : "deterministic");
}

/** The difference of rates between the two values that rho is taken from. */
const RATE_WIDTH = 2e-6;

/**
 * Stores the value and sensitivities of a trade whose barrier has been breached. They do not depend on spot or
 * volatility, and a rebate paid at expiry is a zero-coupon bond.
 */
export function readKnockedOut(
  problem: OneFactorProblem,
  barrier: KnockOut,
  trade: number,
  results: ResultColumns,
): void {
  const { value, exercised } = knockedOutPoint(problem, barrier);
  const theta = exercised ? 0 : problem.rates.values[0] * value;
  const rho = exercised ? 0 : -problem.expiry * value + 0;
  const none = { delta: 0, gamma: 0, vega: 0 };
  const errors = { ...none, theta: 1e-14 * Math.abs(theta), rho: 1e-14 * Math.abs(rho) };
  results.setToday(trade, value, 1e-14 * value, { ...none, theta, rho }, errors);
  results.priced(trade, "knocked-out");
}

/** Stores the values of a row without volatility at the spots of the scenarios. */
export function readKnownScenarios(problems: ProblemDifference, row: number, results: ResultColumns): void {
  const { spots } = problems.problem;
  results.setScenarios(
    row,
    (k) => deterministicValue(problems, spots[k + 1]),
    (k, value) => ROUNDING * (Math.abs(value) + spots[k + 1]),
  );
}

/** A delta by differences. */
interface KnownDelta {
  readonly delta: number;
  /** The distance between the two spots. */
  readonly width: number;
  /** True where the value bends or jumps at the spot. */
  readonly isBent: boolean;
  /** The error that the bend leaves; NaN at a jump. */
  readonly bend: number;
}

/** A difference to either side of the spot, or to the one where no barrier of today is. */
function deltaOf(problems: ProblemDifference, spot: number): KnownDelta {
  const { problem, subtracted } = problems;
  const isHit = (at: number): boolean => knockedOutBy(subtracted ?? problem, at) !== undefined;
  const onSide = (at: number): boolean =>
    isHit(at) === isHit(spot) && isKnockedIn(problem, at) === isKnockedIn(problem, spot);
  let bump = 1e-6 * spot;
  while (!onSide(spot - bump) && !onSide(spot + bump)) bump /= 8;
  const [down, up] = [onSide(spot - bump) ? spot - bump : spot, onSide(spot + bump) ? spot + bump : spot];
  const width = up - down;
  const value = (at: number): number => deterministicValue(problems, at);
  if (down < spot && up > spot && onSide(spot - 2 * bump) && onSide(spot + 2 * bump)) {
    const { slope, isBent, error } = slopeAcross(value, spot, bump);
    return { delta: slope, width, isBent, bend: error };
  }
  return { delta: (value(up) - value(down)) / width, width, isBent: false, bend: 0 };
}

/** dV/dt by the PDE without diffusion, V_t = r·V − (r − q)·S·V_S. */
function thetaOf(problem: OneFactorProblem, value: number, delta: number): number {
  const spot = problem.spots[0];
  if (problem.expiry === 0 || (isExercisableNow(problem, spot) && value <= problem.payoff.exercised(spot))) return 0;
  const rate = problem.rates.values[0];
  return rate * value - (rate - problem.dividendYield) * spot * delta;
}

/** The time in microseconds that the value of a path takes on one core. */
const COST = 5;

/**
 * The method for trades without randomness in any case of the scenarios, because they have no volatility or expire. The
 * spot follows its forward (`deterministicValue`).
 *
 * Error: rounding. Cost: some evaluations of the payoff on the host, in f64 whatever the device. Verified:
 * test/pricing/limits.test.ts, test/pricing/degenerate.test.ts.
 */
export const deterministic = {
  name: "deterministic",
  minCost: COST,
  accepts,
  open: () => session,
} as const satisfies PricingMethod;

function accepts(batch: Batch, trade: number): Acceptance {
  const { columns } = batch;
  const beyond = columns.beyondEquations(trade);
  if (beyond !== undefined) return beyond;
  if (columns.severalFactors[trade] !== 0) return "several factors";
  const first = columns.rowOf(trade);
  for (let row = first; row < first + columns.cases.count; row++)
    if (!isDeterministic(batch, row)) return "volatility, and time left";
  return COST * columns.cases.count * (1 + columns.cases.spots);
}

const session: MethodSession = {
  plan: (batch, trades) => Promise.resolve(planOf(batch, trades)),
  [Symbol.dispose]() {},
};

/** There is nothing to launch: values are computed as they are read. */
function planOf({ columns, problems }: Batch, trades: readonly number[]): MethodPlan {
  const readTrade = (trade: number, results: ResultColumns): void => {
    const first = columns.rowOf(trade);
    readDeterministic(problems.at(first), trade, results);
    if (columns.cases.scenarios === undefined) return;
    for (let row = first; row < first + columns.cases.count; row++)
      if (columns.settled[row] === 0) readKnownScenarios(problems.at(row), row, results);
  };
  return {
    run: () => Promise.resolve(),
    read: (results, signal) => readEach(trades, results, signal, readTrade),
    [Symbol.dispose]() {},
  };
}

/**
 * Tells whether the value is known without a solver, because nothing is random or every spot has breached a barrier.
 */
export function isKnown(problem: OneFactorProblem): boolean {
  if (problem.expiry === 0 || totalVariance(problem) === 0) return true;
  return problem.spots.every((spot) => knockedOutBy(problem, spot) !== undefined);
}

/**
 * Returns the knock-out that today's spot has breached; undefined if there is none. The spots of scenarios need not
 * have breached it.
 */
export function breachedNow(problem: OneFactorProblem): KnockOut | undefined {
  return knockedOutBy(problem, problem.spots[0]);
}
