import type { KnockOut } from "./levels.ts";
import type { MonitoredLevel } from "./levels.ts";
import { SAME_DATE } from "./levels.ts";
import { type DiscreteDividend, integrate } from "../../../market/index.ts";
import type { OneFactorProblem } from "./one-factor.ts";

/** Tells whether a barrier is monitored at a time. */
export function isMonitored({ from, to, times }: MonitoredLevel, time: number, expiry: number): boolean {
  const tolerance = SAME_DATE * expiry;
  if (times === undefined) return from <= time + tolerance && to >= time - tolerance;
  return times.some((date) => Math.abs(date - time) <= tolerance);
}

/** Tells whether a barrier is monitored at all times between two dates. */
export function isMonitoredBetween(
  { from, to, times }: MonitoredLevel,
  start: number,
  end: number,
  expiry: number,
): boolean {
  const tolerance = SAME_DATE * expiry;
  return times === undefined && from <= start + tolerance && to >= end - tolerance;
}

/** Tells whether a spot is on or past a barrier. */
export function isPast({ side, level }: MonitoredLevel, spot: number): boolean {
  return side === "up" ? spot >= level : spot <= level;
}

/**
 * The value of a barrier's rebate at the time of the breach: the rebate itself, or its present value if it is paid at
 * expiry.
 */
export function rebateValue({ rebate, rebateAt }: KnockOut, time: number, { rates, expiry }: OneFactorProblem): number {
  if (rebateAt === "hit" || rebate === 0) return rebate;
  return rebate * Math.exp(integrate(rates, time) - integrate(rates, expiry));
}

/** The outermost knock-out that a spot has reached today; undefined where the trade is alive. */
export function knockedOutBy({ barriers, expiry }: OneFactorProblem, spot: number): KnockOut | undefined {
  if (barriers === undefined) return undefined;
  return barriers.findLast((barrier) => isPast(barrier, spot) && isMonitored(barrier, 0, expiry));
}

/** Tells whether a spot today knocks the trade in, which is also true of a trade without knock-ins. */
export function isKnockedIn({ knockIns, expiry }: OneFactorProblem, spot: number): boolean {
  return (
    knockIns === undefined || knockIns.levels.some((level) => isPast(level, spot) && isMonitored(level, 0, expiry))
  );
}

/**
 * Returns the levels of all knock-outs and knock-ins. At equal prices knock-outs come first, because they take effect
 * first.
 */
export function monitoredLevels({ barriers = [], knockIns }: OneFactorProblem): readonly (KnockOut | MonitoredLevel)[] {
  return knockIns === undefined ? barriers : inwardFirst([...barriers, ...knockIns.levels]);
}

/**
 * Sorts barriers from the innermost to the outermost on either side, so that applying them in this order leaves each
 * node to the first barrier that a spot would breach on its way there.
 */
export function inwardFirst<Level extends MonitoredLevel>(barriers: readonly Level[]): readonly Level[] {
  const outward = (a: Level, b: Level): number => (a.side === "up" ? a.level - b.level : b.level - a.level);
  return barriers.toSorted((a, b) => (a.side === b.side ? outward(a, b) : a.side === "down" ? -1 : 1));
}

interface Ends<Level> {
  readonly down: Level | undefined;
  readonly up: Level | undefined;
}

/**
 * The innermost knock-outs that are monitored continuously between two dates. They are the ends of the interval of
 * spots in which the trade stays alive.
 */
export function aliveBetween({ barriers = [], expiry }: OneFactorProblem, start: number, end: number): Ends<KnockOut> {
  return innermost(barriers, start, end, expiry);
}

/**
 * The innermost levels that are monitored continuously between two dates, knock-outs and knock-ins. They are the ends
 * of the interval of spots in which a trade that has not been knocked in stays dormant.
 */
export function dormantBetween(problem: OneFactorProblem, start: number, end: number): Ends<KnockOut | MonitoredLevel> {
  return innermost(monitoredLevels(problem), start, end, problem.expiry);
}

function innermost<Level extends MonitoredLevel>(
  levels: readonly Level[],
  start: number,
  end: number,
  expiry: number,
): Ends<Level> {
  let down: Level | undefined;
  let up: Level | undefined;
  for (const level of levels) {
    if (!isMonitoredBetween(level, start, end, expiry)) continue;
    if (level.side === "down") down ??= level;
    else up ??= level;
  }
  return { down, up };
}

/**
 * The price before a dividend from which the spot falls to a level; infinite where the dividend takes the whole spot.
 */
export function crossingPrice({ level }: MonitoredLevel, { cash, proportional }: DiscreteDividend): number {
  return proportional < 1 ? (level + cash) / (1 - proportional) : Infinity;
}

/** A price next to a barrier on the side where the trade is alive. */
export function liveSideOf({ side, level }: MonitoredLevel): number {
  return level * (side === "up" ? 1 - 1e-9 : 1 + 1e-9);
}

/** Tells whether a problem has barriers or knock-ins. */
export const hasLevels = ({ barriers, knockIns }: OneFactorProblem): boolean =>
  barriers !== undefined || knockIns !== undefined;

/** Tells whether the holder may exercise today, at a spot. */
export function isExercisableNow(problem: OneFactorProblem, spot: number): boolean {
  const { american, exerciseTimes, expiry } = problem;
  return (
    (american || (exerciseTimes !== undefined && exerciseTimes[0] <= SAME_DATE * expiry)) && isKnockedIn(problem, spot)
  );
}
