import { monitoredLevels } from "../problem/barriers.ts";
import type { MonitoredLevel } from "../problem/levels.ts";
import { type InTime, withRestarts } from "./damped-jumps.ts";
import { eventsOf, type TimeEvent } from "./events.ts";
import { isTimeHomogeneous, type OneFactorProblem } from "../problem/one-factor.ts";
import { type Clock, clockOfSteps } from "../problem/variance-profile.ts";
import { type TimeGrid, timeGrid } from "./time-grid.ts";

/** The two time grids on which a problem is solved; the fine one has two steps for each step of the coarse one. */
export interface NestedTimes {
  readonly fine: TimeGrid;
  readonly coarse: TimeGrid;
}

interface Known extends Pick<OneFactorProblem, "american" | "dividends"> {
  readonly exerciseTimes: OneFactorProblem["exerciseTimes"];
  readonly restarts: OneFactorProblem["restarts"];
  readonly levels: readonly MonitoredLevel[];
  readonly steps: number;
  readonly homogeneous: boolean;
  readonly jumps: boolean;
  readonly clock: Clock | undefined;
  readonly inTime: InTime | undefined;
  readonly times: NestedTimes;
}

/**
 * Grids by expiry: a book has few, and the shifts of a trade have one. A pure function's memory, emptied when it grows
 * beyond use.
 */
const grids = new Map<number, Known[]>();
const MAX_EXPIRIES = 512;
const MAX_OF_AN_EXPIRY = 32;

/**
 * Returns the time grids of a problem, of which the coarse one has `steps` steps. Problems with the same dates share
 * the grids.
 */
export function timesOf(problem: OneFactorProblem, steps: number): NestedTimes {
  const homogeneous = isTimeHomogeneous(problem);
  const levels = monitoredLevels(problem);
  const { american, dividends, exerciseTimes, restarts, expiry } = problem;
  const { jumps } = problem.payoff;
  const clock = homogeneous ? undefined : clockOfSteps(problem);
  const inTime = homogeneous ? undefined : inTimeOf(problem);
  let ofExpiry = grids.get(expiry);
  if (ofExpiry === undefined) {
    if (grids.size >= MAX_EXPIRIES) grids.clear();
    grids.set(expiry, (ofExpiry = []));
  }
  for (const known of ofExpiry)
    if (
      known.steps === steps &&
      known.homogeneous === homogeneous &&
      known.jumps === jumps &&
      known.clock === clock &&
      known.inTime?.rates === inTime?.rates &&
      known.inTime?.sigma === inTime?.sigma &&
      sameDates(known, problem, levels)
    )
      return known.times;
  const times = makeTimes(problem, levels, steps, homogeneous, clock, inTime);
  if (ofExpiry.length >= MAX_OF_AN_EXPIRY) ofExpiry.length = 0;
  ofExpiry.push({
    american,
    dividends,
    exerciseTimes,
    restarts,
    levels,
    steps,
    homogeneous,
    jumps,
    clock,
    inTime,
    times,
  });
  return times;
}

function makeTimes(
  problem: OneFactorProblem,
  levels: readonly MonitoredLevel[],
  steps: number,
  homogeneous: boolean,
  clock: Clock | undefined,
  inTime: InTime | undefined,
): NestedTimes {
  const { american } = problem;
  const jumping = areContinuous(levels);
  const spec = {
    expiry: problem.expiry,
    steps,
    refinement: 1,
    phases: american ? phasesOf(steps) : jumping ? 2 : 1,
    // What jumps on a mesh that is dense there needs more damping than what jumps elsewhere.
    rannacherSteps: jumping ? 3 : 2,
    rannacherStepsOfShort: 2,
    // Crank–Nicolson keeps the grid-scale noise that an exercise boundary moving across nodes leaves; gamma would show
    // it.
    damped: american,
    jumps: problem.payoff.jumps,
    clock,
  };
  const gridOf = (events: readonly TimeEvent[]): TimeGrid => timeGrid({ ...spec, events }, homogeneous);
  const all = eventsOf(problem);
  const events = inTime === undefined ? all : withRestarts(all, inTime, gridOf);
  return { fine: timeGrid({ ...spec, events, refinement: 2 }, homogeneous), coarse: gridOf(events) };
}

const inTimeOf = ({ rates, diffusion }: OneFactorProblem): InTime => ({
  rates,
  sigma: diffusion.kind === "deterministic" ? diffusion.sigma : undefined,
});

/**
 * The first step has to shrink like the square of the others for the √τ of an exercise boundary: one phase more a
 * doubling.
 */
function phasesOf(steps: number): number {
  return Math.max(3, 6 + Math.round(Math.log2(steps / 24)));
}

/** Values jump at those, as they do at no payoff's kink: the first steps are shorter. */
const areContinuous = (levels: readonly MonitoredLevel[]): boolean =>
  levels.length > 0 && levels.every(({ times }) => times === undefined);

function sameDates(known: Known, problem: OneFactorProblem, levels: readonly MonitoredLevel[]): boolean {
  return (
    known.american === problem.american &&
    same(known.exerciseTimes, problem.exerciseTimes, sameNumber) &&
    same(known.restarts, problem.restarts, sameNumber) &&
    same(known.dividends, problem.dividends, sameDividend) &&
    same(known.levels, levels, sameMonitoring)
  );
}

function same<T>(a: readonly T[] | undefined, b: readonly T[] | undefined, equal: (a: T, b: T) => boolean): boolean {
  if (a === b) return true;
  if (a === undefined || b === undefined || a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (!equal(a[i], b[i])) return false;
  return true;
}

const sameNumber = (a: number, b: number): boolean => a === b;

type Dividend = OneFactorProblem["dividends"][number];

const sameDividend = (a: Dividend, b: Dividend): boolean =>
  a.time === b.time && a.cash === b.cash && a.proportional === b.proportional;

const sameMonitoring = (a: MonitoredLevel, b: MonitoredLevel): boolean =>
  a.from === b.from && a.to === b.to && same(a.times, b.times, sameNumber);
