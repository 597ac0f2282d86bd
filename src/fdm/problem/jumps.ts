/** Bisections of an interval in which a function jumps: its ends then are neighbouring numbers. */
const HALVINGS = 52;
/**
 * A jump is at least this part of the function's largest value, and of the change over the interval in which it was
 * seen.
 */
const MIN_JUMP = 0.02;
const MIN_SHARE = 0.5;

/**
 * Finds the discontinuities of a function f between increasing `points` by bisection. It returns, for each of them, the
 * last number before the discontinuity. A change to or from NaN is not one. `values` are f at the points, if known.
 * Cost: one evaluation for each point, and fifty for each interval in which f changes by more than a fiftieth of its
 * largest value.
 */
export function jumpsBetween(
  f: (x: number) => number,
  points: ArrayLike<number>,
  values: ArrayLike<number> = Float64Array.from(points, f),
): readonly number[] {
  let largest = 0;
  for (let i = 0; i < values.length; i++) largest = Math.max(largest, Math.abs(values[i]) || 0);
  const jumps: number[] = [];
  for (let i = 1; i < points.length; i++) {
    const change = Math.abs(values[i] - values[i - 1]);
    if (!(change > MIN_JUMP * largest)) continue;
    let [low, high] = [points[i - 1], points[i]];
    let [below, above] = [values[i - 1], values[i]];
    for (let k = 0; k < HALVINGS; k++) {
      const middle = 0.5 * (low + high);
      if (middle <= low || middle >= high) break;
      const here = f(middle);
      if (Math.abs(here - below) > Math.abs(above - here)) [high, above] = [middle, here];
      else [low, below] = [middle, here];
    }
    if (Math.abs(above - below) > MIN_SHARE * change) jumps.push(low);
  }
  return jumps;
}
