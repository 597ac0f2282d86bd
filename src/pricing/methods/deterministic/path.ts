import {
  eventsOf,
  isExercisableNow,
  isKnockedIn,
  isPast,
  isMonitored,
  isMonitoredBetween,
  knockedOutBy,
  type OneFactorProblem,
  type ProblemDifference,
  rebateValue,
  SAME_DATE,
  type MonitoredLevel,
} from "../../../pde/fdm/index.ts";
import { afterDividend, integrate } from "../../../market/index.ts";
import type { PayoffProfile } from "../../../market/products/index.ts";

/**
 * Returns the value at one spot without volatility, or at expiry. The spot follows F(t) = S·exp(∫(r − q)) with its
 * dividends, and
 *
 *   European   V = e^{−R(T)}·payoff(F(T)),
 *   American   V = max over 0 ≤ t ≤ T of e^{−R(t)}·payoff(F(t)), also just before dividends.
 *
 * If F breaches a knock-out, its rebate is paid and nothing after. With a required knock-in, early exercise is possible
 * only after its breach. The problems may be shifted, but must have no volatility.
 */
export function deterministicValue({ problem, subtracted }: ProblemDifference, spot: number): number {
  return valueOnPath(problem, spot) - (subtracted === undefined ? 0 : valueOnPath(subtracted, spot));
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

/**
 * Returns the first barrier, monitored from one date to the next, that the path comes to, and when; the path is
 * monotone in between.
 */
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
