/** Conditions that the problems of alternating directions share. */
import type { AnyProblem } from "../../../fdm/index.ts";
import type { Condition } from "../../../fdm/index.ts";
import type { Terms } from "../../terms.ts";
import { restartsOf } from "../../equations/parts.ts";
import type { Parameters } from "../../equations/text.ts";

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

/** The conditions at the ends of an axis. */
export type Ends = NonNullable<AnyProblem["boundaries"]>[string];
