/** Systems whose solution is known: exactly, by dyadic data, or from LAPACK. On every device, in its best precision. */
import { afterAll, describe, expect, test } from "vitest";
import { type Algorithm, solveTridiagonal, tridiagonalSpec } from "../../../src/numerics/linalg/tridiagonal/index.ts";
import { offeredPrecision } from "../../../src/device/index.ts";
import { disposeAll, openTestDevices } from "../../support/devices.ts";
import { dealt, everything } from "../../support/extent.ts";
import { readFixture } from "../../support/fixtures.ts";
import {
  backwardError,
  dgtsv,
  drand48,
  drawn,
  dyadic,
  type Equations,
  normwiseError,
  solveBatch,
  UNIT,
} from "./tridiagonal-support.ts";

interface KnownCase {
  readonly id: string;
  readonly params: {
    readonly n: number;
    readonly matrix: string;
    readonly recipe: string;
    readonly float32_exact: boolean;
    readonly a?: readonly number[];
    readonly b?: readonly number[];
    readonly c?: readonly number[];
    readonly d?: readonly number[];
  };
  readonly expected: {
    readonly x_first: readonly number[];
    readonly x_last: readonly number[];
    readonly d_first: readonly number[];
    readonly d_last: readonly number[];
  };
  readonly tolerance: { readonly rel: number };
  readonly float64_relative_forward_errors: Readonly<Record<string, number | null>>;
}
const { cases: known } = readFixture("reference/tridiagonal.json") as { cases: readonly KnownCase[] };

interface LapackCase {
  readonly kind: "dominant" | "general" | "graded" | "singular";
  readonly rows: number;
  readonly seed: number;
  readonly info: number;
  readonly x: readonly number[];
}
const { cases: lapack } = readFixture("tridiagonal/lapack.json") as { cases: readonly LapackCase[] };

const exactSolution = (n: number): Float64Array => Float64Array.from({ length: n }, (_, i) => ((7 * i + 3) % 17) - 8);

/** The file's recipes; d = A·x is exact. */
function equationsOf({ params: { n, matrix, a, b, c, d } }: KnownCase): Equations {
  const array = (make: (i: number) => number): Float64Array => Float64Array.from({ length: n }, (_, i) => make(i));
  if (d !== undefined)
    return {
      lower: array((i) => a![i]),
      diagonal: array((i) => b![i]),
      upper: array((i) => c![i]),
      rhs: array((i) => d[i]),
    };
  const toeplitz = (low: number, middle: number, high: number): Omit<Equations, "rhs"> => ({
    lower: array((i) => (i > 0 ? low : 0)),
    diagonal: array(() => middle),
    upper: array((i) => (i < n - 1 ? high : 0)),
  });
  const made: Readonly<Record<string, () => Omit<Equations, "rhs">>> = {
    poisson: () => toeplitz(-1, 2, -1),
    "toeplitz_-1_4_-1": () => toeplitz(-1, 4, -1),
    tiny_diagonal: () => toeplitz(1, 2 ** -27, 1),
    random: () => drawn(n, 1),
    zero_diagonal: () => {
      const next = drand48(5);
      const draw = (count: number): number[] => Array.from({ length: count }, () => dyadic(next));
      const [low, , high] = [draw(n - 1), draw(n), draw(n - 1)];
      const filled = (values: number[]): number[] => values.map((value) => (value === 0 ? 1 / 1024 : value));
      return {
        lower: Float64Array.from([0, ...filled(low)]),
        diagonal: array(() => 0),
        upper: Float64Array.from([...filled(high), 0]),
      };
    },
  };
  const { lower, diagonal, upper } = made[matrix]();
  const x = exactSolution(n);
  const rhs = array((i) => lower[i] * (x[i - 1] ?? 0) + diagonal[i] * x[i] + upper[i] * (x[i + 1] ?? 0));
  return { lower, diagonal, upper, rhs };
}

function fixtureEquations({ kind, rows, seed }: LapackCase): Equations {
  const { lower, diagonal, upper, rhs } = drawn(rows, seed);
  const k = Math.floor(rows / 2);
  if (kind === "dominant") for (let i = 0; i < rows; i++) diagonal[i] += diagonal[i] >= 0 ? 3 : -3;
  if (kind === "graded") {
    for (let i = 0; i < rows; i++) {
      const scale = 2 ** ((i % 40) - 20);
      lower[i] *= scale;
      diagonal[i] *= scale;
      upper[i] *= scale;
      rhs[i] *= scale;
    }
  }
  if (kind === "singular") for (const array of [lower, diagonal, upper]) array[k] = 0;
  return { lower, diagonal, upper, rhs };
}

const relative = (x: ArrayLike<number>, expected: ArrayLike<number>): number => {
  const size = Math.max(...Array.from(expected, Math.abs));
  return Math.max(...Array.from(expected, (value, i) => Math.abs(x[i] - value))) / size;
};

const devices = await openTestDevices({ emulatedDouble: everything });
afterAll(() => disposeAll(devices));

test("the recipes give the right-hand sides of the file", () => {
  for (const one of known) {
    const { rhs } = equationsOf(one);
    expect([one.id, Array.from(rhs.subarray(0, 4))]).toEqual([one.id, one.expected.d_first]);
    expect([one.id, Array.from(rhs.subarray(-one.expected.d_last.length))]).toEqual([one.id, one.expected.d_last]);
    expect([one.id, Array.from(exactSolution(one.params.n).subarray(0, 4))]).toEqual([one.id, one.expected.x_first]);
  }
});

/** Algorithms that eliminate in the order of the rows: they solve the same matrices as Thomas' algorithm. */
const inOrder = new Set(["thomas", "partition", "register-hybrid"]);

for (const [hand, { label, device, missing }] of devices.entries()) {
  describe(device === undefined ? missing : label, () => {
    // The best precision of WebGPU is emulated pairs, whose own test takes seconds.
    const on = test.skipIf(device === undefined || (label === "webgpu" && !everything));
    const systems = label === "cpu, 1 thread" ? known : dealt(known, hand, 3);
    // The GPUs' emulators take seconds for a kernel, and every size of these is another one.
    const algorithms: readonly Algorithm[] =
      label === "cpu, 1 thread"
        ? ["pivoting", "thomas", "cr", "pcr", "cr-pcr", "register-hybrid", "partition"]
        : ["pivoting", "thomas"];
    on.each(algorithms)("known systems: %s", async (algorithm) => {
      const precision = await offeredPrecision(device!, "f64");
      for (const one of systems) {
        const { n } = one.params;
        // Without pivoting a matrix has to be made for it: what the file says of Thomas' algorithm and pcr decides.
        const other = one.float64_relative_forward_errors[inOrder.has(algorithm) ? "thomas" : "pcr"];
        const tame =
          other !== null &&
          other !== undefined &&
          other < one.tolerance.rel &&
          !/random$|tiny|zero/.test(one.params.matrix);
        if (algorithm !== "pivoting" && !tame) continue;
        const spec = tridiagonalSpec({ rows: n, batch: 1, precision, algorithm });
        const given = equationsOf(one);
        const { x, error, failures } = await solveBatch(device!, spec, [given]);
        expect([one.id, failures]).toEqual([one.id, []]);
        // f32x2 holds the file's numbers, but for the 2⁻²⁷ of O-08 all in one word; its unit is 2⁹ times that of f64.
        const unit = precision === "f64" ? 1 : UNIT.f32x2 / UNIT.f64;
        expect(error).toBeLessThanOrEqual(1e-14 * unit);
        expect(relative(x[0], exactSolution(n))).toBeLessThanOrEqual(one.tolerance.rel * unit);
      }
    });

    on("LAPACK's solutions, and its info", async () => {
      const precision = await offeredPrecision(device!, "f64");
      for (const one of lapack) {
        const spec = tridiagonalSpec({ rows: one.rows, batch: 1, precision, algorithm: "pivoting" });
        const given = fixtureEquations(one);
        const { x, failures } = await solveBatch(device!, spec, [given]);
        if (one.info > 0) {
          expect(failures).toEqual([{ system: 0, status: { kind: "zero-pivot", row: one.info - 1 } }]);
          continue;
        }
        expect(failures).toEqual([]);
        expect(normwiseError(given, x[0])).toBeLessThanOrEqual(8 * UNIT[precision]);
        // Without contraction the arithmetic is LAPACK's, and so is every bit.
        if (device!.backend === "cpu") expect(Array.from(x[0])).toEqual(one.x);
      }
    });
  });
}

test("the oracle of the other tests is LAPACK's, too", () => {
  for (const one of lapack) {
    const { x, info } = dgtsv(fixtureEquations(one));
    expect(info).toBe(one.info);
    if (info === 0) expect(Array.from(x)).toEqual(one.x);
  }
});

test("plain arrays: the docstring's example, and a batch along an axis", async () => {
  const { x, failures } = await solveTridiagonal({
    lower: [0, 1, 1],
    diagonal: [4, 4, 4],
    upper: [1, 1, 0],
    rhs: [5, 6, 5],
  });
  expect([Array.from(x), failures]).toEqual([[1, 1, 1], []]);
  const equations = drawn(6, 3);
  const swapped = await solveTridiagonal(
    { lower: [9, 9, 1, 1, 1, 1], diagonal: [4, 4, 4, 4, 4, 4], upper: [1, 1, 1, 1, 9, 9], rhs: [5, 5, 6, 6, 5, 5] },
    { shape: [3, 2], axis: 0, algorithm: "thomas" },
  );
  expect(Array.from(swapped.x, (value) => Number(value.toFixed(14)))).toEqual([1, 1, 1, 1, 1, 1]);
  const singular = await solveTridiagonal({ ...equations, diagonal: new Float64Array(6), lower: new Float64Array(6) });
  expect(singular.failures).toEqual([{ system: 0, status: { kind: "zero-pivot", row: 0 } }]);
  expect(backwardError(equations, dgtsv(equations).x)).toBeLessThan(1e-15);
});
