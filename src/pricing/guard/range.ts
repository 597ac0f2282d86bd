/** The lower and upper bound of a value. */
export interface Range {
  readonly low: number;
  readonly high: number;
}

/** The range that contains all numbers. */
export const UNBOUNDED: Range = { low: Number.NEGATIVE_INFINITY, high: Number.POSITIVE_INFINITY };

/** Returns the distance of a value from a range: 0 inside; NaN if the value is NaN. */
export function distance({ low, high }: Range, value: number): number {
  return value < low ? low - value : value > high ? value - high : value - value;
}
