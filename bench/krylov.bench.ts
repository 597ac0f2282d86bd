/** Krylov methods on the CPU: one large system beside SciPy, and a time loop over a batch of small ones. */
import { createCpuDevice } from "../src/device/cpu/index.ts";
import type { Device } from "../src/device/index.ts";
import {
  convertSparse,
  type CsrMatrix,
  KrylovBatch,
  type KrylovMethod,
  KrylovSolver,
  krylovSpec,
  preconditioner,
  type PreconditionerOptions,
  SparseOperator,
  stencil,
  stencilMatrix,
} from "../src/numerics/linalg/index.ts";
import { type Benchmark, type Context, median } from "./harness.ts";
import { openScipy } from "./peers/scipy.ts";

/** One step of implicit Euler for heat with a wind on a box of nodes: 1 − Δt·L, L by seven points. */
function heat(shape: readonly number[], dt: number): CsrMatrix {
  const points = [shape.map(() => 0)];
  const coefficient = [1];
  shape.forEach((n, axis) => {
    const h = 1 / (n + 1);
    for (const side of [1, -1]) {
      points.push(shape.map((_, a) => (a === axis ? side : 0)));
      const weight = 0.02 / h ** 2 + (side * 0.03) / (2 * h);
      coefficient.push(-dt * weight);
      coefficient[0] += dt * weight;
    }
  });
  return stencilMatrix(stencil({ shape, points, coefficient }));
}

/** Seconds per iteration, the median of some solutions with as many iterations each. */
async function perIteration(
  device: Device,
  matrix: CsrMatrix,
  method: KrylovMethod,
  kind: PreconditionerOptions | undefined,
  { quick }: Context,
): Promise<number> {
  const n = matrix.rows;
  const iterations = quick ? 4 : 20;
  // The operator has diagonals, the preconditioner compressed rows.
  using a = await SparseOperator.create(device, convertSparse(matrix, "dia"));
  using rows = await SparseOperator.create(device, matrix);
  const m = kind === undefined ? undefined : await preconditioner(rows, kind);
  const spec = krylovSpec({ method, tolerance: { relative: 0 }, maxIterations: iterations, restart: iterations });
  using solver = await KrylovSolver.create(a, spec, m);
  using b = device.createBuffer("f64", n);
  using x = device.createBuffer("f64", n);
  device.write(
    b,
    Float64Array.from({ length: n }, (_, i) => Math.sin(i)),
  );
  const seconds: number[] = [];
  for (let k = 0; k < (quick ? 2 : 7); k++) {
    device.write(x, new Float64Array(n));
    await device.finish();
    const start = performance.now();
    solver.record({ b, x }, iterations);
    await device.finish();
    seconds.push((performance.now() - start) / 1e3 / iterations);
  }
  m?.[Symbol.dispose]();
  return median(seconds);
}

/** The grids of the combination technique of a level in three axes, 2^l − 1 inner nodes each. */
function combination(level: number): readonly (readonly number[])[] {
  const shapes: number[][] = [];
  for (let total = level; total > level - 3; total--)
    for (let i = 1; i <= total - 2; i++)
      for (let j = 1; j <= total - i - 1; j++) shapes.push([i, j, total - i - j].map((l) => 2 ** l - 1));
  return shapes;
}

async function timeLoop(threads: number, context: Context): Promise<void> {
  using device = createCpuDevice({ threads });
  const shapes = combination(context.quick ? 6 : 10);
  const matrices = shapes.map((shape) => heat(shape, 1 / 5000));
  const steps = context.quick ? 5 : 100;
  for (const preconditioner of ["none", "jacobi"] as const) {
    const spec = krylovSpec({ method: "bicgstab", tolerance: { relative: 1e-8 } });
    using batch = await KrylovBatch.create(device, matrices, spec, { preconditioner });
    using b = device.createBuffer("f64", batch.rows);
    using x = device.createBuffer("f64", batch.rows);
    const seconds: number[] = [];
    for (let k = 0; k < 4; k++) {
      device.write(x, new Float64Array(batch.rows).fill(1));
      await device.finish();
      const start = performance.now();
      batch.solve({ b, x, steps, carry: 1 });
      await device.finish();
      seconds.push((performance.now() - start) / 1e3);
    }
    const results = await batch.results();
    const failed = results.filter(({ status }) => status !== "converged").length;
    if (failed > 0) throw new Error(`krylov: ${failed} systems of the batch failed`);
    const iterations = results.reduce((sum, one) => sum + one.iterations, 0) / (steps * results.length);
    const name = preconditioner === "none" ? "" : `, ${preconditioner}`;
    context.report({
      case:
        `${shapes.length} grids in three axes, ${batch.rows} rows in all, bicgstab${name}, ` +
        `${iterations.toFixed(1)} iterations per step, ${threads} thread${threads > 1 ? "s" : ""}`,
      device: context.cpu,
      precision: "f64",
      figure: (1e3 * median(seconds.slice(1))) / steps,
      unit: "ms/step",
    });
  }
}

async function run(context: Context): Promise<void> {
  const scipy = openScipy((text) => context.note(text));
  context.note("per iteration: time of a solution with a fixed number of iterations, by their number");
  const grid = context.quick ? 12 : 64;
  const matrix = heat([grid, grid, grid], 1e-2);
  const kinds: readonly (PreconditionerOptions | undefined)[] = [
    undefined,
    { kind: "jacobi" },
    { kind: "ilu0" },
    { kind: "lines", shape: [grid, grid, grid], axis: 2 },
  ];
  using device = createCpuDevice({ threads: 1 });
  for (const method of ["bicgstab", "cgs", "gmres"] as const) {
    for (const kind of kinds.slice(0, method === "bicgstab" ? 4 : 1)) {
      const peer =
        kind === undefined && method !== "gmres" ? scipy?.iteration(grid, method, context.quick ? 4 : 20) : undefined;
      context.report({
        case: `${method}, ${kind?.kind ?? "plain"}, 7 points, ${grid}³, dia, one thread`,
        device: context.cpu,
        precision: "f64",
        figure: 1e3 * (await perIteration(device, matrix, method, kind, context)),
        unit: "ms/iteration",
        ...(peer === undefined ? {} : { peers: { "SciPy, csr": 1e3 * peer } }),
      });
    }
  }
  for (const threads of [1, 2]) await timeLoop(threads, context);
}

export const benchmark: Benchmark = {
  name: "krylov",
  description: "Krylov methods on the CPU: a large system beside SciPy, a time loop over a batch of small ones",
  run,
};
