import { describe, expect, test } from "vitest";
import { ShapeError, SpecError } from "../../../src/base/errors.ts";
import { isPositiveSemidefinite, nearestCorrelation, symmetricEigen } from "../../../src/numerics/linalg/index.ts";
import { randomMatrix } from "./dense-reference.ts";

const at = (values: ArrayLike<number>, n: number) => (i: number, j: number) => values[i * n + j];

describe("the nearest correlation matrix", () => {
  /**
   * Higham, IMA J. Numer. Anal. 22 (2002) 329–343: the matrices of his experiments and the nearest ones, to four
   * decimals.
   */
  test.each([
    {
      name: "the indefinite matrix of order 3",
      matrix: [1, 1, 0, 1, 1, 1, 0, 1, 1],
      nearest: [1, 0.7607, 0.1573, 0.7607, 1, 0.7607, 0.1573, 0.7607, 1],
    },
    {
      name: "the second difference matrix of order 4",
      matrix: [2, -1, 0, 0, -1, 2, -1, 0, 0, -1, 2, -1, 0, 0, -1, 2],
      nearest: [
        [1, -0.8084, 0.1916, 0.1068],
        [-0.8084, 1, -0.6562, 0.1916],
        [0.1916, -0.6562, 1, -0.8084],
        [0.1068, 0.1916, -0.8084, 1],
      ].flat(),
    },
  ])("$name", ({ matrix, nearest }) => {
    const result = nearestCorrelation(matrix);
    expect(result.converged).toBe(true);
    nearest.forEach((value, k) => expect(Math.abs(result.values[k] - value)).toBeLessThan(0.5e-4));
    const distance = Math.hypot(...nearest.map((value, k) => value - matrix[k]));
    expect(Math.abs(result.distance - distance)).toBeLessThan(nearest.length * 0.5e-4);
  });

  /**
   * X is nearest if and only if X − A − D ⪰ 0 for a diagonal D (the multipliers) and (X − A − D)·X = 0 (Higham 2002,
   * Theorem 2.2): D follows from the diagonal of the second condition.
   */
  test.each([5, 8, 13])("satisfies the conditions of optimality, order %i", (n) => {
    const noise = randomMatrix(n, n, n);
    const matrix = Float64Array.from({ length: n * n }, (_, k) => {
      const [i, j] = [Math.floor(k / n), k % n];
      return i === j ? 1 : Math.max(-1, Math.min(1, noise.values[Math.min(i, j) * n + Math.max(i, j)] * 1.2));
    });
    const { values } = nearestCorrelation(matrix);
    const [x, a] = [at(values, n), at(matrix, n)];
    const range = Array.from({ length: n }, (_, i) => i);
    const diagonal = range.map((i) => range.reduce((sum, k) => sum + (x(i, k) - a(i, k)) * x(k, i), 0));
    const z = Float64Array.from({ length: n * n }, (_, k) => {
      const [i, j] = [Math.floor(k / n), k % n];
      return x(i, j) - a(i, j) - (i === j ? diagonal[i] : 0);
    });
    expect(symmetricEigen(z, n).values[0]).toBeGreaterThan(-1e-9);
    for (const i of range)
      for (const j of range)
        expect(Math.abs(range.reduce((sum, k) => sum + z[i * n + k] * x(k, j), 0))).toBeLessThan(1e-9);
    expect(symmetricEigen(values, n).values[0]).toBeGreaterThan(-1e-10);
  });

  test("leaves a correlation matrix as it is, and one of order 0 and 1", () => {
    const matrix = [1, 0.3, -0.2, 0.3, 1, 0.4, -0.2, 0.4, 1];
    const { values, distance, iterations } = nearestCorrelation(matrix);
    expect([...values]).toEqual(matrix);
    expect([distance, iterations]).toEqual([0, 1]);
    expect([...nearestCorrelation([0.5]).values]).toEqual([1]);
    expect(nearestCorrelation([]).values).toHaveLength(0);
  });

  test("keeps the least eigenvalue that is asked for", () => {
    const { values } = nearestCorrelation([1, 1, 0, 1, 1, 1, 0, 1, 1], { minEigenvalue: 0.01 });
    expect(Math.abs(symmetricEigen(values, 3).values[0] - 0.01)).toBeLessThan(1e-10);
    expect([values[0], values[4], values[8]]).toEqual([1, 1, 1]);
  });

  test("says when it has not converged", () => {
    expect(nearestCorrelation([1, 1, 0, 1, 1, 1, 0, 1, 1], { maxIterations: 3 })).toMatchObject({
      converged: false,
      iterations: 3,
    });
  });

  test("refuses what is no symmetric matrix, and options out of range", () => {
    expect(() => nearestCorrelation([1, 2, 3])).toThrow("nearestCorrelation: 3 values, expected n·n, row by row");
    expect(() => nearestCorrelation([1, 0.5, 0.4, 1])).toThrow("elements [1, 0] and [0, 1]: got 0.4 and 0.5");
    expect(() => nearestCorrelation([1, NaN, NaN, 1])).toThrow(ShapeError);
    expect(() => nearestCorrelation([1], { relative: 1e-3 } as never)).toThrow("relative: unknown");
    expect(() => nearestCorrelation([1], { tolerance: { relative: 0 } })).toThrow(
      "tolerance.relative 0, expected a number > 0",
    );
    expect(() => nearestCorrelation([1], { maxIterations: 0.5 })).toThrow(SpecError);
    expect(() => nearestCorrelation([1], { minEigenvalue: 1 })).toThrow("minEigenvalue 1, expected 0 ≤ it < 1");
  });
});

describe("whether a matrix is positive semi-definite", () => {
  /** The eigenvalues of n equal correlations c are 1 − c, n − 1 times, and 1 + (n − 1)·c. */
  const equal = (n: number, c: number) => Float64Array.from({ length: n * n }, (_, k) => (k % (n + 1) === 0 ? 1 : c));

  test.each([2, 3, 7, 40])("equal correlations of order %i: from −1/(n − 1) to 1", (n) => {
    const lowest = -1 / (n - 1);
    for (const c of [lowest, 0, 0.5, 1]) expect(isPositiveSemidefinite(equal(n, c))).toBe(true);
    for (const c of [lowest - 1e-8, 1 + 1e-8]) expect(isPositiveSemidefinite(equal(n, c))).toBe(false);
  });

  test("Higham's matrices are not, and the nearest ones are", () => {
    const matrices = [
      [1, 1, 0, 1, 1, 1, 0, 1, 1],
      [1, -1, 0, 0, -1, 1, -1, 0, 0, -1, 1, -1, 0, 0, -1, 1],
    ];
    for (const matrix of matrices) {
      expect(isPositiveSemidefinite(matrix)).toBe(false);
      expect(isPositiveSemidefinite(nearestCorrelation(matrix).values)).toBe(true);
    }
  });

  test("the tolerance is relative to the largest eigenvalue", () => {
    expect(isPositiveSemidefinite([1e6, 0, 0, -1], { relative: 1e-5 })).toBe(true);
    expect(isPositiveSemidefinite([1e6, 0, 0, -1], { relative: 1e-7 })).toBe(false);
    expect(isPositiveSemidefinite([-1])).toBe(false);
    expect(isPositiveSemidefinite([0])).toBe(true);
    expect(isPositiveSemidefinite([])).toBe(true);
  });

  test("refuses what is no symmetric matrix, and a tolerance out of range", () => {
    expect(() => isPositiveSemidefinite([1, 2])).toThrow("isPositiveSemidefinite: 2 values, expected n·n, row by row");
    expect(() => isPositiveSemidefinite([1, 0.5, 0.4, 1])).toThrow(ShapeError);
    expect(() => isPositiveSemidefinite([1], { relative: -1 })).toThrow("tolerance.relative -1, expected a number ≥ 0");
  });
});

describe("eigenvalues of symmetric matrices", () => {
  test("of the second difference matrix: 2 − 2·cos(kπ/(n + 1))", () => {
    const n = 20;
    const matrix = Float64Array.from({ length: n * n }, (_, k) => {
      const apart = Math.abs(Math.floor(k / n) - (k % n));
      return apart === 0 ? 2 : apart === 1 ? -1 : 0;
    });
    const { values, vectors } = symmetricEigen(matrix, n);
    values.forEach((value, k) => {
      expect(Math.abs(value - (2 - 2 * Math.cos(((k + 1) * Math.PI) / (n + 1))))).toBeLessThan(1e-13);
    });
    const [a, q] = [at(matrix, n), at(vectors, n)];
    for (let j = 0; j < n; j++) {
      for (let i = 0; i < n; i++) {
        let [image, product] = [0, 0];
        for (let k = 0; k < n; k++) {
          image += a(i, k) * q(k, j);
          product += q(k, i) * q(k, j);
        }
        expect(Math.abs(image - values[j] * q(i, j))).toBeLessThan(1e-13);
        expect(Math.abs(product - (i === j ? 1 : 0))).toBeLessThan(1e-13);
      }
    }
  });

  test("of a diagonal matrix, of the null matrix, and not of NaN", () => {
    expect([...symmetricEigen([3, 0, 0, -1], 2).values]).toEqual([-1, 3]);
    expect([...symmetricEigen(new Float64Array(9), 3).values]).toEqual([0, 0, 0]);
    expect(() => symmetricEigen([1, NaN, NaN, 1], 2)).toThrow(ShapeError);
  });
});

test("eigenvalues that are positive and too small are raised, too", () => {
  // Of two variables: 1 − |ρ| is the smallest eigenvalue.
  for (const rho of [0.99, -0.95, 0.9000001]) {
    const { values } = nearestCorrelation([1, rho, rho, 1], { minEigenvalue: 0.1 });
    const expected = [1, 0.9 * Math.sign(rho), 0.9 * Math.sign(rho), 1];
    values.forEach((value, i) => expect(value).toBeCloseTo(expected[i], 9));
  }
  expect([...nearestCorrelation([1, 0.5, 0.5, 1], { minEigenvalue: 0.1 }).values]).toEqual([1, 0.5, 0.5, 1]);
});
