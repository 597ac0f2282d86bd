/** Sparse products in every format and Krylov solutions, against the CPU in f64. */
import type { Device } from "../../../src/device/device.ts";
import type { Precision } from "../../../src/kernel/index.ts";
import {
  convertSparse,
  type OperatorOptions,
  type SparseMatrix,
  SparseOperator,
} from "../../../src/numerics/linalg/index.ts";
import {
  KrylovBatch,
  krylovSpec,
  preconditioner,
  type PreconditionerOptions,
} from "../../../src/numerics/linalg/index.ts";
import { matrixOf, norm, solved, systemNamed } from "../../../test/numerics/linalg/krylov-support.ts";
import { matrices, uploaded, vector, worstProduct } from "../../../test/numerics/linalg/sparse-support.ts";
import { type Check, type Family, isSlow, some } from "../check.ts";

const formats: Readonly<
  Record<string, readonly [make: (a: ReturnType<typeof matrixOf>) => SparseMatrix, OperatorOptions]>
> = {
  "csr, scalar": [(a) => a, { algorithm: "scalar" }],
  "csr, vector": [(a) => a, { algorithm: "vector" }],
  "csr, aligned": [(a) => a, { algorithm: "aligned", lanes: 16 }],
  coo: [(a) => convertSparse(a, "coo"), {}],
  bcsr: [(a) => convertSparse(a, "bcsr"), {}],
  ell: [(a) => convertSparse(a, "ell"), {}],
  dia: [(a) => convertSparse(a, "dia"), {}],
  hyb: [(a) => convertSparse(a, "hyb"), {}],
  pkt: [(a) => convertSparse(a, "pkt"), {}],
};

async function worstOf(device: Device, precision: Precision, name: string): Promise<number> {
  const [make, options] = formats[name];
  let worst = 0;
  for (const which of ["random", "banded", "empty rows", "one dense row"]) {
    const matrix = matrices(precision)[which];
    const given = {
      x: vector(matrix.columns, 5, precision),
      y: vector(matrix.rows, 6, precision),
      alpha: -0.5,
      beta: 2,
    };
    using operator = await SparseOperator.create(device, make(matrix), { ...options, precision });
    using x = uploaded(device, precision, given.x);
    using y = uploaded(device, precision, given.y);
    operator.apply({ x, y, alpha: -0.5, beta: 2 });
    worst = Math.max(worst, worstProduct(matrix, precision, given, await device.read(y)));
  }
  return worst;
}

const tolerance = { f64: 1e-10, f32: 1e-4, f32x2: 1e-9 } as const;

export const sparse: Family = (target, context) => {
  const { device, precision } = target;
  const products = some(Object.keys(formats), context, 3).map((name): Check => ({
    name,
    async run() {
      const error = await worstOf(device, precision, name);
      return { error, failure: error <= 1 ? undefined : `${error} times the bound on rounding` };
    },
  }));
  const relative = tolerance[precision];
  const system = systemNamed("convection");
  const error = (x: ArrayLike<number>): number => norm(system.x!.map((value, i) => value - x[i])) / norm(system.x!);
  // ‖x − x̂‖/‖x‖ ≤ κ(A)·‖r‖/‖b‖, and as much again for rounding.
  const bound = 2 * system.condition! * relative;
  const verdict = (status: string, size: number) => ({
    error: size,
    failure: status === "converged" && size <= bound ? undefined : `${status}, error ${size}, at most ${bound} allowed`,
  });
  const kinds: readonly (PreconditionerOptions | undefined)[] = [
    undefined,
    { kind: "jacobi" },
    { kind: "block-jacobi", size: 4 },
    { kind: "ilu0" },
    { kind: "lines", shape: [10, 10], axis: 0 },
  ];
  const methods = ["bicgstab", "cgs", "gmres"] as const;
  const pairs = methods.flatMap((method) => kinds.map((kind) => ({ method, kind })));
  const launches = some(isSlow(target) ? pairs.slice(0, 5) : pairs, context, 4).map(({ method, kind }): Check => ({
    name: `${method}, ${kind?.kind ?? "plain"}`,
    async run() {
      const with_ = kind === undefined ? {} : { preconditioner: (a: SparseOperator) => preconditioner(a, kind) };
      const { result, x } = await solved(device, precision, system, { method, tolerance: { relative } }, with_);
      return verdict(result.status, error(x));
    },
  }));
  const batches = some(isSlow(target) ? methods.slice(0, 1) : methods, context, 2).map((method): Check => ({
    name: `a workgroup a system, ${method}, ilu0`,
    async run() {
      const options = { precision, preconditioner: "ilu0" } as const;
      using batch = await KrylovBatch.create(
        device,
        [matrixOf(system)],
        krylovSpec({ method, tolerance: { relative }, restart: 10 }),
        options,
      );
      using b = uploaded(device, precision, Float64Array.from(system.b));
      using x = uploaded(device, precision, new Float64Array(system.rows));
      batch.solve({ b, x });
      const [{ status }] = await batch.results();
      return verdict(status, error(await device.read(x)));
    },
  }));
  return [
    { family: "sparse products", unit: "of the bound on rounding", checks: products },
    { family: "Krylov solutions", unit: "relative, against LAPACK", checks: [...launches, ...batches] },
  ];
};
