import {
  isPast,
  isMonitored,
  type KnockOut,
  type OneFactorProblem,
  type ProblemDifference,
  rebateValue,
} from "../../../pde/fdm/index.ts";
import { afterDividend, type DiscreteDividend } from "../../../market/index.ts";
import type { PayoffProfile } from "../../../market/products/index.ts";

/** Dividends closer to expiry than this part of the life are paid on that day (`tradeProblem`). */
const SAME_DAY = 2e-7;

/** The part of the lowest other kink from which on the kink where a dividend leaves nothing needs a node. */
const NEAR_KINKS = 0.2;

/**
 * Returns the problems of a trade with a dividend on the day of expiry included in their payoffs (`lessLastDividend`).
 */
export function lessLastDividends({ problem, subtracted }: ProblemDifference): ProblemDifference {
  return { problem: lessLastDividend(problem), subtracted: subtracted && lessLastDividend(subtracted) };
}

/**
 * A problem with a dividend on the day of expiry as one without: with S⁺ = max(S·(1 − proportional) − cash, 0),
 *
 *   V(S, T) = payoff(S⁺), or what a barrier pays that S⁺ is past on that day,
 *
 * whose kinks lie where a dividend takes the spot to those of the payoff, to the barriers' levels or to zero. A step of
 * time would leave them between nodes. Not with exercise on dates, nor of
 * American options with barriers: those are paid their dividend a moment before expiry.
 */
function lessLastDividend(problem: OneFactorProblem): OneFactorProblem {
  const { dividends, expiry, american, exerciseTimes, knockIns, barriers = [], payoff } = problem;
  const last = dividends.at(-1);
  const isOnTheDay = last !== undefined && last.time > expiry * (1 - SAME_DAY) && last.proportional < 1;
  if (!isOnTheDay || exerciseTimes !== undefined || knockIns !== undefined) return problem;
  if (american && barriers.length > 0) return problem;
  const before = { ...problem, dividends: dividends.slice(0, -1) };
  // Exercised just before the dividend, a call is worth more than after it.
  if (american && payoff.vanillaSign === 1) return before;
  const onTheDay = barriers.filter((barrier) => isMonitored(barrier, expiry, expiry));
  // Monitored on dates, the last of them after the dividend: that is in the payoff.
  const left = barriers.flatMap((barrier) => withoutExpiry(barrier, expiry));
  const { barriers: _, ...unbarred } = before;
  return {
    ...unbarred,
    ...(left.length === 0 ? {} : { barriers: left }),
    payoff: payoffAfter(problem, last, onTheDay),
  };
}

function withoutExpiry(barrier: KnockOut, expiry: number): KnockOut[] {
  if (barrier.times === undefined) return [barrier];
  const times = barrier.times.filter((time) => !isMonitored({ ...barrier, times: [time] }, expiry, expiry));
  return times.length === 0 ? [] : [{ ...barrier, times }];
}

function payoffAfter(
  problem: OneFactorProblem,
  dividend: DiscreteDividend,
  levels: readonly KnockOut[],
): PayoffProfile {
  const { payoff, american, expiry } = problem;
  const { cash, proportional } = dividend;
  const after = (spot: number): number => afterDividend(spot, dividend);
  const takenTo = (price: number): number => (price + cash) / (1 - proportional);
  const rebateAt = (spot: number): number | undefined => {
    const hit = levels.findLast((barrier) => isPast(barrier, after(spot)));
    return hit && rebateValue(hit, expiry, problem);
  };
  const zero = cash > 0 ? [takenTo(0)] : [];
  const crossings = levels.map(({ level }) => takenTo(level));
  const moved = payoff.kinks.map(takenTo);
  // A payoff of calls does not bend there, and far below its kinks nodes are better spent elsewhere.
  const bendsAtZero = zero.filter((at) => at > NEAR_KINKS * Math.min(...moved) && payoff.value(0) !== 0);
  const kinks = [...moved, ...bendsAtZero, ...crossings, ...(american ? payoff.kinks : [])];
  const breaks = [...zero, ...crossings].sort((a, b) => a - b);
  const piece = (a: number, b: number): number => {
    const middle = 0.5 * (a + b);
    return rebateAt(middle) ?? (after(middle) > 0 ? payoff.average(after(a), after(b)) : payoff.value(0));
  };
  return {
    kinks: kinks.sort((a, b) => a - b).filter((kink, i, all) => i === 0 || kink > all[i - 1] * (1 + 1e-9)),
    exerciseSide: payoff.exerciseSide,
    jumps: payoff.jumps || levels.length > 0,
    straight: payoff.straight,
    value: (spot) => rebateAt(spot) ?? payoff.value(after(spot)),
    exercised: american ? payoff.exercised : (spot) => rebateAt(spot) ?? payoff.exercised(after(spot)),
    average(a, b) {
      let sum = 0;
      let from = a;
      for (const to of [...breaks.filter((price) => price > a && price < b), b]) {
        sum += (to - from) * piece(from, to);
        from = to;
      }
      return sum / (b - a);
    },
  };
}
