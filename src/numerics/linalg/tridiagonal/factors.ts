import type { Device, DeviceBuffer } from "../../../device/index.ts";
import { hostRealType, i32, type Kernel, kernel, read, real, write } from "../../../kernel/index.ts";
import { memoize } from "../../../base/memoize.ts";
import { type Matrix, type TridiagonalBatch, type Layout, layoutOf, systemBase } from "./method.ts";

interface FactorsVariant {
  readonly layout: Layout;
  /** True if all systems have one matrix, whose factors stand alone. */
  readonly shared: boolean;
}

/** Factors: arrays of [rows, matrices], one after the other; a zero pivot's row + 1 a matrix in `failed`. */
const factorParams = {
  rows: i32,
  stride: i32,
  matrices: i32,
  lower: read(real),
  diagonal: read(real),
  upper: read(real),
  factors: write(real),
  swaps: write(i32),
  failed: write(i32),
} as const;

const solveParams = {
  rows: i32,
  stride: i32,
  matrices: i32,
  factors: read(real),
  swaps: read(i32),
  failed: read(i32),
  rhs: write(real),
  status: write(i32),
} as const;

/** a, 1/(b − a·c′) and c′ of Thomas' algorithm. Cost per row: 4 flops; 3 words read and 3 written. */
const thomasFactorKernel = memoize(({ layout, shared }: FactorsVariant): Kernel =>
  kernel({
    name: `thomas-factor-${layout}${shared ? "-shared" : ""}`,
    params: factorParams,
    env: { base: systemBase[layout], shared },
    body({ rows, stride, matrices, lower, diagonal, upper, factors, swaps, failed }, gpu, { base, shared }) {
      const m = gpu.globalId();
      const from = shared ? 0 : base(m, rows, stride);
      const step = shared ? 1 : stride;
      const size = rows * matrices;
      let zero = 0;
      let cLast = 0.0;
      for (let i = 0; i < rows; i++) {
        const a = i > 0 ? lower[from + i * step] : 0.0;
        const pivot = diagonal[from + i * step] - a * cLast;
        if (pivot === 0 && zero === 0) zero = i + 1;
        const inverse = 1 / pivot;
        cLast = i < rows - 1 ? upper[from + i * step] * inverse : 0.0;
        factors[i * matrices + m] = a;
        factors[size + i * matrices + m] = inverse;
        factors[2 * size + i * matrices + m] = cLast;
      }
      swaps[m] = 0;
      failed[m] = zero;
    },
  }),
);

/**
 * d′ and x of Thomas' algorithm. Cost per row: 5 flops, no division; 4 words read and 1 written, d′ written and read
 * once, in place.
 */
const thomasSolveKernel = memoize(({ layout, shared }: FactorsVariant): Kernel =>
  kernel({
    name: `thomas-solve-${layout}${shared ? "-shared" : ""}`,
    params: solveParams,
    env: { base: systemBase[layout], shared },
    body({ rows, stride, matrices, factors, failed, rhs, status }, gpu, { base, shared }) {
      const s = gpu.globalId();
      const m = shared ? 0 : s;
      const from = base(s, rows, stride);
      const size = rows * matrices;
      let d = 0.0;
      for (let i = 0; i < rows; i++) {
        d = (rhs[from + i * stride] - factors[i * matrices + m] * d) * factors[size + i * matrices + m];
        rhs[from + i * stride] = d;
      }
      let x = 0.0;
      let finite = true;
      for (let i = rows - 1; i >= 0; i--) {
        x = rhs[from + i * stride] - factors[2 * size + i * matrices + m] * x;
        rhs[from + i * stride] = x;
        finite = finite && Number.isFinite(x);
      }
      const zero = failed[m];
      status[s] = zero > 0 ? zero : finite ? 0 : -1;
    },
  }),
);

/**
 * U = (p, q, r), the multipliers, and whether rows i and i + 1 changed places: LAPACK's dgttrf. Cost per row: 6 flops;
 * 3 words read, 5 written.
 */
const pivotingFactorKernel = memoize(({ layout, shared }: FactorsVariant): Kernel =>
  kernel({
    name: `pivoting-factor-${layout}${shared ? "-shared" : ""}`,
    params: factorParams,
    env: { base: systemBase[layout], shared },
    body({ rows, stride, matrices, lower, diagonal, upper, factors, swaps, failed }, gpu, { base, shared }) {
      const m = gpu.globalId();
      const from = shared ? 0 : base(m, rows, stride);
      const step = shared ? 1 : stride;
      const size = rows * matrices;
      let zero = 0;
      let p = diagonal[from];
      let q = rows > 1 ? upper[from] : 0.0;
      for (let i = 0; i < rows - 1; i++) {
        const at = from + (i + 1) * step;
        const a = lower[at];
        const b = diagonal[at];
        let c = upper[at];
        if (i + 2 === rows) c = 0.0;
        const swap = Math.abs(a) > Math.abs(p);
        const pivot = swap ? a : p;
        if (pivot === 0 && zero === 0) zero = i + 1;
        const multiplier = (swap ? p : a) / pivot;
        const rowQ = swap ? b : q;
        factors[i * matrices + m] = pivot;
        factors[size + i * matrices + m] = rowQ;
        factors[2 * size + i * matrices + m] = swap ? c : 0.0;
        factors[3 * size + i * matrices + m] = multiplier;
        swaps[i * matrices + m] = swap ? 1 : 0;
        p = (swap ? q : b) - multiplier * rowQ;
        q = swap ? -multiplier * c : c;
      }
      if (p === 0 && zero === 0) zero = rows;
      factors[(rows - 1) * matrices + m] = p;
      failed[m] = zero;
    },
  }),
);

/**
 * LAPACK's dgtts2. Cost per row: 7 flops, one a division; 6 words read and 1 written, and the right-hand side once
 * more, in place.
 */
const pivotingSolveKernel = memoize(({ layout, shared }: FactorsVariant): Kernel =>
  kernel({
    name: `pivoting-solve-${layout}${shared ? "-shared" : ""}`,
    params: solveParams,
    env: { base: systemBase[layout], shared },
    body({ rows, stride, matrices, factors, swaps, failed, rhs, status }, gpu, { base, shared }) {
      const s = gpu.globalId();
      const m = shared ? 0 : s;
      const from = base(s, rows, stride);
      const size = rows * matrices;
      let f = rhs[from];
      for (let i = 0; i < rows - 1; i++) {
        const d = rhs[from + (i + 1) * stride];
        const swap = swaps[i * matrices + m] !== 0;
        const row = swap ? d : f;
        rhs[from + i * stride] = row;
        f = (swap ? f : d) - factors[3 * size + i * matrices + m] * row;
      }
      let x = f / factors[(rows - 1) * matrices + m];
      let next = 0.0;
      rhs[from + (rows - 1) * stride] = x;
      let finite = Number.isFinite(x);
      for (let i = rows - 2; i >= 0; i--) {
        const known = factors[size + i * matrices + m] * x;
        const value = rhs[from + i * stride] - known - factors[2 * size + i * matrices + m] * next;
        next = x;
        x = value / factors[i * matrices + m];
        rhs[from + i * stride] = x;
        finite = finite && Number.isFinite(x);
      }
      const zero = failed[m];
      status[s] = zero > 0 ? zero : finite ? 0 : -1;
    },
  }),
);

/** A factorisation of the matrices of a batch on a device, made once and used repeatedly. It owns its memory. */
export interface Factors extends Disposable {
  factor(matrix: Matrix): void;
  solve(rhs: DeviceBuffer, status: DeviceBuffer): void;
}

/**
 * Prepares a factorisation for the matrices of a problem: with partial pivoting (`pivoting`), or by Thomas'
 * elimination.
 */
export async function factorsOf(device: Device, problem: TridiagonalBatch, pivoting: boolean): Promise<Factors> {
  const { rows, batch, stride, precision, shared } = problem;
  const variant = { layout: layoutOf(problem), shared };
  const kernels = pivoting
    ? [pivotingFactorKernel(variant), pivotingSolveKernel(variant)]
    : [thomasFactorKernel(variant), thomasSolveKernel(variant)];
  const [factor, solve] = await Promise.all(kernels.map((one) => device.compile(one, { precision })));
  const matrices = shared ? 1 : batch;
  const own = {
    factors: device.createBuffer(hostRealType(precision), (pivoting ? 4 : 3) * rows * matrices),
    swaps: device.createBuffer("i32", pivoting ? rows * matrices : matrices),
    failed: device.createBuffer("i32", matrices),
  };
  const args = { rows, stride, matrices, ...own };
  return {
    factor: ({ lower, diagonal, upper }) =>
      device.launch(factor, { ...args, lower, diagonal, upper }, { items: matrices }),
    solve: (rhs, status) => device.launch(solve, { ...args, rhs, status }, { items: batch }),
    [Symbol.dispose]() {
      for (const buffer of Object.values(own)) buffer[Symbol.dispose]();
    },
  };
}
