import type { PiecewiseConstant } from "../../../market/index.ts";
import type { TimeEvent } from "./events.ts";
import { stepTimes, type TimeGrid } from "./time-grid.ts";

/** Coefficients that are functions of time alone: the rates, and where they determine it the volatility. */
export interface InTime {
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
export function withRestarts(
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
