/** The lower and upper bound of a value. */
export interface Range {
  readonly low: number;
  readonly high: number;
}

/** The bounds that a trade states for its value, with the reasons in words that complete "the worth of …". */
export interface Bounds extends Range {
  readonly lowIs: string;
  readonly highIs: string;
}

/** The range that contains all numbers. */
export const UNBOUNDED: Range = { low: Number.NEGATIVE_INFINITY, high: Number.POSITIVE_INFINITY };

/** Returns the distance of a value from a range: 0 inside; NaN if the value is NaN. */
export function distance({ low, high }: Range, value: number): number {
  return value < low ? low - value : value > high ? value - high : value - value;
}

/**
 * A value may be this many error estimates outside and still be let out, with an estimate that reaches to the bound:
 * one that is further out is wrong. Monte Carlo's estimate is an interval that some values miss.
 */
const WITHIN = 2;

/** Tells whether a value may be let out that is so far outside, given the distance that its estimate allows. */
export const isNear = (far: number, allowed: number): boolean => far <= WITHIN * allowed;

/** Returns the words for a value outside its bounds. */
export function outsideText(method: string, value: number, { low, high, ...reasons }: Range & Partial<Bounds>): string {
  const isLow = value < low;
  const [bound, than] = isLow ? [low, "less"] : [high, "more"];
  const why = isLow ? reasons.lowIs : reasons.highIs;
  const reason = why === undefined ? "" : ` (${why})`;
  const most = isLow ? "least" : "most";
  return `method "${method}" gives ${value}, ${than} than ${bound}, which it is worth at ${most}${reason}`;
}
