import type { DiscreteDividend } from "../../../market/index.ts";
import { monitoredLevels } from "../problem/barriers.ts";
import { SAME_DATE, type MonitoredLevel } from "../problem/levels.ts";
import type { OneFactorProblem } from "../problem/one-factor.ts";
import { BARRIERS, DIVIDEND, EXERCISE } from "./flags.ts";

/**
 * An event on one date inside the life: a dividend, exercise, the monitoring of barriers, or several of them. Forward
 * in time a dividend is paid first, then barriers are monitored at the spot after it, then the holder may exercise what
 * has not been knocked out.
 */
export interface TimeEvent {
  /** The time in years from today. */
  readonly time: number;
  /** The flags DIVIDEND, EXERCISE and BARRIERS of what happens; 0 where the time grid only restarts. */
  readonly flags: number;
  /** The dividend that is paid, if any. */
  readonly dividend: DiscreteDividend | undefined;
  /** True where coefficients jump, but the solution does not even bend, and needs no damping (`withRestarts`). */
  readonly isSmooth?: boolean;
}

const NONE: readonly TimeEvent[] = [];

/**
 * The events inside (0, expiry) in order of time. In a problem with barriers each event also sets knock-outs and
 * knock-ins.
 */
export function eventsOf(problem: OneFactorProblem): readonly TimeEvent[] {
  const { dividends, exerciseTimes = [], restarts = [], expiry } = problem;
  const barriers = monitoredLevels(problem);
  if (dividends.length + exerciseTimes.length + restarts.length + barriers.length === 0) return NONE;
  const all = [
    ...dividends.map((dividend): TimeEvent => ({ time: dividend.time, flags: DIVIDEND, dividend })),
    ...exerciseTimes.map((time): TimeEvent => ({ time, flags: EXERCISE, dividend: undefined })),
    ...restarts.map((time): TimeEvent => ({ time, flags: 0, dividend: undefined })),
    ...barriers.flatMap(datesOf).map((time): TimeEvent => ({ time, flags: BARRIERS, dividend: undefined })),
  ].sort((a, b) => a.time - b.time);
  const merged: TimeEvent[] = [];
  for (const event of all) {
    const before = merged.at(-1);
    if (event.dividend === undefined && !inside(event.time, expiry)) continue;
    if (before !== undefined && event.time - before.time <= SAME_DATE * expiry)
      merged[merged.length - 1] = both(before, event);
    else merged.push(event);
  }
  return barriers.length === 0 ? merged : merged.map((event) => ({ ...event, flags: event.flags | BARRIERS }));
}

/** The dates at which monitoring begins and ends, or those on which it takes place. */
const datesOf = ({ from, to, times }: MonitoredLevel): readonly number[] => times ?? [from, to];

const inside = (time: number, expiry: number): boolean => time > SAME_DATE * expiry && time < expiry * (1 - SAME_DATE);

/** Dividends of one date are one already. */
function both(a: TimeEvent, b: TimeEvent): TimeEvent {
  return { time: a.time, flags: a.flags | b.flags, dividend: a.dividend ?? b.dividend };
}
