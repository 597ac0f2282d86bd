/** Iterations and preconditioners for one large system, against LAPACK's solutions. */
import { afterAll, describe, expect, test } from "vitest";
import type { Device } from "../../../src/device/index.ts";
import { DisposedError, ShapeError, SpecError } from "../../../src/base/errors.ts";
import type { Precision } from "../../../src/kernel/index.ts";
import {
  type KrylovMethod,
  type KrylovResult,
  KrylovSolver,
  krylovSpec,
  type KrylovOptions,
  preconditioner,
  type PreconditionerOptions,
  sparseMatrix,
  SparseOperator,
  stencil,
  stencilMatrix,
} from "../../../src/numerics/linalg/index.ts";
import { iluPreconditioner } from "../../../src/numerics/linalg/krylov/ilu.ts";
import { disposeAll, openTestDevices } from "../../support/devices.ts";
import { dealt, everything } from "../../support/extent.ts";
import { InterpreterDevice } from "../../support/interpreter-device.ts";
import { norm, residualOf, solved, systemNamed, systems } from "./krylov-support.ts";
import { devicePairs, uploaded } from "./sparse-support.ts";

const devices = [
  ...(await openTestDevices({ emulatedDouble: everything })),
  { label: "interpreter", device: new InterpreterDevice(), missing: "" },
];
afterAll(() => {
  for (const { device } of devices) expect(device?.liveBuffers ?? 0).toBe(0);
  disposeAll(devices);
});

const methods = ["bicgstab", "cgs", "cg", "gmres"] as const satisfies readonly KrylovMethod[];
const cpu = devices[0].device!;
/** What the sum of a residual may be off by, in units of ‖A‖·‖x‖ + ‖b‖: some hundred operations. */
const rounding = { f64: 1e-13, f32: 1e-5, f32x2: 1e-11 } as const;
const tolerance = { f64: 1e-10, f32: 1e-4, f32x2: 1e-9 } as const;

/**
 * That it says what is true: the residual is that of x, and where it says that x solves the system, x is LAPACK's
 * within ‖x − x̂‖/‖x‖ ≤ κ(A)·‖r‖/‖b‖.
 */
function expectTrue(
  system: (typeof systems)[number],
  precision: Precision,
  relative: number,
  { result, x }: { result: KrylovResult; x: ArrayLike<number> },
): void {
  const size = norm(system.values) * norm(x) + norm(system.b);
  const slack = rounding[precision] * size;
  if (result.status !== "not-finite")
    expect(Math.abs(result.residual - residualOf(system, x))).toBeLessThanOrEqual(slack);
  if (result.status !== "converged") return;
  expect(result.relativeResidual).toBeLessThanOrEqual(relative * (1 + 1e-6));
  if (system.x === null) return;
  const error = norm(system.x.map((value, i) => value - x[i])) / norm(system.x);
  expect(error).toBeLessThanOrEqual(system.condition! * (relative + slack / norm(system.b)));
}

describe("on the CPU, every system", () => {
  const spd = ["laplace"];
  /** What must be solved without a preconditioner; of the others only the truth is asked for. */
  const solvable: Readonly<Record<KrylovMethod, readonly string[]>> = {
    bicgstab: ["laplace", "convection", "random", "dense row", "singular, consistent", "indefinite"],
    cgs: ["laplace", "convection", "random", "dense row", "singular, consistent", "indefinite"],
    cg: [...spd, "singular, consistent"],
    gmres: ["laplace", "convection", "random", "dense row", "singular, consistent", "indefinite"],
  };

  test.each(methods)("%s", async (method) => {
    for (const system of systems) {
      const relative = 1e-10;
      const got = await solved(cpu, "f64", system, { method, tolerance: { relative }, maxIterations: 600 });
      expectTrue(system, "f64", relative, got);
      if (solvable[method].includes(system.name))
        expect([system.name, got.result.status]).toEqual([system.name, "converged"]);
    }
  });

  const preconditioners: readonly PreconditionerOptions[] = [
    { kind: "jacobi" },
    { kind: "block-jacobi", size: 7 },
    { kind: "ilu0" },
  ];
  test.each(preconditioners)("preconditioned by $kind", async (kind) => {
    for (const system of systems.filter(({ name }) => !/singular|empty|cyclic/.test(name))) {
      for (const method of methods) {
        if (method === "cg" && !spd.includes(system.name)) continue;
        const options = { method, tolerance: { relative: 1e-10 } };
        const plain = await solved(cpu, "f64", system, options);
        const got = await solved(cpu, "f64", system, options, { preconditioner: (a) => preconditioner(a, kind) });
        expectTrue(system, "f64", 1e-10, got);
        expect([system.name, method, got.result.status]).toEqual([system.name, method, "converged"]);
        // Incomplete factors halve the iterations, at the least; rows that are badly scaled need any of the three.
        if (kind.kind === "ilu0") expect(got.result.iterations).toBeLessThanOrEqual(0.6 * plain.result.iterations);
        if (system.name === "ill-conditioned") expect(got.result.iterations).toBeLessThan(30);
      }
    }
  });

  test.each([0, 1])("preconditioned by lines along axis %i of a grid", async (axis) => {
    for (const name of ["laplace", "convection"]) {
      const lines = { kind: "lines", shape: [10, 10], axis } as const;
      const got = await solved(cpu, "f64", systemNamed(name), {}, { preconditioner: (a) => preconditioner(a, lines) });
      expect(got.result.status).toBe("converged");
      expectTrue(systemNamed(name), "f64", 1e-10, got);
    }
  });
});

describe("preconditioners", () => {
  /** M⁻¹r. */
  async function applied(
    matrix: Parameters<typeof SparseOperator.create>[1],
    kind: PreconditionerOptions,
    r: number[],
  ) {
    using a = await SparseOperator.create(cpu, matrix);
    using m = await preconditioner(a, kind);
    using from = uploaded(cpu, "f64", Float64Array.from(r));
    using to = uploaded(cpu, "f64", new Float64Array(r.length));
    m.apply(from, to);
    return [...(await cpu.read(to))];
  }
  const r = (n: number): number[] => Array.from({ length: n }, (_, i) => Math.sin(3 * i) + 0.1);
  const close = (got: readonly number[], expected: readonly number[]): void => {
    const worst = expected.reduce((most, value, i) => Math.max(most, Math.abs(value - got[i])), 0);
    expect(worst).toBeLessThanOrEqual(1e-12 * norm(expected));
  };

  test("are exact where they leave nothing out", async () => {
    // A tridiagonal matrix is its own ILU(0), one line, and one block.
    const [n, b] = [50, r(50)];
    const tridiagonal = stencil({ shape: [n], points: [[-1], [0], [1]], coefficient: [-1.2, 3, -0.7] });
    using a = await SparseOperator.create(cpu, tridiagonal);
    for (const kind of [
      { kind: "ilu0" },
      { kind: "lines", shape: [n], axis: 0 },
      { kind: "block-jacobi", size: n },
    ] as const) {
      using z = uploaded(cpu, "f64", Float64Array.from(await applied(tridiagonal, kind, b)));
      using back = uploaded(cpu, "f64", new Float64Array(n));
      a.apply({ x: z, y: back });
      close([...(await cpu.read(back))], b);
    }
  });

  test("blocks need pivoting: a zero on the diagonal of a block", async () => {
    const swap = sparseMatrix({ rows: 3, columns: 3, row: [0, 1, 2], column: [1, 0, 2], values: [2, 4, 5] });
    expect(await applied(swap, { kind: "block-jacobi", size: 2 }, [8, 12, 10])).toEqual([3, 4, 2]);
  });

  test("ILU(0) of a grid wider than a workgroup: the factors' product is A on A's pattern", async () => {
    // Along diagonals of a 3-D grid there are levels of all widths, some by several workgroups.
    const points = [
      [0, 0, 0],
      [0, 0, 1],
      [0, 0, -1],
      [0, 1, 0],
      [0, -1, 0],
      [1, 0, 0],
      [-1, 0, 0],
    ];
    const grid = stencil({ shape: [30, 40, 40], points, coefficient: [7, -1.5, -1, -1, -0.5, -1, -1] });
    const matrix = stencilMatrix(grid);
    const b = r(matrix.rows);
    const expected = iluOnHost(matrix, b);
    close(await applied(matrix, { kind: "ilu0" }, b), expected);
    using a = await SparseOperator.create(cpu, matrix);
    using m = await iluPreconditioner(a, true);
    using from = uploaded(cpu, "f64", Float64Array.from(b));
    using to = uploaded(cpu, "f64", new Float64Array(b.length));
    m.refresh();
    m.apply(from, to);
    close([...(await cpu.read(to))], expected);
    expect(await m.failure()).toBe(undefined);
  });

  test("see changed values after `refresh`", async () => {
    const matrix = sparseMatrix({ rows: 2, columns: 2, row: [0, 1], column: [0, 1], values: [2, 4] });
    using a = await SparseOperator.create(cpu, matrix);
    using m = await preconditioner(a, { kind: "jacobi" });
    using x = uploaded(cpu, "f64", Float64Array.of(1, 1));
    using z = uploaded(cpu, "f64", Float64Array.of(0, 0));
    cpu.write(a.arrays.values, Float64Array.of(5, 10));
    m.refresh();
    m.apply(x, z);
    expect([...(await cpu.read(z))]).toEqual([0.2, 0.1]);
  });

  test("name the row that has no pivot", async () => {
    const matrix = sparseMatrix({ rows: 3, columns: 3, row: [0, 1, 2], column: [0, 2, 1], values: [1, 1, 1] });
    const message = (name: string): string => `preconditioner: ${name}: row 1 has no pivot`;
    await expect(applied(matrix, { kind: "jacobi" }, r(3))).rejects.toThrow(message("Jacobi"));
    await expect(applied(matrix, { kind: "ilu0" }, r(3))).rejects.toThrow(message("ILU(0)"));
    const singular = stencil({ shape: [2, 2], points: [[0, 1]], coefficient: [1] });
    await expect(applied(singular, { kind: "lines", shape: [2, 2], axis: 1 }, r(4))).rejects.toThrow("row 0 has no");
    // Node (1, 0) of a grid of 3 × 2: the second line along axis 0 begins at row 1, and its next node is row 3.
    const grid = sparseMatrix({
      rows: 6,
      columns: 6,
      row: [0, 1, 2, 3, 4, 5],
      column: [0, 1, 2, 5, 4, 3],
      values: [1, 1, 1, 1, 1, 1],
    });
    await expect(applied(grid, { kind: "lines", shape: [3, 2], axis: 0 }, r(6))).rejects.toThrow("row 3 has no");
    await expect(applied(matrix, { kind: "lines", shape: [2, 2], axis: 1 }, r(3))).rejects.toThrow(ShapeError);
    await expect(applied(matrix, { kind: "block-jacobi", size: 0 }, r(3))).rejects.toThrow("size: got 0");
    await expect(applied(matrix, { kind: "amg" } as never, r(3))).rejects.toThrow(SpecError);
    expect(cpu.liveBuffers).toBe(0);
  });
});

describe("how iterations end", () => {
  const solve = (name: string, options: KrylovOptions, guess?: readonly number[]) =>
    solved(cpu, "f64", systemNamed(name), options, guess === undefined ? {} : { guess });

  test("breakdowns, stagnation, too few iterations, infinities", async () => {
    const status = async (name: string, options: KrylovOptions): Promise<string> =>
      (await solve(name, options)).result.status;
    // r̂·A·r̂ = 0 at once; A is indefinite; gmres makes no progress before n steps; b is not in the range.
    expect(await status("cyclic shift", { method: "bicgstab" })).toBe("breakdown");
    expect(await status("indefinite", { method: "cg" })).toBe("breakdown");
    expect(await status("cyclic shift", { method: "gmres", restart: 20 })).toBe("stagnation");
    expect(await status("cyclic shift", { method: "gmres", restart: 60 })).toBe("converged");
    expect(await status("convection", { maxIterations: 3 })).toBe("max-iterations");
    for (const method of methods)
      expect(["converged"]).not.toContain(await status("singular, inconsistent", { method }));
    // Rounding keeps the residual above this.
    expect(await status("convection", { tolerance: { relative: 1e-18 }, patience: 20 })).toBe("stagnation");
    const infinite = { ...systemNamed("laplace"), b: systemNamed("laplace").b.map((_, i) => (i === 3 ? Infinity : 1)) };
    expect((await solved(cpu, "f64", infinite, {})).result).toMatchObject({ status: "not-finite", iterations: 0 });
  });

  test("a good guess takes no iteration, b = 0 gives x = 0", async () => {
    const { x } = systemNamed("laplace");
    expect((await solve("laplace", {}, x!)).result).toMatchObject({ status: "converged", iterations: 0 });
    const zero = { ...systemNamed("laplace"), b: x!.map(() => 0) };
    const got = await solved(cpu, "f64", zero, {}, { guess: x! });
    expect(got.result).toEqual({ status: "converged", iterations: 0, residual: 0, relativeResidual: 0 });
    expect(Math.max(...Array.from(got.x, Math.abs))).toBe(0);
  });

  test("how often the host asks changes nothing", async () => {
    for (const method of methods) {
      const [one, many] = [
        await solve("laplace", { method, checkEvery: 1 }),
        await solve("laplace", { method, checkEvery: 47 }),
      ];
      expect(many.result).toEqual(one.result);
      expect(Array.from(many.x)).toEqual(Array.from(one.x));
    }
  });

  test("iterations recorded without waiting", async () => {
    const { x } = systemNamed("convection");
    for (const method of methods.filter((name) => name !== "cg")) {
      using a = await SparseOperator.create(cpu, sparseMatrix({ ...systemNamed("convection"), columns: 100 }));
      using solver = await KrylovSolver.create(a, krylovSpec({ method }));
      using b = uploaded(cpu, "f64", Float64Array.from(systemNamed("convection").b));
      using into = uploaded(cpu, "f64", new Float64Array(100));
      solver.record({ b, x: into }, 50);
      const got = await cpu.read(into);
      expect((await solver.result()).status).toBe("converged");
      expect(norm(x!.map((value, i) => value - got[i])) / norm(x!)).toBeLessThan(1e-8);
      solver.record({ b, x: into }, 0);
      expect((await solver.result()).iterations).toBe(0);
    }
  });

  test("errors", async () => {
    expect(() => krylovSpec({ method: "jacobi" as never })).toThrow(
      'krylovSpec: method: got "jacobi", expected "bicgstab", "cgs", "cg" or "gmres"',
    );
    expect(() => krylovSpec({ tolerance: { relative: -1 } })).toThrow("krylovSpec: tolerance.relative: got -1");
    expect(() => krylovSpec({ restart: 0 })).toThrow(
      "krylovSpec: restart: got 0, expected a whole number from 1 to 1,000",
    );
    const wide = sparseMatrix({ rows: 1, columns: 2, row: [], column: [], values: [] });
    using a = await SparseOperator.create(cpu, wide);
    await expect(KrylovSolver.create(a, krylovSpec())).rejects.toThrow("a matrix of 1 × 2, expected a square one");
    using square = await SparseOperator.create(cpu, stencil({ shape: [4], points: [[0]], coefficient: [2] }));
    using solver = await KrylovSolver.create(square, krylovSpec());
    using b = uploaded(cpu, "f64", new Float64Array(4));
    using short = uploaded(cpu, "f64", new Float64Array(3));
    await expect(solver.solve({ b, x: short })).rejects.toThrow("KrylovSolver: x: got 3 elements of f64");
    await expect(solver.solve({ b, x: b })).rejects.toThrow("KrylovSolver: b and x are one buffer");
    solver[Symbol.dispose]();
    await expect(solver.solve({ b, x: short })).rejects.toThrow(DisposedError);
  });
});

const elsewhere = devicePairs(devices.slice(1)).filter(
  ({ label, precision }) => label !== "interpreter" || precision === "f32",
);
describe.each(elsewhere)("$label, $precision", ({ label, device, missing, precision }) => {
  if (device === undefined) {
    test(missing, ({ skip }) => skip(missing));
    return;
  }
  const isCpu = label.startsWith("cpu") || label === "interpreter";
  const run = (on: Device, method: KrylovMethod, kind?: PreconditionerOptions) =>
    solved(
      on,
      precision,
      systemNamed(method === "cg" ? "laplace" : "convection"),
      {
        method,
        tolerance: { relative: tolerance[precision] },
        restart: 12,
      },
      kind === undefined ? {} : { preconditioner: (a) => preconditioner(a, kind) },
    );

  // Emulated devices take seconds to compile what a method needs; preconditioned they have bicgstab.
  const few = everything ? (["bicgstab", "gmres"] as const) : (["gmres"] as const);
  const cases = (
    isCpu ? dealt(methods, precision === "f64" ? 0 : 1, 2) : precision === "f32x2" ? ["bicgstab" as const] : few
  ).map((method) => ({ method }));
  test.each(cases)("$method", async ({ method }) => {
    const got = await run(device, method);
    expect(got.result.status).toBe("converged");
    expectTrue(systemNamed(method === "cg" ? "laplace" : "convection"), precision, tolerance[precision], got);
    // The same bits on any number of threads, and as the interpreter has them.
    if (isCpu) {
      const one = await run(cpu, method);
      expect(Array.from(got.x)).toEqual(Array.from(one.x));
    }
  });

  test("preconditioned", async () => {
    for (const kind of [{ kind: "ilu0" }, { kind: "lines", shape: [10, 10], axis: 1 }] as const) {
      if (precision === "f32x2" && kind.kind === "lines") continue;
      const got = await run(device, "bicgstab", kind);
      expect([kind.kind, got.result.status]).toEqual([kind.kind, "converged"]);
      expectTrue(systemNamed("convection"), precision, tolerance[precision], got);
    }
  });
});

/** L·U with the pattern of A, and U⁻¹·L⁻¹·r: Saad (2003), algorithm 10.4, in plain JavaScript on dense rows. */
function iluOnHost(matrix: ReturnType<typeof stencilMatrix>, r: readonly number[]): number[] {
  const { rows, starts, column, values } = matrix;
  const row = Array.from({ length: rows }, (_, i) => {
    const entries = new Map<number, number>();
    for (let k = starts[i]; k < starts[i + 1]; k++) entries.set(column[k], values[k]);
    return entries;
  });
  for (let i = 0; i < rows; i++)
    for (const [p, value] of row[i]) {
      if (p >= i) continue;
      const factor = value / row[p].get(p)!;
      row[i].set(p, factor);
      for (const [j, u] of row[p]) if (j > p && row[i].has(j)) row[i].set(j, row[i].get(j)! - factor * u);
    }
  const z = [...r];
  for (let i = 0; i < rows; i++) for (const [j, l] of row[i]) if (j < i) z[i] -= l * z[j];
  for (let i = rows - 1; i >= 0; i--) {
    for (const [j, u] of row[i]) if (j > i) z[i] -= u * z[j];
    z[i] /= row[i].get(i)!;
  }
  return z;
}
