/** Cubic splines through given points, with the condition that the third derivative is continuous next to both ends. */

/** A cubic spline, given by its values y and second derivatives at the nodes x. */
export interface Spline {
  readonly x: ArrayLike<number>;
  readonly y: ArrayLike<number>;
  readonly second: Float64Array;
}

/**
 * Returns the cubic spline through the points (x, y), x increasing. It is a line through two points and a parabola
 * through three.
 */
export function splineThrough(x: ArrayLike<number>, y: ArrayLike<number>): Spline {
  const n = x.length;
  const second = new Float64Array(n);
  const h = (i: number): number => x[i + 1] - x[i];
  const bend = (i: number): number => 6 * ((y[i + 1] - y[i]) / h(i) - (y[i] - y[i - 1]) / h(i - 1));
  if (n === 3) second.fill(bend(1) / (3 * (h(0) + h(1))));
  if (n < 4) return { x, y, second };
  // The conditions at the ends give the outer second derivatives by the two next to them.
  const [first, last] = [h(0) / h(1), h(n - 2) / h(n - 3)];
  const [diagonal, upper, right] = [new Float64Array(n), new Float64Array(n), new Float64Array(n)];
  for (let i = 1; i < n - 1; i++) {
    let below = i > 1 ? h(i - 1) : 0;
    diagonal[i] = 2 * (h(i - 1) + h(i));
    upper[i] = i < n - 2 ? h(i) : 0;
    if (i === 1) {
      diagonal[i] += h(0) * (1 + first);
      upper[i] -= h(0) * first;
    }
    if (i === n - 2) {
      diagonal[i] += h(n - 2) * (1 + last);
      below -= h(n - 2) * last;
    }
    const factor = i > 1 ? below / diagonal[i - 1] : 0;
    diagonal[i] -= factor * upper[i - 1];
    right[i] = bend(i) - factor * right[i - 1];
  }
  for (let i = n - 2; i >= 1; i--) second[i] = (right[i] - upper[i] * second[i + 1]) / diagonal[i];
  second[0] = second[1] + first * (second[1] - second[2]);
  second[n - 1] = second[n - 2] + last * (second[n - 2] - second[n - 3]);
  return { x, y, second };
}

/** Returns the value and the first two derivatives of a spline at a point. It is linear outside the nodes. */
export function splineAt({ x, y, second }: Spline, at: number): readonly [value: number, slope: number, bend: number] {
  const n = x.length;
  if (n === 1) return [y[0], 0, 0];
  const inside = Math.min(Math.max(at, x[0]), x[n - 1]);
  let i = 0;
  while (i < n - 2 && inside > x[i + 1]) i++;
  const h = x[i + 1] - x[i];
  const [a, b] = [(x[i + 1] - inside) / h, (inside - x[i]) / h];
  const slope = (y[i + 1] - y[i]) / h + (h / 6) * ((3 * b * b - 1) * second[i + 1] - (3 * a * a - 1) * second[i]);
  const value = a * y[i] + b * y[i + 1] + (((a ** 3 - a) * second[i] + (b ** 3 - b) * second[i + 1]) * (h * h)) / 6;
  return at === inside ? [value, slope, a * second[i] + b * second[i + 1]] : [value + slope * (at - inside), slope, 0];
}
