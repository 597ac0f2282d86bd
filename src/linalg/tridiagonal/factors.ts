import type { CompiledKernel, Device, DeviceBuffer } from "../../device/index.ts";
import { i32, type Kernel, kernel, read, real, write } from "../../kernel/index.ts";
import { remembered } from "../../remembered.ts";
import { bytesOf, elementOf, type Matrix, type Problem } from "./method.ts";
import { type Layout, layoutOf, systemBase } from "./place.ts";

interface FactorsVariant {
  readonly layout: Layout;
  /** True where all systems have one matrix, whose factors stand alone. */
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

/** a, 1/(b − a·c′) and c′ of Thomas' algorithm. Cost a row: 4 flops; 3 words read and 3 written. */
const thomasFactorKernel = remembered(({ layout, shared }: FactorsVariant): Kernel =>
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
 * d′ and x of Thomas' algorithm. Cost a row: 5 flops, no division; 4 words read and 1 written, d′ written and read
 * once, in place.
 */
const thomasSolveKernel = remembered(({ layout, shared }: FactorsVariant): Kernel =>
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
 * U = (p, q, r), the multipliers, and whether rows i and i + 1 changed places: LAPACK's dgttrf. Cost a row: 6 flops; 3
 * words read, 5 written.
 */
const pivotingFactorKernel = remembered(({ layout, shared }: FactorsVariant): Kernel =>
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
 * LAPACK's dgtts2. Cost a row: 7 flops, one a division; 6 words read and 1 written, and the right-hand side once more,
 * in place.
 */
const pivotingSolveKernel = remembered(({ layout, shared }: FactorsVariant): Kernel =>
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

/** A factorisation on a device, made once and used repeatedly. It owns its memory. */
export class Factors implements Disposable {
  readonly #device: Device;
  readonly #problem: Problem;
  readonly #factorKernel: CompiledKernel;
  readonly #solveKernel: CompiledKernel;
  readonly #factors: DeviceBuffer;
  readonly #swaps: DeviceBuffer;
  readonly #failed: DeviceBuffer;

  private constructor(device: Device, problem: Problem, pivoting: boolean, kernels: readonly CompiledKernel[]) {
    const { rows, precision } = problem;
    this.#device = device;
    this.#problem = problem;
    [this.#factorKernel, this.#solveKernel] = kernels;
    const matrices = this.#matrices;
    this.#factors = device.createBuffer(elementOf(precision), (pivoting ? 4 : 3) * rows * matrices);
    this.#swaps = device.createBuffer("i32", pivoting ? rows * matrices : matrices);
    this.#failed = device.createBuffer("i32", matrices);
  }

  static async create(device: Device, problem: Problem, pivoting: boolean): Promise<Factors> {
    const { precision, shared } = problem;
    const variant = { layout: layoutOf(problem), shared };
    const kernels = pivoting
      ? [pivotingFactorKernel(variant), pivotingSolveKernel(variant)]
      : [thomasFactorKernel(variant), thomasSolveKernel(variant)];
    const compiled = await Promise.all(kernels.map((one) => device.compile(one, { precision })));
    return new Factors(device, problem, pivoting, compiled);
  }

  /** The number of bytes of its device memory. */
  get bytes(): number {
    return this.#factors.length * bytesOf(this.#problem.precision) + 4 * (this.#swaps.length + this.#failed.length);
  }

  factor({ lower, diagonal, upper }: Matrix): void {
    const { rows, stride } = this.#problem;
    const matrices = this.#matrices;
    const out = { factors: this.#factors, swaps: this.#swaps, failed: this.#failed };
    const args = { rows, stride, matrices, lower, diagonal, upper, ...out };
    this.#device.launch(this.#factorKernel, args, { items: matrices });
  }

  solve(rhs: DeviceBuffer, status: DeviceBuffer): void {
    const { rows, stride, batch } = this.#problem;
    const from = { factors: this.#factors, swaps: this.#swaps, failed: this.#failed };
    const args = { rows, stride, matrices: this.#matrices, ...from, rhs, status };
    this.#device.launch(this.#solveKernel, args, { items: batch });
  }

  get #matrices(): number {
    return this.#problem.shared ? 1 : this.#problem.batch;
  }

  [Symbol.dispose](): void {
    for (const buffer of [this.#factors, this.#swaps, this.#failed]) buffer[Symbol.dispose]();
  }
}
