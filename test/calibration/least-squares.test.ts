/** Least squares on published problems of Moré, Garbow & Hillstrom, *Testing unconstrained optimization software*. */
import { describe, expect, it } from "vitest";
import { withDifferences } from "../../src/calibration/differences.ts";
import { leastSquares, leastSquaresBatch } from "../../src/calibration/least-squares.ts";

const free = { lower: Array(4).fill(-Infinity), upper: Array(4).fill(Infinity) };

const rosenbrock = ([x, y]: Float64Array): { residuals: Float64Array; jacobian: Float64Array } => ({
  residuals: Float64Array.of(10 * (y - x * x), 1 - x),
  jacobian: Float64Array.of(-20 * x, 10, -1, 0),
});

/** Problem 15: Kowalik and Osborne's function; published minimum of the sum 3.07505e-4. */
const kowalikOsborne = ([a, b, c, d]: Float64Array): Float64Array => {
  const y = [0.1957, 0.1947, 0.1735, 0.16, 0.0844, 0.0627, 0.0456, 0.0342, 0.0323, 0.0235, 0.0246];
  const u = [4, 2, 1, 0.5, 0.25, 0.167, 0.125, 0.1, 0.0833, 0.0714, 0.0625];
  return Float64Array.from(u, (v, i) => y[i] - (a * (v * v + v * b)) / (v * v + v * c + d));
};

describe("Levenberg and Marquardt", () => {
  it("solves Rosenbrock's problem exactly", () => {
    const fit = leastSquares([-1.2, 1], free, rosenbrock);
    expect(fit.status).toBe("converged");
    expect(fit.point[0]).toBeCloseTo(1, 12);
    expect(fit.point[1]).toBeCloseTo(1, 12);
  });

  it("finds the published minimum of Kowalik and Osborne's function by differences", () => {
    const fit = leastSquares([0.25, 0.39, 0.415, 0.39], free, withDifferences(kowalikOsborne, free));
    expect(fit.status).toBe("converged");
    expect(fit.sum).toBeCloseTo(3.07505e-4, 8);
    expect(fit.standardErrors.every((error) => error > 0)).toBe(true);
  });

  it("ends on a bound where the minimum lies outside, from many starts at once", async () => {
    // With x ≤ ½ the smallest residual of Rosenbrock's problem is at x = ½, y = ¼.
    const spec = { lower: [-2, -2], upper: [0.5, 2] };
    const fits = await leastSquaresBatch(
      [
        [-1.2, 1],
        [0.5, 2],
        [0, 0],
      ],
      spec,
      async (points) => points.map(rosenbrock),
    );
    for (const { status, point, standardErrors } of fits) {
      expect(status).toBe("converged");
      expect(point[0]).toBe(0.5);
      expect(point[1]).toBeCloseTo(0.25, 10);
      expect(standardErrors[0]).toBeNaN();
    }
  });

  it("says that it failed where there is no number at the start", () => {
    const nowhere = { residuals: Float64Array.of(Number.NaN), jacobian: Float64Array.of(1) };
    expect(leastSquares([1], free, () => nowhere).status).toBe("failed");
    expect(() => leastSquares([1], { lower: [1], upper: [0] }, () => nowhere)).toThrow("expected an interval");
  });
});

it("standard errors of a straight line are those of the textbook", () => {
  const [x, y] = [
    [1, 2, 4, 5, 8],
    [2.1, 3.9, 8.3, 9.6, 16.4],
  ];
  const line = ([a, b]: Float64Array) => ({
    residuals: Float64Array.from(x, (at, i) => a + b * at - y[i]),
    jacobian: Float64Array.from(x.flatMap((at) => [1, at])),
  });
  const { point, standardErrors } = leastSquares([0, 0], { lower: [-9, -9], upper: [9, 9] }, line);
  // Slope Sxy/Sxx with s²/Sxx, s² = Σe²/(5 − 2); intercept with s²·(1/5 + x̄²/Sxx).
  const mean = (of: readonly number[]): number => of.reduce((sum, value) => sum + value, 0) / of.length;
  const sxx = x.reduce((sum, at) => sum + (at - mean(x)) ** 2, 0);
  const slope = x.reduce((sum, at, i) => sum + (at - mean(x)) * (y[i] - mean(y)), 0) / sxx;
  const intercept = mean(y) - slope * mean(x);
  const variance = x.reduce((sum, at, i) => sum + (y[i] - intercept - slope * at) ** 2, 0) / 3;
  expect(point[0]).toBeCloseTo(intercept, 9);
  expect(point[1]).toBeCloseTo(slope, 10);
  expect(standardErrors[0]).toBeCloseTo(Math.sqrt(variance * (1 / 5 + mean(x) ** 2 / sxx)), 10);
  expect(standardErrors[1]).toBeCloseTo(Math.sqrt(variance / sxx), 10);
});
