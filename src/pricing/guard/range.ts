/** Two numbers that a value lies between. */
export interface Range {
  readonly low: number;
  readonly high: number;
}

export const UNBOUNDED: Range = { low: Number.NEGATIVE_INFINITY, high: Number.POSITIVE_INFINITY };

/** The distance of a value from a range: 0 inside, NaN if the value is not a number. */
export function distance({ low, high }: Range, value: number): number {
  return value < low ? low - value : value > high ? value - high : value - value;
}
