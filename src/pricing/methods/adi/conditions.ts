/** Conditions that the problems of alternating directions share. */
import type { AxesPoint } from "../../../fdm/index.ts";
import { type Condition, SAME_DATE } from "../../../fdm/index.ts";
import type { Terms } from "../../terms.ts";
import { type Level, restartsOf } from "../several/parts.ts";
import type { Parameters } from "../several/text.ts";

/**
 * A safety factor. Operator splitting is of first order in time, of which an extrapolation of second order leaves two
 * thirds: the error is up to twice the correction.
 */
export const SPLITTING = 2;

/** Dates of the time grid at which nothing moves: where rates or volatilities jump. */
export function restarts(terms: Terms, axis: string, p: Parameters): readonly Condition<string>[] {
  const dates = restartsOf(terms);
  if (dates.length === 0) return [];
  return [{ kind: "jump", axis, at: dates.map((time) => p.add(time, "t")), to: axis }];
}

/** Tells whether a date is that of expiry. */
export const isAtExpiry = (time: number, expiry: number): boolean => time >= expiry * (1 - SAME_DATE);

/** The condition, as a formula, that a spot is at or beyond a level. */
export const hitText = ({ asset, side, level }: Level, spots: readonly string[], p: Parameters): string =>
  `${spots[asset]} ${side === "up" ? ">=" : "<="} ${p.add(level, "H")}`;

/** A point whose estimate and corrections count `factor` times. */
export const widened = (point: AxesPoint, factor: number): AxesPoint => ({
  ...point,
  corrections: point.corrections.map(({ value, first, second }) => ({
    value: factor * value,
    first: times(first, factor),
    second: times(second, factor),
  })),
  errorEstimate: factor * (point.errorEstimate ?? 0),
});

const times = (all: Readonly<Record<string, number>>, factor: number): Record<string, number> =>
  Object.fromEntries(Object.entries(all).map(([name, value]) => [name, factor * value]));
