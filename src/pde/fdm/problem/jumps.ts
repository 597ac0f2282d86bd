/** Bisections of an interval in which a function jumps: its ends then are neighbouring numbers. */
const HALVINGS = 52;
/** A discontinuity is at least this part of the change over the interval in which it was seen. */
const MIN_SHARE = 0.5;
/** The least discontinuity of a volatility in the price, over its largest value: meshes smooth smaller ones. */
export const MIN_JUMP_IN_PRICE = 0.02;
/** That in time, where every discontinuity ends a step: an error of first order in the step is left by others. */
export const MIN_JUMP_IN_TIME = 1e-6;

/**
 * Finds the discontinuities of a function f between increasing `points` by bisection. It returns, for each of them, the
 * last number before the discontinuity. A change of less than `least` of f's largest value is not one, nor is a change
 * to or from NaN. `values` are f at the points, if known. Cost: one evaluation for each point, fifty for each
 * discontinuity, and two or three for each further interval in which f changes by more than that.
 */
export function jumpsBetween(
  f: (x: number) => number,
  points: ArrayLike<number>,
  least: number,
  values: ArrayLike<number> = Float64Array.from(points, f),
): readonly number[] {
  let largest = 0;
  for (let i = 0; i < values.length; i++) largest = Math.max(largest, Math.abs(values[i]) || 0);
  const jumps: number[] = [];
  for (let i = 1; i < points.length; i++) {
    const change = Math.abs(values[i] - values[i - 1]);
    if (!(change > least * largest)) continue;
    let [low, high] = [points[i - 1], points[i]];
    let [below, above] = [values[i - 1], values[i]];
    // Half of a continuous change is soon left outside.
    for (let k = 0; k < HALVINGS && Math.abs(above - below) > MIN_SHARE * change; k++) {
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
