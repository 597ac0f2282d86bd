/** The slope of a value that is known exactly, as at expiry, where it may bend or jump at the spot itself. */

/** A slope, and what makes it doubtful. */
export interface KnownSlope {
  readonly slope: number;
  /** True where the function bends or jumps at the point, so that no slope is its derivative. */
  readonly isBent: boolean;
  /** Half of what the slopes on both sides differ by at a bend; NaN at a jump, which has none. */
  readonly error: number;
}

/** Differences above this part of the values are no rounding. */
const ROUNDING = 1e-9;
/** Slopes that differ by more than this are those of a bend. */
const BEND = 1e-3;

/** Returns the mean of the slopes on both sides of a point, at a distance `by`; a jump at the point is left out. */
export function slopeAcross(f: (at: number) => number, point: number, by: number): KnownSlope {
  const [lowest, low, high, highest] = [-2, -1, 1, 2].map((k) => f(point + k * by));
  const [below, above] = [(low - lowest) / by, (highest - high) / by];
  const mean = 0.5 * (below + above);
  if (Math.abs(high - low - 2 * by * mean) > ROUNDING * (Math.abs(high) + Math.abs(low)) + BEND * by)
    return { slope: mean, isBent: true, error: Number.NaN };
  const isBent = Math.abs(above - below) > BEND;
  return { slope: (high - low) / (2 * by), isBent, error: isBent ? 0.5 * Math.abs(above - below) : 0 };
}
