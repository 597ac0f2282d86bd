/** Optimal quantizers of N(0, 1), by Newton's method. */
import { fn, real } from "../../../kernel/index.ts";
import type { Quantizer } from "../quantizer.ts";
import { checkWholeNumber } from "../../../base/argument-checks.ts";
import { gaussLegendre } from "../../../numerics/linalg/index.ts";

/** Returns Φ(x), with full relative accuracy for x < 0. */
export const normalCdf = fn({ params: [real], body: ([x], gpu) => gpu.normalCdf(x) });
const quantile = fn({ params: [real], body: ([p], gpu) => gpu.inverseNormalCdf(p) });

/** Returns the density φ(x) of the standard normal distribution. */
export const normalPdf = (x: number): number => Math.exp(-0.5 * x * x) / Math.sqrt(2 * Math.PI);

/** A bound on time: a second. */
const MAX_SIZE = 20_000;
const MAX_ITERATIONS = 200;

/**
 * Returns the optimal quadratic quantizer of N(0, 1) with N points, which is unique (the density is log-concave).
 *
 *   xᵢ·P(Cᵢ) = E[X; Cᵢ],   Cᵢ = (½(xᵢ₋₁ + xᵢ), ½(xᵢ + xᵢ₊₁)]
 *
 * is solved by Newton's method for x − E[X | C] = 0, whose matrix is tridiagonal, for the negative half of the points;
 * the other half is its mirror image. The first guess is √3 times quantiles, since the points' density tends to
 * φ^(1/3). Weights keep their relative accuracy in the tails. The distortion is integrated cell by cell, so that it
 * keeps its digits for large N.
 *
 * Cost: about 10 iterations of 2N values of Φ; milliseconds for N = 500. Accuracy: rounding.
 * Source: G. Pagès and J. Printems, Monte Carlo Methods and Applications 9 (2003) 135–165. Verified:
 * test/quadrature/quantization/line.test.ts, against values of 40 digits.
 *
 * @param size N, from 1 to 20,000.
 * @throws SpecError for another size.
 * @example
 * import { optimalNormalLine } from "feynkac/quantization";
 *
 * const { points, distortion } = optimalNormalLine(10);
 * console.log(points[9]!.toFixed(6), distortion.toFixed(6)); // 2.345096 0.022937
 * @experimental
 */
export function optimalNormalLine(size: number): Quantizer {
  checkWholeNumber("optimalNormalLine: size", size, 1, MAX_SIZE);
  const half = newton(size);
  const points = new Float64Array(size);
  const weights = new Float64Array(size);
  const { mass } = cellsOf(half, size);
  half.forEach((x, i) => {
    points[i] = x;
    points[size - 1 - i] = -x;
    weights[i] = mass[i];
    weights[size - 1 - i] = mass[i];
  });
  if (size % 2 === 1) weights[half.length] = 1 - 2 * mass.reduce((sum, w) => sum + w, 0);
  return { dimension: 1, size, points, weights, distortion: lineDistortion(points), errorEstimate: 0 };
}

/** The negative points, increasing. */
function newton(size: number): Float64Array {
  let points = new Float64Array(size >> 1).map((_, i) => Math.sqrt(3) * quantile((2 * i + 1) / (2 * size)));
  let state = newtonStep(points, size);
  for (let iteration = 0; iteration < MAX_ITERATIONS && state.residual > 0; iteration++) {
    // Far from the solution a step may cross points, or lead away: half of it then, and so on. A step that no share
    // improves is one of rounding.
    for (let share = 1; ; share /= 2) {
      if (share < 1e-4) return points;
      const next = points.map((x, i) => x - share * state.step[i]);
      const after = isIncreasing(next) ? newtonStep(next, size) : undefined;
      if (after === undefined || after.residual >= state.residual) continue;
      [points, state] = [next, after];
      break;
    }
  }
  return points;
}

const isIncreasing = (points: Float64Array): boolean =>
  points.every((x, i) => x < 0 && x > (i === 0 ? -Infinity : points[i - 1]));

/** The cells of the negative points: upper ends with the density there, and masses. */
function cellsOf(points: Float64Array, size: number) {
  const count = points.length;
  const end = points.map((x, i) => (i + 1 < count ? 0.5 * (x + points[i + 1]) : size % 2 === 1 ? 0.5 * x : 0));
  const density = end.map(normalPdf);
  const below = end.map((x) => normalCdf(x));
  const mass = below.map((p, i) => (i === 0 ? p : p - below[i - 1]));
  return { end, density, mass };
}

/**
 * The solution of J·step = x − T(x), T the means of the cells and J the derivative of x − T(x), by Thomas' algorithm;
 * and the largest |x − T(x)|. When an end of a cell moves by ½, its mean moves by its distance to the end times the
 * density there, over twice the mass.
 */
function newtonStep(points: Float64Array, size: number): { readonly step: Float64Array; readonly residual: number } {
  const count = points.length;
  const { end, density, mass } = cellsOf(points, size);
  const upper = new Float64Array(count);
  const step = new Float64Array(count);
  let residual = 0;
  for (let i = 0; i < count; i++) {
    const below = i === 0 ? 0 : density[i - 1];
    const mean = (below - density[i]) / mass[i];
    residual = Math.max(residual, Math.abs(points[i] - mean));
    const lower = i === 0 ? 0 : (0.5 * (mean - end[i - 1]) * below) / mass[i];
    // The last end is 0 wherever the points are if their number is even.
    const isFixed = i === count - 1 && size % 2 === 0;
    const coupling = isFixed ? 0 : (0.5 * (end[i] - mean) * density[i]) / mass[i];
    const pivot = 1 - coupling - lower - (i === 0 ? 0 : lower * upper[i - 1]);
    upper[i] = coupling / pivot;
    step[i] = (points[i] - mean + (i === 0 ? 0 : lower * step[i - 1])) / pivot;
  }
  for (let i = count - 2; i >= 0; i--) step[i] += upper[i] * step[i + 1];
  return { step, residual };
}

/**
 * Returns E minᵢ (X − xᵢ)² of N(0, 1) for increasing points, by quadrature in bounded cells and in closed form in the
 * others:
 *
 *   ∫ from −∞ to b of (x − a)²·φ(x) dx = (1 + a²)·Φ(b) − (b − 2a)·φ(b)
 */
function lineDistortion(points: Float64Array): number {
  const size = points.length;
  const tail = (a: number, b: number): number => (1 + a * a) * normalCdf(b) - (b - 2 * a) * normalPdf(b);
  if (size === 1) return 1 + points[0] ** 2;
  const { nodes, weights } = gaussLegendre(20);
  let sum = tail(points[0], 0.5 * (points[0] + points[1]));
  for (let i = 1; i < size - 1; i++) {
    const [left, right] = [0.5 * (points[i - 1] + points[i]), 0.5 * (points[i] + points[i + 1])];
    const [middle, half] = [0.5 * (left + right), 0.5 * (right - left)];
    for (let k = 0; k < nodes.length; k++) {
      const x = middle + half * nodes[k];
      sum += half * weights[k] * (x - points[i]) ** 2 * normalPdf(x);
    }
  }
  return sum + tail(-points[size - 1], -0.5 * (points[size - 2] + points[size - 1]));
}
