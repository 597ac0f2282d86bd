/** What cannot be solved says so: statuses a system, and errors of wrong use. */
import { afterAll, describe, expect, test } from "vitest";
import { DisposedError, PrecisionError, SpecError } from "../../../src/base/errors.ts";
import {
  type Algorithm,
  describeStatus,
  type Placement,
  solveTridiagonal,
  TridiagonalSolver,
  tridiagonalSpec,
  type TridiagonalOptions,
} from "../../../src/numerics/linalg/tridiagonal/index.ts";
import { disposeAll, openTestDevices } from "../../support/devices.ts";
import { Batch, dominant, type Equations, solveBatch } from "./tridiagonal-support.ts";

const devices = await openTestDevices();
afterAll(() => disposeAll(devices));
const [{ device: first }] = devices;
const cpu = first!;

/** A good system, but for row k of the matrix, and nothing above or below it couples to it. */
function zeroAt(rows: number, k: number): Equations {
  const given = dominant(rows, 5);
  given.diagonal[k] = 0;
  given.lower[k] = 0;
  given.upper[k] = 0;
  if (k > 0) given.upper[k - 1] = 0;
  if (k < rows - 1) given.lower[k + 1] = 0;
  return given;
}

const WITHOUT_PIVOTING = ["thomas", "cr", "pcr", "cr-pcr", "register-hybrid", "partition"] as const;

for (const { label, device, missing } of devices) {
  const algorithms: readonly Algorithm[] =
    label === "webgpu" ? ["thomas", "pivoting", "pcr"] : [...WITHOUT_PIVOTING, "pivoting"];
  describe(device === undefined ? missing : label, () => {
    test.skipIf(device === undefined).each(algorithms)(
      "%s names the row of a zero pivot, and the other systems are solved",
      async (algorithm) => {
        const rows = 40;
        const precision = device!.precisions.includes("f64") ? "f64" : "f32";
        const spec = tridiagonalSpec({ rows, batch: 4, precision, algorithm });
        const given = [dominant(rows, 1), zeroAt(rows, 0), zeroAt(rows, 17), zeroAt(rows, rows - 1)];
        const { x, failures } = await solveBatch(device!, spec, given);
        expect(failures.map(({ system }) => system)).toEqual([1, 2, 3]);
        expect(x[0].every(Number.isFinite)).toBe(true);
        for (const { status } of failures) expect(status.kind).toBe("zero-pivot");
        // Elimination in the order of the rows meets the row itself; where rows are eliminated in parallel it may meet
        // its neighbour's first.
        if (algorithm === "thomas" || algorithm === "pivoting") {
          expect(failures.map(({ status }) => "row" in status && status.row)).toEqual([0, 17, 39]);
          expect(failures.map(({ status }) => describeStatus(status))[1]).toBe("zero pivot at row 17");
        }
      },
    );
  });
}

test.each(WITHOUT_PIVOTING)("%s says so where only pivoting could go on; pivoting does", async (algorithm) => {
  // The second pivot is 1 − 1·1/1 = 0, and the determinant −1.
  const given = {
    lower: Float64Array.of(0, 1, 1),
    diagonal: Float64Array.of(1, 1, 1),
    upper: Float64Array.of(1, 1, 0),
    rhs: Float64Array.of(-3, -11, -6),
  };
  const swap = {
    lower: Float64Array.of(0, 1, 1),
    diagonal: Float64Array.of(0, 0, 1),
    upper: Float64Array.of(1, 1, 0),
    rhs: Float64Array.of(2, -13, 6),
  };
  const spec = tridiagonalSpec({ rows: 3, batch: 2, precision: "f64", algorithm });
  const { failures, x } = await solveBatch(cpu, spec, [given, swap]);
  // Which of the two fails depends on the order; a system that did not fail is solved.
  const failed = failures.map(({ system }) => system);
  expect(failed).toContain(algorithm === "cr" || algorithm === "cr-pcr" ? 1 : 0);
  for (const s of [0, 1]) if (!failed.includes(s)) expect(x[s].every(Number.isFinite)).toBe(true);
  const pivoted = await solveBatch(cpu, tridiagonalSpec({ ...spec, layout: "contiguous", algorithm: "pivoting" }), [
    given,
    swap,
  ]);
  expect(pivoted.failures).toEqual([]);
  expect(Array.from(pivoted.x[0])).toEqual([-5, 2, -8]);
});

test.each([...WITHOUT_PIVOTING, "pivoting"] as const)(
  "%s never returns what is not finite in silence",
  async (algorithm) => {
    const rows = 20;
    const broken = (name: keyof Equations, value: number): Equations => {
      const given = dominant(rows, 3);
      given[name][7] = value;
      return given;
    };
    const given = [
      broken("rhs", NaN),
      broken("diagonal", NaN),
      broken("upper", NaN),
      broken("rhs", Infinity),
      dominant(rows, 2),
    ];
    const { failures } = await solveBatch(cpu, tridiagonalSpec({ rows, batch: 5, precision: "f64", algorithm }), given);
    expect(failures).toEqual([0, 1, 2, 3].map((system) => ({ system, status: { kind: "not-finite" } })));
    const huge = dominant(rows, 3);
    huge.rhs[0] = 1e308;
    huge.diagonal[0] = 1e-3;
    const overflow = await solveBatch(cpu, tridiagonalSpec({ rows, batch: 1, precision: "f64", algorithm }), [huge]);
    expect(overflow.failures).toHaveLength(1);
  },
);

test("tiny pivots: pivoting is exact where Thomas' algorithm loses everything", async () => {
  const given = {
    lower: Float64Array.of(0, 1),
    diagonal: Float64Array.of(1e-20, 1),
    upper: Float64Array.of(1, 0),
    rhs: Float64Array.of(1, 2),
  };
  const { x } = await solveBatch(cpu, tridiagonalSpec({ rows: 2, batch: 1, precision: "f64", algorithm: "pivoting" }), [
    given,
  ]);
  expect(Array.from(x[0])).toEqual([1, 1]);
});

test.each(["thomas", "pivoting", "pcr"] as const)(
  "%s: a periodic matrix that its corners make singular",
  async (algorithm) => {
    for (const rows of [3, 64, 500]) {
      const laplacian = {
        lower: new Float64Array(rows).fill(-1),
        diagonal: new Float64Array(rows).fill(2),
        upper: new Float64Array(rows).fill(-1),
        rhs: dominant(rows, 1).rhs,
      };
      const regular = { ...laplacian, diagonal: new Float64Array(rows).fill(2 + 1e-6) };
      const spec = tridiagonalSpec({ rows, batch: 2, precision: "f64", algorithm, periodic: true });
      const { failures } = await solveBatch(cpu, spec, [laplacian, regular]);
      expect([String(rows), failures]).toEqual([String(rows), [{ system: 0, status: { kind: "singular" } }]]);
    }
  },
);

test("factors of a singular matrix say so at every solution", async () => {
  for (const algorithm of ["thomas", "pivoting"] as const) {
    const spec = tridiagonalSpec({ rows: 9, batch: 2, precision: "f64", algorithm, factors: true });
    using batch = new Batch(cpu, spec, [dominant(9, 1), zeroAt(9, 4)]);
    using solver = await TridiagonalSolver.create(cpu, spec);
    solver.factor(batch.buffers);
    solver.solve(batch.buffers);
    expect(await solver.failures()).toEqual([{ system: 1, status: { kind: "zero-pivot", row: 4 } }]);
  }
});

describe("specifications", () => {
  const good = { rows: 4, batch: 2, precision: "f64" } as const;
  test("are frozen, serialisable, and know no device", () => {
    const spec = tridiagonalSpec({ ...good, layout: "interleaved" });
    expect(Object.isFrozen(spec)).toBe(true);
    expect(JSON.parse(JSON.stringify(spec))).toEqual({
      ...good,
      kind: "tridiagonal",
      stride: 2,
      algorithm: "auto",
      matrices: "each",
      periodic: false,
      factors: false,
    });
    expect(tridiagonalSpec({ shape: [3, 4, 5], axis: 1, precision: "f32" })).toMatchObject({
      rows: 4,
      batch: 15,
      stride: 5,
    });
  });

  test.each([
    [{ rows: 0 }, "rows: got 0, expected a whole number of at least 1"],
    [{ rows: 1.5 }, "rows: got 1.5"],
    [{ batch: -1 }, "batch: got -1"],
    [{ batch: Number.NaN }, "batch: got null"],
    [{ precision: "f16" }, 'precision: got "f16", expected "f64", "f32" or "f32x2"'],
    [{ algorithm: "gauss" }, 'algorithm: got "gauss", expected "auto", "thomas"'],
    [{ layout: "strided" }, 'layout: got "strided"'],
    [{ matrices: "two" }, "matrices: "],
    [{ periodic: "yes" }, 'periodic: got "yes", expected true or false'],
    [{ factors: 1 }, "factors: got 1"],
    [{ rows: 2 ** 20, batch: 2 ** 12 }, "rows × batch: got 4294967296"],
    [{ shape: [], axis: 0 }, "shape: got []"],
    [{ shape: [3, 0], axis: 0 }, "shape[1]: got 0"],
    [{ shape: [3, 4], axis: 2 }, "axis: got 2, expected a whole number from 0 to 1"],
  ])("%j is refused", (change, message) => {
    const options = { ...good, ...change } as unknown as Placement & TridiagonalOptions;
    expect(() => tridiagonalSpec(options)).toThrow(SpecError);
    expect(() => tridiagonalSpec(options)).toThrow(message);
  });
});

describe("solvers", () => {
  test("check what they are given", async () => {
    const spec = tridiagonalSpec({ rows: 4, batch: 2, precision: "f64" });
    using batch = new Batch(cpu, spec, [dominant(4, 1), dominant(4, 2)]);
    const solver = await TridiagonalSolver.create(cpu, spec);
    using short = cpu.createBuffer("f64", 7);
    using single = cpu.createBuffer("f32", 8);
    const gone = cpu.createBuffer("f64", 8);
    gone[Symbol.dispose]();
    const wrong = (part: object) => () => solver.solveInPlace({ ...batch.buffers, ...part });
    expect(wrong({ rhs: short })).toThrow(
      /TridiagonalSolver: rhs: got 7 elements of f64 of CPU.*, expected 8 of f64 of CPU/,
    );
    expect(wrong({ upper: single })).toThrow("TridiagonalSolver: upper: got 8 elements of f32");
    expect(wrong({ lower: gone })).toThrow(DisposedError);
    expect(wrong({ lower: undefined })).toThrow("lower: got nothing, expected a buffer");
    using other = devices[1].device!.createBuffer("f64", 8);
    expect(wrong({ diagonal: other })).toThrow("expected 8 of f64 of CPU, 1 thread");
    expect(() => solver.factor(batch.buffers)).toThrow("make it with factors: true");
    expect(() => solver.solve(batch.buffers)).toThrow("nothing has been factored");
    solver[Symbol.dispose]();
    solver[Symbol.dispose]();
    expect(() => solver.solveInPlace(batch.buffers)).toThrow(DisposedError);
    await expect(solver.failures()).rejects.toThrow(DisposedError);
  });

  test("refuse what does not fit, and what the device cannot compute in", async () => {
    const create = (part: object) =>
      TridiagonalSolver.create(cpu, tridiagonalSpec({ rows: 100_000, batch: 1, precision: "f64", ...part }));
    for (const algorithm of ["cr", "pcr", "cr-pcr", "register-hybrid"] as const) {
      await expect(create({ algorithm })).rejects.toThrow(SpecError);
      await expect(create({ algorithm })).rejects.toThrow('take the algorithm "partition" or "auto"');
    }
    await expect(create({ precision: "f32x2" })).rejects.toThrow(PrecisionError);
    await expect(solveTridiagonal({ lower: [1], diagonal: [1, 2], upper: [0, 0], rhs: [1, 1] })).rejects.toThrow(
      "solveTridiagonal: lower: got 1 elements, expected 2",
    );
    expect(cpu.liveBuffers).toBe(0);
  });
});
