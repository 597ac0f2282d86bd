import type { Scenarios } from "../book/index.ts";
import {
  eventsOf,
  isExercisableNow,
  isKnockedIn,
  isPast,
  isMonitored,
  isMonitoredBetween,
  knockedOutBy,
  type KnockOut,
  type OneFactorProblem,
  rebateValue,
  SAME_DATE,
  type MonitoredLevel,
} from "../fdm/index.ts";
import { afterDividend, integrate } from "../market/index.ts";
import type { PayoffProfile } from "../products/index.ts";
import { knockedOutGreeks, knockedOutPoint } from "./knocked-out.ts";
import { type Cases, ladderOf, type Valuation } from "./plan.ts";
import { shiftedProblems, type TradeProblems } from "./trade-barriers.ts";

/**
 * Without volatility, or at expiry, the spot follows F(t) = S·exp(∫(r − q)) with its dividends, and
 *
 *   V = e^{−R(T)}·payoff(F(T)),   American: V = max over 0 ≤ t ≤ T of e^{−R(t)}·payoff(F(t)), just before dividends too,
 *
 * up to the time at which F hits a barrier, which then pays its rebate, and not before a knock-in that early exercise has to wait for.
 *
 * Delta, gamma and rho are differences of that, theta is 0 where exercise is optimal at once, vega is 0: the limit σ → 0
 * everywhere but at a forward on a kink or a barrier. Every case has to be deterministic.
 */
export function deterministicValuation(cases: Cases, scenarios: Scenarios | undefined): Valuation {
  const [problems] = cases;
  const { problem } = problems;
  const spot = problem.spots[0];
  const value = deterministicValue(problems, spot);
  const paid = knockedOutBy(problem, spot);
  const rateShifted = (rate: number): number =>
    deterministicValue(shiftedProblems(problems, { volatility: 0, rate }), spot);
  return {
    value,
    delta: paid === undefined ? delta(problems, spot) : 0,
    gamma: 0,
    theta: paid === undefined ? theta(problems, value) : paidTheta(problem, paid),
    vega: 0,
    rho: problem.expiry === 0 ? 0 : (rateShifted(1e-6) - rateShifted(-1e-6)) / 2e-6,
    errorEstimate: ROUNDING * (Math.abs(value) + spot),
    method: problem.expiry === 0 ? "payoff" : "deterministic",
    warnings: [],
    ...(paid === undefined ? {} : knockedOutGreeks(problem, paid)),
    ...(scenarios === undefined
      ? {}
      : ladderOf(scenarios, cases, (index, column) => knownValues(cases[index] ?? problems, column))),
  };
}

const ROUNDING = 1e-13;

/** Puts the values at the spots after today's into a column; returns the largest of their error estimates. */
export function knownValues(problems: TradeProblems, column: Float64Array): number {
  const { spots } = problems.problem;
  let largest = 0;
  for (let k = 0; k < column.length; k++) {
    column[k] = deterministicValue(problems, spots[k + 1]);
    largest = Math.max(largest, ROUNDING * (Math.abs(column[k]) + spots[k + 1]));
  }
  return largest;
}

/** A difference to either side of the spot, or to the one where no barrier of today is. */
function delta(problems: TradeProblems, spot: number): number {
  const { problem, notYet } = problems;
  const isHit = (at: number): boolean => knockedOutBy(notYet ?? problem, at) !== undefined;
  const onSide = (at: number): boolean =>
    isHit(at) === isHit(spot) && isKnockedIn(problem, at) === isKnockedIn(problem, spot);
  let bump = 1e-6 * spot;
  while (!onSide(spot - bump) && !onSide(spot + bump)) bump /= 8;
  const [down, up] = [onSide(spot - bump) ? spot - bump : spot, onSide(spot + bump) ? spot + bump : spot];
  return (deterministicValue(problems, up) - deterministicValue(problems, down)) / (up - down);
}

/** dV/dt by the PDE without diffusion, V_t = r·V − (r − q)·S·V_S. */
function theta(problems: TradeProblems, value: number): number {
  const { problem } = problems;
  const spot = problem.spots[0];
  if (problem.expiry === 0 || (isExercisableNow(problem, spot) && value <= problem.payoff.exercised(spot))) return 0;
  const rate = problem.rates.values[0];
  return rate * value - (rate - problem.dividendYield) * spot * delta(problems, spot);
}

function paidTheta(problem: OneFactorProblem, barrier: KnockOut): number {
  const { value, exercised } = knockedOutPoint(problem, barrier);
  return exercised ? 0 : problem.rates.values[0] * value;
}

/** The value for one spot; the problems may be shifted, but have no volatility. */
export function deterministicValue({ problem, notYet }: TradeProblems, spot: number): number {
  return valueOnPath(problem, spot) - (notYet === undefined ? 0 : valueOnPath(notYet, spot));
}

function valueOnPath(problem: OneFactorProblem, spot: number): number {
  const { expiry, payoff, american, rates, dividendYield } = problem;
  const paid = knockedOutBy(problem, spot);
  if (paid !== undefined) return rebateValue(paid, 0, problem);
  const events = eventsOf(problem);
  const discount = (t: number): number => Math.exp(-integrate(rates, t));
  const dates = [
    ...new Set([0, ...rates.times.filter((time) => time < expiry), ...events.map(({ time }) => time), expiry]),
  ];
  dates.sort((a, b) => a - b);
  let best = isExercisableNow(problem, spot) ? payoff.exercised(spot) : Number.NEGATIVE_INFINITY;
  let isIn = isKnockedIn(problem, spot);
  let price = spot;
  for (let i = 1; i < dates.length; i++) {
    const [from, to] = [dates[i - 1], dates[i]];
    const start = price;
    const forward = (t: number): number =>
      start * Math.exp(integrate(rates, t) - integrate(rates, from) - dividendYield * (t - from));
    const hit = firstHit(problem.barriers, problem, forward, from, to);
    const end = hit?.time ?? to;
    const entry = isIn ? from : (firstHit(problem.knockIns?.levels, problem, forward, from, to)?.time ?? Infinity);
    // What is hit at once in and out is out.
    isIn ||= entry < end || (hit === undefined && entry === end);
    if (american && isIn) best = Math.max(best, bestExercise(payoff, { discount, forward }, entry, end));
    if (hit !== undefined) return Math.max(best, discount(end) * rebateValue(hit.barrier, end, problem));
    price = forward(to);
    const event = events.find(({ time }) => time === to);
    if (event?.dividend !== undefined) price = afterDividend(price, event.dividend);
    const monitored = problem.barriers?.findLast(
      (barrier) => isPast(barrier, price) && isMonitored(barrier, to, expiry),
    );
    const isHitNow = (level: MonitoredLevel): boolean => isPast(level, price) && isMonitored(level, to, expiry);
    isIn ||= problem.knockIns?.levels.some(isHitNow) === true;
    if (monitored !== undefined) return Math.max(best, discount(to) * rebateValue(monitored, to, problem));
    const isExerciseDate = problem.exerciseTimes?.some((time) => Math.abs(time - to) <= SAME_DATE * expiry) === true;
    if (isExerciseDate && isIn && to < expiry) best = Math.max(best, discount(to) * payoff.exercised(price));
  }
  if (!isIn) return discount(expiry) * (problem.knockIns?.rebate ?? 0);
  const mayExercise = american || problem.exerciseTimes !== undefined;
  return Math.max(best, discount(expiry) * (mayExercise ? payoff.exercised(price) : payoff.value(price)));
}

/** Where the path first comes to a barrier that is monitored from one date to the next; it is monotone in between. */
function firstHit<Level extends MonitoredLevel>(
  levels: readonly Level[] = [],
  { expiry }: OneFactorProblem,
  forward: (t: number) => number,
  from: number,
  to: number,
): { barrier: Level; time: number } | undefined {
  const growth = Math.log(forward(to) / forward(from)) / (to - from);
  let first: { barrier: Level; time: number } | undefined;
  for (const barrier of levels) {
    if (!isMonitoredBetween(barrier, from, to, expiry) || !isPast(barrier, forward(to))) continue;
    const time = isPast(barrier, forward(from)) ? from : from + Math.log(barrier.level / forward(from)) / growth;
    if (first === undefined || time < first.time) first = { barrier, time };
  }
  return first;
}

interface Path {
  discount(t: number): number;
  /** Monotone, and exponential in the time between two dates. */
  forward(t: number): number;
}

/**
 * The most that exercise at a time in [a, b] is worth: at a kink that the path comes to, or between two of them.
 * A payoff that jumps is best right at its kink, where a search among times would only come near.
 */
function bestExercise(payoff: PayoffProfile, { discount, forward }: Path, a: number, b: number): number {
  const [first, last] = [forward(a), forward(b)];
  const reached = payoff.kinks
    .map((kink) => ({ kink, time: a + ((b - a) * Math.log(kink / first)) / Math.log(last / first) }))
    .filter(({ time }) => time > a && time < b)
    .sort((one, other) => one.time - other.time);
  const ends = [a, ...reached.map(({ time }) => time), b];
  return Math.max(
    ...reached.map(({ kink, time }) => discount(time) * payoff.exercised(kink)),
    ...ends.slice(1).map((end, i) => largest((t) => discount(t) * payoff.exercised(forward(t)), ends[i], end)),
  );
}

/** The maximum of f on [a, b]: the best of 33 equidistant points, then golden sections about it. */
function largest(f: (t: number) => number, a: number, b: number): number {
  if (!(b > a)) return f(a);
  const step = (b - a) / 32;
  let [at, best] = [a, f(a)];
  for (let i = 1; i <= 32; i++) {
    const value = f(i === 32 ? b : a + i * step);
    if (value > best) [at, best] = [a + i * step, value];
  }
  let [low, high] = [Math.max(a, at - step), Math.min(b, at + step)];
  const golden = 0.5 * (Math.sqrt(5) - 1);
  for (let i = 0; i < 60; i++) {
    const [left, right] = [high - golden * (high - low), low + golden * (high - low)];
    if (f(left) > f(right)) high = right;
    else low = left;
  }
  return Math.max(best, f(0.5 * (low + high)));
}
