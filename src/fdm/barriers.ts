import { integrate } from "../market/index.ts";
import type { OneFactorProblem } from "./problem.ts";

/**
 * A barrier that ends a trade once the spot is on or past it: watched at all times from `from` to `to`, both included, or at `times` only.
 * Times in years from today.
 */
export interface KnockOut {
  readonly side: "up" | "down";
  readonly level: number;
  readonly from: number;
  readonly to: number;
  /** Increasing, 0 … expiry; undefined for one that is watched continuously. */
  readonly times: readonly number[] | undefined;
  /** What is paid when it is hit, at once or at expiry. */
  readonly rebate: number;
  readonly rebateAt: "hit" | "expiry";
  /** Whether the mesh goes on beyond it all the same: another problem is solved on it. */
  readonly open: boolean;
}

/** Dates closer than this part of the life are one. */
export const SAME_DATE = 1e-9;

/** Whether a barrier is watched at a time. */
export function isWatched({ from, to, times }: KnockOut, time: number, expiry: number): boolean {
  const tolerance = SAME_DATE * expiry;
  if (times === undefined) return from <= time + tolerance && to >= time - tolerance;
  return times.some((date) => Math.abs(date - time) <= tolerance);
}

/** Whether a barrier is watched at all times between two dates. */
export function isWatchedBetween({ from, to, times }: KnockOut, start: number, end: number, expiry: number): boolean {
  const tolerance = SAME_DATE * expiry;
  return times === undefined && from <= start + tolerance && to >= end - tolerance;
}

export function isPast({ side, level }: KnockOut, spot: number): boolean {
  return side === "up" ? spot >= level : spot <= level;
}

/** What a barrier pays that is hit at a time, as worth then. */
export function rebateValue({ rebate, rebateAt }: KnockOut, time: number, { rates, expiry }: OneFactorProblem): number {
  if (rebateAt === "hit" || rebate === 0) return rebate;
  return rebate * Math.exp(integrate(rates, time) - integrate(rates, expiry));
}

/** The barrier that a spot of today is on or past, the outermost of several; undefined where the trade lives on. */
export function knockedOutBy({ barriers, expiry }: OneFactorProblem, spot: number): KnockOut | undefined {
  if (barriers === undefined) return undefined;
  return barriers.findLast((barrier) => isPast(barrier, spot) && isWatched(barrier, 0, expiry));
}

/** From the innermost to the outermost on either side, so that what is set last at a node is what was hit first. */
export function inwardFirst(barriers: readonly KnockOut[]): readonly KnockOut[] {
  const outward = (a: KnockOut, b: KnockOut): number => (a.side === "up" ? a.level - b.level : b.level - a.level);
  return barriers.toSorted((a, b) => (a.side === b.side ? outward(a, b) : a.side === "down" ? -1 : 1));
}

/** The innermost barriers that are watched at all times between two dates: the ends of where the trade is alive. */
export function aliveBetween(
  { barriers = [], expiry }: OneFactorProblem,
  start: number,
  end: number,
): { readonly down: KnockOut | undefined; readonly up: KnockOut | undefined } {
  const watched = barriers.filter((barrier) => isWatchedBetween(barrier, start, end, expiry));
  return {
    down: watched.find(({ side }) => side === "down"),
    up: watched.find(({ side }) => side === "up"),
  };
}

/** A price just before a barrier, where the trade is alive. */
export function liveSideOf({ side, level }: KnockOut): number {
  return level * (side === "up" ? 1 - 1e-9 : 1 + 1e-9);
}
