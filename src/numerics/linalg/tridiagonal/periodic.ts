import type { Device, DeviceBuffer } from "../../../device/index.ts";
import { hostRealType, i32, type Kernel, kernel, read, real, write } from "../../../kernel/index.ts";
import { memoize } from "../../../base/memoize.ts";
import { type Matrix, type TridiagonalBatch, type Layout, layoutOf, systemBase } from "./method.ts";
import { SINGULAR } from "./status.ts";

interface PeriodicVariant {
  readonly layout: Layout;
  readonly shared: boolean;
}

/**
 * The matrix without its corners, A′ = A − u·vᵀ, with u = (γ, 0 … 0, upper[n−1]), v = (1, 0 … 0, lower[0]/γ), γ =
 * −diagonal[0]; and u, where q = A′⁻¹u will be; and lower[0]/γ. Of one or two rows the corners fall on entries that are
 * there already: they are added, and u = 0. One item per element, in the order of memory. Cost per row: 3 words read, 4
 * written.
 */
const prepareKernel = kernel({
  name: "periodic-prepare",
  params: {
    rows: i32,
    stride: i32,
    lower: read(real),
    diagonal: read(real),
    upper: read(real),
    outLower: write(real),
    outDiagonal: write(real),
    outUpper: write(real),
    q: write(real),
    corner: write(real),
  },
  body({ rows, stride, lower, diagonal, upper, outLower, outDiagonal, outUpper, q, corner }, gpu) {
    const e = gpu.globalId();
    const i = ((e / stride) | 0) % rows;
    const top = e - i * stride;
    const bottom = top + (rows - 1) * stride;
    let a = lower[e];
    let b = diagonal[e];
    let c = upper[e];
    let u = 0.0;
    if (rows === 1) b += a + c;
    else if (rows === 2) {
      if (i === 0) c += a;
      else a += c;
    } else {
      const b0 = diagonal[top];
      const gamma = b0 === 0 ? 1.0 : -b0;
      if (i === 0) {
        b -= gamma;
        u = gamma;
        corner[((e / (stride * rows)) | 0) * stride + (e % stride)] = a / gamma;
      }
      if (i === rows - 1) {
        b -= upper[bottom] * (lower[top] / gamma);
        u = upper[bottom];
      }
    }
    outLower[e] = a;
    outDiagonal[e] = b;
    outUpper[e] = c;
    q[e] = u;
  },
});

/**
 * Computes the multiple of q by which the solution of A′y = d is off: (vᵀy)/(1 + vᵀq), by Sherman & Morrison (1950).
 * Where the divisor is nothing but rounding, A is singular. Cost per system: 8 words.
 */
const shareKernel = memoize(({ layout, shared }: PeriodicVariant): Kernel =>
  kernel({
    name: `periodic-share-${layout}${shared ? "-shared" : ""}`,
    params: {
      rows: i32,
      stride: i32,
      epsilon: real,
      corner: read(real),
      q: read(real),
      y: read(real),
      inner: read(i32),
      share: write(real),
      status: write(i32),
    },
    env: { base: systemBase[layout], shared, singular: SINGULAR },
    body({ rows, stride, epsilon, corner, q, y, inner, share, status }, gpu, { base, shared, singular }) {
      const s = gpu.globalId();
      const top = base(s, rows, stride);
      const bottom = top + (rows - 1) * stride;
      const first = shared ? 0 : top;
      const last = shared ? rows - 1 : bottom;
      const v = corner[shared ? 0 : s];
      const qTop = q[first];
      const qBottom = v * q[last];
      const divisor = 1 + qTop + qBottom;
      const size = 1 + Math.abs(qTop) + Math.abs(qBottom);
      const lost = rows > 2 && Math.abs(divisor) <= epsilon * size;
      share[s] = lost || rows < 3 ? 0.0 : (y[top] + v * y[bottom]) / divisor;
      let word = inner[shared ? 0 : s];
      if (word === 0) word = status[s];
      if (word === 0 && lost) word = singular;
      if (word === 0 && !Number.isFinite(share[s])) word = -1;
      status[s] = word;
    },
  }),
);

/** x = y − share·q, one element per item. Cost per row: 2 flops, 2 words read, 1 written. */
const combineKernel = kernel({
  name: "periodic-combine",
  params: { rows: i32, stride: i32, shared: i32, q: read(real), share: read(real), x: write(real) },
  body({ rows, stride, shared, q, share, x }, gpu) {
    const e = gpu.globalId();
    const outer = (e / stride) | 0;
    const i = outer % rows;
    const s = ((outer / rows) | 0) * stride + (e % stride);
    x[e] -= share[s] * q[shared !== 0 ? i : e];
  },
});

const EPSILON = { f64: 2 ** -52, f32: 2 ** -23, f32x2: 2 ** -44 } as const;

/**
 * A solver of periodic systems by the formula of Sherman & Morrison: any other method solves the tridiagonal part for
 * the right-hand side, and for a second right-hand side that depends on the matrix only. `prepare` runs once per
 * matrix, `finish` after each solution.
 *
 * Cost per row, beyond that of the tridiagonal solver, which runs twice: 5 words read and 5 written; 2 flops.
 */
export interface PeriodicSolver extends Disposable {
  /** The matrix without its corner entries. */
  readonly matrix: Matrix;
  /** The second right-hand side, then its solution: one for each matrix. */
  readonly q: DeviceBuffer;
  /** The status of the solution for q. */
  readonly inner: DeviceBuffer<"i32">;
  /** Splits a matrix into the tridiagonal `matrix` A′ and the right-hand side `q` of A′q = u. */
  prepare(matrix: Matrix): void;
  /** Turns the solution y of A′y = d into x, in place. */
  finish(y: DeviceBuffer, status: DeviceBuffer): void;
}

/** Prepares the solver of periodic systems for a problem. */
export async function periodicSolver(device: Device, problem: TridiagonalBatch): Promise<PeriodicSolver> {
  const { rows, batch, stride, shared, precision } = problem;
  const kernels = [prepareKernel, shareKernel({ layout: layoutOf(problem), shared }), combineKernel];
  const [prepare, shareOf, combine] = await Promise.all(
    kernels.map((one: Kernel) => device.compile(one, { precision })),
  );
  const matrices = shared ? 1 : batch;
  const reals = (length: number): DeviceBuffer => device.createBuffer(hostRealType(precision), length);
  const perRow = (): DeviceBuffer => reals(rows * matrices);
  const matrix = { lower: perRow(), diagonal: perRow(), upper: perRow() };
  const own = {
    q: perRow(),
    inner: device.createBuffer("i32", matrices),
    corner: reals(matrices),
    share: reals(batch),
  };
  const { q, inner, corner, share } = own;
  const out = { outLower: matrix.lower, outDiagonal: matrix.diagonal, outUpper: matrix.upper, q, corner };
  const epsilon = 4 * Math.max(rows, 4) * EPSILON[precision];
  return {
    matrix,
    q,
    inner,
    prepare({ lower, diagonal, upper }) {
      const args = { rows, stride: shared ? 1 : stride, lower, diagonal, upper, ...out };
      device.launch(prepare, args, { items: rows * matrices });
    },
    finish(y, status) {
      device.launch(shareOf, { rows, stride, epsilon, corner, q, y, inner, share, status }, { items: batch });
      const args = { rows, stride, shared: shared ? 1 : 0, q, share, x: y };
      device.launch(combine, args, { items: rows * batch });
    },
    [Symbol.dispose]() {
      for (const buffer of [...Object.values(matrix), ...Object.values(own)]) buffer[Symbol.dispose]();
    },
  };
}
