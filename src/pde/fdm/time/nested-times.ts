import {
  isTimeHomogeneous,
  type MonitoredLevel,
  allBarriers,
  type OneFactorProblem,
  SAME_DATE,
} from "../problem/one-factor.ts";
import { BARRIERS, DIVIDEND, EXERCISE, stepTimes, type TimeEvent, type TimeGrid, timeGrid } from "./time-grid.ts";
import type { PiecewiseConstant } from "../../../market/index.ts";
import { type VarianceTime, varianceTimeOf } from "../problem/variance.ts";

const NONE: readonly TimeEvent[] = [];

/**
 * Returns the events inside (0, expiry) in order of time. In a problem with barriers each event also sets knock-outs
 * and knock-ins.
 */
export function eventsOf(problem: OneFactorProblem): readonly TimeEvent[] {
  const { dividends, exerciseTimes = [], restarts = [], expiry } = problem;
  const barriers = allBarriers(problem);
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

/** Coefficients that are functions of time alone: the rates, and where they determine it the volatility. */
interface InTime {
  readonly rates: PiecewiseConstant;
  readonly sigma: PiecewiseConstant | undefined;
}

/** A change of a rate over the damped steps, |Δr|·Δt, below which no value shows it. */
const LEAST_DRIFT = 3e-4;
/** A change of σ², as a part of it, below which no value shows it. */
const LEAST_VARIANCE = 0.02;
/** A part of the damped steps: jumps as near to their ends as this are at the ends. */
const AT_END = 1e-3;
/** A segment that ends at a jump has shorter steps, which may end before the next one: some rounds are enough. */
const MOST_ROUNDS = 16;

/**
 * Returns the events of a time grid, with restarts where coefficients jump in its damped steps.
 *
 * The steps of implicit Euler after a date leave errors that are squares of the drift and the variance of each, and
 * extrapolation removes them because they are four times as large on the coarse grid. They are not where a coefficient
 * jumps within the damped steps: those of the fine grid take half the time, and would lie on one side of the jump. A
 * segment that ends at the jump has steps with coefficients of its own.
 *
 * @param gridOf the coarse time grid with given events
 */
function withRestarts(
  events: readonly TimeEvent[],
  of: InTime,
  gridOf: (events: readonly TimeEvent[]) => Pick<TimeGrid, "steps" | "dates" | "clock">,
): readonly TimeEvent[] {
  const jumps = jumpsOf(of);
  if (jumps.length === 0) return events;
  let all = events;
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const found = jumpsIn(dampedParts(gridOf(all)), jumps);
    if (found.length === 0) break;
    const restarts = found.map((time): TimeEvent => ({ time, flags: 0, dividend: undefined, isSmooth: true }));
    all = [...all, ...restarts].sort((a, b) => a.time - b.time);
  }
  return all;
}

interface Jump {
  readonly time: number;
  readonly ofRate: number;
  /** As a part of the larger σ². */
  readonly ofVariance: number;
}

function jumpsOf({ rates, sigma }: InTime): readonly Jump[] {
  const ofRates = rates.times.map((time, i) => ({
    time,
    ofRate: Math.abs(rates.values[i + 1] - rates.values[i]),
    ofVariance: 0,
  }));
  const ofSigma = sigma?.times.map((time, i) => {
    const [a, b] = [sigma.values[i] ** 2, sigma.values[i + 1] ** 2];
    return { time, ofRate: 0, ofVariance: Math.abs(b - a) / Math.max(a, b, Number.MIN_VALUE) };
  });
  return [...ofRates, ...(ofSigma ?? [])];
}

interface Part {
  readonly from: number;
  readonly to: number;
}

/** The parts of the life in which steps are damped: each segment begins with such steps, backward in time. */
function dampedParts(grid: Pick<TimeGrid, "steps" | "dates" | "clock">): readonly Part[] {
  const parts: Part[] = [];
  const { steps } = grid;
  for (let i = 0; i < steps.length; i++) {
    const { segment } = steps[i];
    if (steps[i - 1]?.segment === segment || steps[i].scheme === "crank-nicolson") continue;
    let last = i;
    while (steps[last + 1]?.segment === segment && steps[last + 1].scheme !== "crank-nicolson") last++;
    parts.push({ from: stepTimes(grid, steps[last]).from, to: stepTimes(grid, steps[i]).to });
  }
  return parts;
}

/** The last jump in each part, backward in time the first one: what is left of the part has shorter steps then. */
function jumpsIn(parts: readonly Part[], jumps: readonly Jump[]): readonly number[] {
  return parts.flatMap(({ from, to }) => {
    const length = to - from;
    const inside = jumps.filter(
      ({ time, ofRate, ofVariance }) =>
        time > from + AT_END * length &&
        time < to - AT_END * length &&
        (ofRate * length > LEAST_DRIFT || ofVariance > LEAST_VARIANCE),
    );
    return inside.length === 0 ? [] : [Math.max(...inside.map(({ time }) => time))];
  });
}

/** The two time grids on which a problem is solved; the fine one has two steps for each step of the coarse one. */
interface NestedTimes {
  readonly fine: TimeGrid;
  readonly coarse: TimeGrid;
}

/** What the time grids of problems with one expiry depend on. */
interface Key extends Pick<OneFactorProblem, "american" | "dividends" | "exerciseTimes" | "restarts"> {
  readonly levels: readonly MonitoredLevel[];
  readonly steps: number;
  readonly homogeneous: boolean;
  readonly jumps: boolean;
  readonly clock: VarianceTime | undefined;
  readonly inTime: InTime | undefined;
}

/**
 * Grids by expiry: a book has few, and the shifts of a trade have one. A pure function's memory, emptied when it grows
 * beyond use.
 */
const grids = new Map<number, { readonly key: Key; readonly times: NestedTimes }[]>();
const MAX_EXPIRIES = 512;
const MAX_OF_AN_EXPIRY = 32;

/**
 * Returns the time grids of a problem, of which the coarse one has `steps` steps. Problems with the same dates share
 * the grids.
 */
export function timesOf(problem: OneFactorProblem, steps: number): NestedTimes {
  const { american, dividends, exerciseTimes, restarts, expiry, payoff } = problem;
  const homogeneous = isTimeHomogeneous(problem);
  const levels = allBarriers(problem);
  const clock = homogeneous ? undefined : varianceTimeOf(problem);
  const inTime = homogeneous ? undefined : inTimeOf(problem);
  const { jumps } = payoff;
  const key = { american, dividends, exerciseTimes, restarts, levels, steps, homogeneous, jumps, clock, inTime };
  let ofExpiry = grids.get(expiry);
  if (ofExpiry === undefined) {
    if (grids.size >= MAX_EXPIRIES) grids.clear();
    grids.set(expiry, (ofExpiry = []));
  }
  for (const known of ofExpiry) if (isSame(known.key, key)) return known.times;
  const times = makeTimes(problem, key);
  if (ofExpiry.length >= MAX_OF_AN_EXPIRY) ofExpiry.length = 0;
  ofExpiry.push({ key, times });
  return times;
}

function makeTimes(problem: OneFactorProblem, { levels, steps, homogeneous, clock, inTime }: Key): NestedTimes {
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

function isSame(a: Key, b: Key): boolean {
  return (
    a.steps === b.steps &&
    a.homogeneous === b.homogeneous &&
    a.jumps === b.jumps &&
    a.american === b.american &&
    a.clock === b.clock &&
    a.inTime?.rates === b.inTime?.rates &&
    a.inTime?.sigma === b.inTime?.sigma &&
    same(a.exerciseTimes, b.exerciseTimes, sameNumber) &&
    same(a.restarts, b.restarts, sameNumber) &&
    same(a.dividends, b.dividends, sameDividend) &&
    same(a.levels, b.levels, sameMonitoring)
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
