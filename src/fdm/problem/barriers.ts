import type { KnockOut } from "./levels.ts";
import type { MonitoredLevel } from "./levels.ts";
import { SAME_DATE } from "./levels.ts";
import { type DiscreteDividend, integrate } from "../../market/index.ts";
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

/** The value of a barrier's rebate at the time of the breach. */
export function rebateValue({ rebate, rebateAt }: KnockOut, time: number, { rates, expiry }: OneFactorProblem): number {
  if (rebateAt === "hit" || rebate === 0) return rebate;
  return rebate * Math.exp(integrate(rates, time) - integrate(rates, expiry));
}

/** The outermost barrier that today's spot is on or past; undefined where the trade is alive. */
export function knockedOutBy({ barriers, expiry }: OneFactorProblem, spot: number): KnockOut | undefined {
  if (barriers === undefined) return undefined;
  return barriers.findLast((barrier) => isPast(barrier, spot) && isMonitored(barrier, 0, expiry));
}

/** Tells whether the trade has been knocked in by today's spot, or has no knock-in. */
export function isKnockedIn({ knockIns, expiry }: OneFactorProblem, spot: number): boolean {
  return (
    knockIns === undefined || knockIns.levels.some((level) => isPast(level, spot) && isMonitored(level, 0, expiry))
  );
}

/** Returns all monitored levels; at one price knock-outs come before knock-ins, because they take effect first. */
export function monitoredLevels({ barriers = [], knockIns }: OneFactorProblem): readonly (KnockOut | MonitoredLevel)[] {
  return knockIns === undefined ? barriers : inwardFirst([...barriers, ...knockIns.levels]);
}

/**
 * Sorts barriers from the innermost to the outermost on either side, so that the last one set at a node is the first
 * one breached.
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
 * The innermost barriers monitored at all times between two dates: the ends of the interval in which the trade is
 * alive.
 */
export function aliveBetween({ barriers = [], expiry }: OneFactorProblem, start: number, end: number): Ends<KnockOut> {
  return innermost(barriers, start, end, expiry);
}

/**
 * The innermost barriers between two dates for a trade that has not been knocked in: the ends of the interval in which
 * it stays dormant.
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

/** The price from which a dividend takes the spot to a level; infinite where it takes all. */
export function crossingPrice({ level }: MonitoredLevel, { cash, proportional }: DiscreteDividend): number {
  return proportional < 1 ? (level + cash) / (1 - proportional) : Infinity;
}

/** A price just inside a barrier, where the trade is alive. */
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
