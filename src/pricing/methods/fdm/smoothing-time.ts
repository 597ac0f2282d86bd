import type { OneFactorProblem } from "../../../pde/fdm/index.ts";

/** Parts of the time to an event, and of the life, over which diffusion smooths what a boundary does to gamma. */
const EVENT_PART = 1 / 4;
const LIFE_PART = 1 / 64;
const AMERICAN_PART = 1 / 16;

/**
 * Returns the time in years over which diffusion has smoothed the last kink of exercise or barriers in the solution.
 */
export function smoothingTime({ expiry, american, exerciseTimes = [], barriers = [] }: OneFactorProblem): number {
  const dates = [...exerciseTimes, ...barriers.flatMap(({ times = [] }) => times)].filter((time) => time > 0);
  const part = Math.max(EVENT_PART * Math.min(...dates, Number.POSITIVE_INFINITY), LIFE_PART * expiry);
  return Math.min(part, american ? AMERICAN_PART * expiry : expiry);
}
