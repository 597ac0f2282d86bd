/**
 * Reproduces Table 5 of Gaikwad and Toke: the matrices of implicit Euler steps on sparse grids, in every sparse matrix
 * format.
 */
import type { Device } from "../../src/device/index.ts";
import { kernel, read, real, write } from "../../src/kernel/index.ts";
import {
  convertSparse,
  type CsrMatrix,
  krylovSpec,
  KrylovSolver,
  type OperatorOptions,
  sparseMatrix,
  type SparseMatrix,
  SparseOperator,
} from "../../src/numerics/linalg/index.ts";

/** The sparse matrix formats that Gaikwad and Toke compare, with the functions that convert a CSR matrix to them. */
export const FORMATS: Readonly<
  Record<string, readonly [make: (a: CsrMatrix) => SparseMatrix, options?: OperatorOptions]>
> = {
  COO: [(a) => convertSparse(a, "coo")],
  "CSR scalar": [(a) => a, { algorithm: "scalar" }],
  "CSR vector": [(a) => a, { algorithm: "vector" }],
  BCSR: [(a) => convertSparse(a, "bcsr")],
  ELL: [(a) => convertSparse(a, "ell")],
  DIA: [(a) => convertSparse(a, "dia")],
  HYB: [(a) => convertSparse(a, "hyb")],
  PKT: [(a) => convertSparse(a, "pkt")],
};

/**
 * The linear system of a time step in Gaikwad and Toke's paper: its matrix, and the payoff on the grid. The grid has
 * 2^level intervals from 0 to 200 along each axis, with V = 0 on all faces.
 */
export interface PublishedSystem {
  readonly matrix: CsrMatrix;
  readonly payoff: Float64Array;
  /** The index of the unknown at which all prices are 100. */
  readonly middle: number;
}

/**
 * Builds the matrix I − h·L of a time step h with central differences on equidistant nodes, and the payoff of the call
 * on the best asset, where
 *
 *   L = Σₖ (0.02·Sₖ²·∂²/∂Sₖ² + 0.03·Sₖ·∂/∂Sₖ) − 0.03.
 *
 * `levels` has the refinement level of each axis.
 */
export function publishedSystem(levels: readonly number[], h: number): PublishedSystem {
  const counts = levels.map((level) => 2 ** level - 1);
  const strides = counts.map((_, k) => counts.slice(0, k).reduce((product, count) => product * count, 1));
  const n = counts.reduce((product, count) => product * count, 1);
  const [row, column, values]: number[][] = [[], [], []];
  const add = (i: number, j: number, value: number): void => {
    row.push(i);
    column.push(j);
    values.push(value);
  };
  const payoff = new Float64Array(n);
  for (let i = 0; i < n; i++) {
    let diagonal = 1 + 0.03 * h;
    let best = 0;
    counts.forEach((count, k) => {
      const place = Math.floor(i / strides[k]) % count;
      const s = place + 1; // In spacings.
      const [diffusion, drift] = [0.02 * s * s, 0.5 * 0.03 * s];
      diagonal += 2 * h * diffusion;
      if (place > 0) add(i, i - strides[k], -h * (diffusion - drift));
      if (place < count - 1) add(i, i + strides[k], -h * (diffusion + drift));
      best = Math.max(best, (200 * s) / (count + 1));
    });
    add(i, i, diagonal);
    payoff[i] = Math.max(best - 100, 0);
  }
  const middle = counts.reduce((sum, count, k) => sum + ((count - 1) / 2) * strides[k], 0);
  return { matrix: sparseMatrix({ rows: n, columns: n, row, column, values }), payoff, middle };
}

const copy = kernel({
  name: "copy",
  params: { from: read(real), to: write(real) },
  body({ from, to }, gpu) {
    const i = gpu.globalId();
    to[i] = from[i];
  },
});

/**
 * The time in seconds, the number of iterations and the option's value after a number of time steps in one matrix
 * format.
 */
export interface FormatTime {
  readonly seconds: number;
  readonly iterations: number;
  readonly value: number;
}

/**
 * Runs time steps with BiCGStab to a relative residual of 1e-10. Each operation of an iteration is a separate launch.
 * Each step starts from the solution of the one before.
 */
export async function stepsIn(
  device: Device,
  { matrix, payoff, middle }: PublishedSystem,
  format: string,
  steps: number,
): Promise<FormatTime> {
  const [make, options] = FORMATS[format];
  using operator = await SparseOperator.create(device, make(matrix), { ...options, precision: "f64" });
  using solver = await KrylovSolver.create(
    operator,
    krylovSpec({ method: "bicgstab", tolerance: { relative: 1e-10 }, checkEvery: 2 }),
  );
  const program = await device.compile(copy, { precision: "f64" });
  const n = payoff.length;
  using x = device.createBuffer("f64", n);
  using b = device.createBuffer("f64", n);
  const run = async (count: number): Promise<number> => {
    device.write(x, payoff);
    let iterations = 0;
    for (let step = 0; step < count; step++) {
      device.launch(program, { from: x, to: b }, { items: n });
      iterations += (await solver.solve({ b, x })).iterations;
    }
    return iterations;
  };
  await run(1);
  const start = performance.now();
  const iterations = await run(steps);
  const seconds = (performance.now() - start) / 1e3;
  return { seconds, iterations, value: (await device.read(x, middle, 1))[0] };
}
