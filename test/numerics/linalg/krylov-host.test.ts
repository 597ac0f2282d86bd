/** Systems in plain arrays, and what bad input to sparse matrices and solvers gets. */
import { afterAll, describe, expect, test } from "vitest";
import { createCpuDevice } from "../../../src/device/cpu/index.ts";
import { ShapeError, SpecError } from "../../../src/base/errors.ts";
import {
  convertSparse,
  csrMatrix,
  KrylovBatch,
  KrylovSolver,
  krylovSpec,
  parseMatrixMarket,
  preconditioner,
  type PreconditionerOptions,
  solveSparse,
  sparseMatrix,
  SparseOperator,
} from "../../../src/numerics/linalg/index.ts";
import { matrixOf, norm, systemNamed } from "./krylov-support.ts";

const device = createCpuDevice({ threads: 1 });
afterAll(() => {
  expect(device.liveBuffers).toBe(0);
  device[Symbol.dispose]();
});

const methods = ["bicgstab", "cgs", "cg", "gmres"] as const;
const laplace = systemNamed("laplace");

describe("solveSparse", () => {
  test("ends when its signal says so", async () => {
    const control = new AbortController();
    const solving = solveSparse(matrixOf(laplace), laplace.b, { checkEvery: 1, signal: control.signal, device });
    control.abort(new Error("enough"));
    await expect(solving).rejects.toThrow("enough");
  });

  test.each(methods)("%s with every preconditioner, against LAPACK", async (method) => {
    const kinds: readonly (PreconditionerOptions | undefined)[] = [
      undefined,
      { kind: "jacobi" },
      { kind: "block-jacobi", size: 5 },
      { kind: "ilu0" },
      { kind: "lines", shape: [10, 10], axis: 0 },
    ];
    for (const kind of kinds) {
      const options = { method, device, ...(kind === undefined ? {} : { preconditioner: kind }) };
      const { status, x, relativeResidual } = await solveSparse(matrixOf(laplace), laplace.b, options);
      expect(status).toBe("converged");
      expect(relativeResidual).toBeLessThanOrEqual(1e-10);
      const error = norm(laplace.x!.map((value, i) => value - x[i])) / norm(laplace.x!);
      expect(error).toBeLessThan(laplace.condition! * 2e-10);
    }
  });

  test("a first guess, f32, and its own device", async () => {
    const { iterations, x } = await solveSparse(matrixOf(laplace), laplace.b, {
      x: laplace.x!,
      tolerance: { relative: 1e-9 },
      device,
    });
    expect(iterations).toBe(0);
    expect(Array.from(x)).toEqual(laplace.x);
    const single = await solveSparse(matrixOf(laplace), laplace.b, { precision: "f32", tolerance: { relative: 1e-4 } });
    expect(single.status).toBe("converged");
    expect(single.x).toBeInstanceOf(Float32Array);
  });

  test("errors", async () => {
    const a = matrixOf(laplace);
    await expect(solveSparse(a, [1, 2], { device })).rejects.toThrow(
      "b: got 2 elements, expected 100, one for each row",
    );
    await expect(solveSparse(a, laplace.b, { x: [1], device })).rejects.toThrow(ShapeError);
    await expect(solveSparse(a, 5 as never, { device })).rejects.toThrow(
      "b: got a number, expected an array of numbers",
    );
    await expect(solveSparse(a, laplace.b, { relative: 1e-3 } as never)).rejects.toThrow("relative: unknown");
    const wide = sparseMatrix({ rows: 1, columns: 2, row: [0], column: [0], values: [1] });
    await expect(solveSparse(wide, [1], { device })).rejects.toThrow("a matrix of 1 × 2, expected a square one");
  });
});

/** Its square is 0 in f64, so that the sums of the iteration are. */
const TINY = 1e-170;
const unsolved = { bicgstab: "breakdown", cgs: "breakdown", cg: "breakdown", gmres: "stagnation" } as const;

test.each(methods)("%s: a small right-hand side does not count as zero", async (method) => {
  const b = laplace.b.map(() => TINY);
  const { status, relativeResidual, x } = await solveSparse(matrixOf(laplace), b, { method, device });
  expect(status).toBe(unsolved[method]);
  expect(relativeResidual).toBeGreaterThan(0.99);
  expect(Array.from(x).every((value) => Number.isFinite(value))).toBe(true);
  using batch = await KrylovBatch.create(device, [matrixOf(laplace)], krylovSpec({ method }));
  using rhs = device.createBuffer("f64", b.length);
  using solution = device.createBuffer("f64", b.length);
  device.write(rhs, Float64Array.from(b));
  batch.solve({ b: rhs, x: solution });
  expect((await batch.results())[0].status).toBe(unsolved[method]);
  // Zero itself has the solution zero, from any guess.
  const zero = await solveSparse(
    matrixOf(laplace),
    b.map(() => 0),
    { method, device, x: laplace.x! },
  );
  expect(zero.status).toBe("converged");
  expect(norm(zero.x)).toBe(0);
});

describe("what no compiler has seen", () => {
  const one = sparseMatrix({ rows: 1, columns: 1, row: [0], column: [0], values: [2] });
  test.each([
    [
      "another layout",
      () => sparseMatrix({ rows: 1, columns: 1, entries: [[0, 0, 2]] } as never),
      "row: got nothing, expected an array of numbers",
    ],
    ["no values", () => sparseMatrix({ rows: 1, columns: 1, row: [0], column: [0] } as never), "values: got nothing"],
    ["nothing", () => sparseMatrix(undefined as never), "sparseMatrix: got nothing, expected an object with rows"],
    [
      "duplicates",
      () => sparseMatrix({ rows: 1, columns: 1, row: [0], column: [0], values: [2], duplicates: "add" } as never),
      'duplicates: got "add", expected "error" or "sum"',
    ],
    ["other names", () => csrMatrix({ rows: 1, columns: 1, indptr: [0, 1] } as never), "starts: got nothing"],
    ["no starts", () => csrMatrix({ rows: 1, columns: 1, column: [], values: [] } as never), "starts: got nothing"],
    ["bytes", () => parseMatrixMarket(new Uint8Array(3) as never), 'read it with the encoding "utf8"'],
    ["no text", () => parseMatrixMarket(undefined as never), "expected the text of the file or its lines"],
    [
      "an option",
      () => krylovSpec({ relative: 1e-5 } as never),
      "relative: unknown; expected one of method, tolerance",
    ],
    ["an option", () => convertSparse(one, "bcsr", { size: [2, 2] } as never), "size: unknown"],
  ])("%s", (_, make, message) => {
    expect(make).toThrow(SpecError);
    expect(make).toThrow(message);
  });

  test("a specification may be the start of another", () => {
    const spec = krylovSpec({ method: "cg" });
    const tolerance = { absolute: 0, relative: 1e-4 };
    expect(krylovSpec({ ...spec, tolerance })).toEqual({ ...spec, tolerance });
    expect(csrMatrix(one)).toEqual(one);
  });

  test("operators and solvers", async () => {
    using a = await SparseOperator.create(device, one);
    await expect(SparseOperator.create(device, one, { format: "ell" } as never)).rejects.toThrow("format: unknown");
    await expect(preconditioner(a, undefined as never)).rejects.toThrow("preconditioner: got nothing");
    await expect(preconditioner(a, "jacobi" as never)).rejects.toThrow("preconditioner: got a string");
    await expect(preconditioner(a, { kind: "ilu" } as never)).rejects.toThrow('kind "ilu", expected jacobi');
    const lines = { preconditioner: { kind: "lines", axis: 0 } } as never;
    await expect(KrylovBatch.create(device, [one], krylovSpec(), lines)).rejects.toThrow("shapes: missing");
    await expect(KrylovBatch.create(device, [one], krylovSpec(), { lanes: 2 } as never)).rejects.toThrow(
      "lanes: unknown",
    );
    using solver = await KrylovSolver.create(a, krylovSpec());
    await expect(solver.solve({ b: [1], x: [0] } as never)).rejects.toThrow(
      "KrylovSolver: b: got an array, expected a buffer: device.createBuffer(…), then device.write(buffer, …)",
    );
    expect(() => a.apply({ x: new Float64Array(1), y: [0] } as never)).toThrow("x: got an object (Float64Array)");
  });
});
