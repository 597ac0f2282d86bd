/** Factors of symmetric positive definite matrices, many at a time. */
import { DisposedError, ShapeError, SpecError } from "../../../base/errors.ts";
import { checkFields, checkOneOf } from "../../../base/argument-checks.ts";
import { type CompiledKernel, type Device, type DeviceBuffer, offeredPrecision } from "../../../device/index.ts";
import { type Precision, i32, kernel, real, write } from "../../../kernel/index.ts";
import { DeviceArray, shapeText } from "./array.ts";
import { memoize } from "../../../base/memoize.ts";

/**
 * The kernel that factors one matrix per work item, A = L·Lᵀ in place, left-looking: column j of L needs the columns
 * before it and is the first to need column j of A. Cost: n³/3 flops, every word of the lower triangle read n/3 times,
 * from the cache. `status` receives 0, or the order of the first leading minor that is not positive; the matrix is NaN
 * then.
 */
const choleskyByItem = kernel({
  name: "choleskyByItem",
  params: { size: i32, start: i32, stride: i32, batchStride: i32, a: write(real), status: write(i32) },
  body({ size, start, stride, batchStride, a, status }, gpu) {
    const matrix = gpu.globalId();
    const origin = start + matrix * batchStride;
    let failed = 0;
    for (let j = 0; j < size; j++) {
      const rowJ = origin + j * stride;
      let pivot = a[rowJ + j];
      for (let p = 0; p < j; p++) {
        const l = a[rowJ + p];
        pivot -= l * l;
      }
      // Not `pivot <= 0`, which NaN is not.
      if (failed === 0 && !(pivot > 0)) failed = j + 1;
      const root = Math.sqrt(pivot);
      a[rowJ + j] = root;
      for (let i = j + 1; i < size; i++) {
        const rowI = origin + i * stride;
        let sum = a[rowI + j];
        for (let p = 0; p < j; p++) sum -= a[rowI + p] * a[rowJ + p];
        a[rowI + j] = sum / root;
        a[rowJ + i] = 0;
      }
    }
    if (failed !== 0) for (let i = 0; i < size; i++) for (let j = 0; j < size; j++) a[origin + i * stride + j] = NaN;
    status[matrix] = failed;
  },
});

/** The variant of the Cholesky kernel with a workgroup for each matrix. */
interface GroupShape {
  readonly groupSize: number;
}

/**
 * The kernel that factors one matrix per workgroup, each item every groupSize-th row. Barriers order its accesses to
 * the buffer.
 */
const choleskyByGroup = memoize(({ groupSize }: GroupShape) =>
  kernel({
    name: "choleskyByGroup",
    params: { size: i32, start: i32, stride: i32, batchStride: i32, a: write(real), status: write(i32) },
    groupSize,
    *body({ size, start, stride, batchStride, a, status }, gpu) {
      const origin = start + gpu.groupId() * batchStride;
      const first = gpu.localId();
      let failed = 0;
      for (let j = 0; j < size; j++) {
        const rowJ = origin + j * stride;
        for (let i = j + first; i < size; i += gpu.groupSize()) {
          const rowI = origin + i * stride;
          let sum = a[rowI + j];
          for (let p = 0; p < j; p++) sum -= a[rowI + p] * a[rowJ + p];
          a[rowI + j] = sum;
        }
        yield;
        const pivot = a[rowJ + j];
        if (failed === 0 && !(pivot > 0)) failed = j + 1;
        const root = Math.sqrt(pivot);
        yield;
        for (let i = j + first; i < size; i += gpu.groupSize()) {
          a[origin + i * stride + j] = i === j ? root : a[origin + i * stride + j] / root;
          if (i > j) a[rowJ + i] = 0;
        }
        yield;
      }
      if (failed !== 0)
        for (let i = first; i < size; i += gpu.groupSize())
          for (let j = 0; j < size; j++) a[origin + i * stride + j] = NaN;
      if (first === 0) status[gpu.groupId()] = failed;
    },
  }),
);

/** The specification of the matrices to be factored. @stable */
export interface CholeskySpec {
  /** The number of rows and columns. */
  readonly size: number;
  /** The number of matrices. */
  readonly batch: number;
  readonly precision: Precision;
}

/**
 * Checks and completes a description of a Cholesky factorisation.
 *
 * @param settings `size`, the rows and columns of a matrix, and optionally `batch` (1) and `precision` ("f64").
 * @throws SpecError for sizes that are not whole numbers from 0 to 65,535, or an unknown precision.
 * @example
 * import { choleskySpec } from "feynkac/linalg";
 *
 * console.log(choleskySpec({ size: 3 })); // { batch: 1, precision: 'f64', size: 3 }
 * @stable
 */
export function choleskySpec(settings: { readonly size: number } & Partial<CholeskySpec>): CholeskySpec {
  checkFields("choleskySpec", settings, ["size", "batch", "precision"]);
  const spec: CholeskySpec = { batch: 1, precision: "f64", ...settings };
  for (const name of ["size", "batch"] as const) {
    const n = spec[name];
    if (!Number.isInteger(n) || n < 0 || n > 65_535)
      throw new SpecError(`cholesky: ${name} ${n}, expected a whole number from 0 to 65,535; split a larger batch`);
  }
  checkOneOf("cholesky: precision", spec.precision, ["f64", "f32", "f32x2"]);
  return Object.freeze(spec);
}

/** Up to this size a matrix is an item's work; a larger one is a workgroup's. */
const LARGEST_OF_ITEM = 16;
const GROUP = 64;

/**
 * The Cholesky factorisation of each of `batch` symmetric positive definite matrices, which is replaced by its factor
 * L, lower triangular with zeros above:
 *
 *   A = L·Lᵀ,   L[j, j] = √(A[j, j] − Σ L[j, p]²),   L[i, j] = (A[i, j] − Σ L[i, p]·L[j, p]) / L[j, j],   p < j < i
 *
 * Shapes: [size, size], or [batch, size, size]. Only the lower triangle is read. Row-major; a range of a larger array
 * is allowed.
 * Accuracy: L̂·L̂ᵀ = A + ΔA with |ΔA| ≤ γ(size + 1)·|L̂|·|L̂ᵀ| (Higham 2002, Theorem 10.3).
 * Cost: size³/3 flops per matrix. Up to 16×16 an item of the device factors a matrix, beyond that a workgroup.
 *
 * If a leading minor is not positive, there is no such factor. Its order is then the status of the matrix, whose
 * numbers become NaN; the other matrices of the batch are not affected. A correlation matrix that fails can be replaced
 * by the nearest one (`nearestCorrelation`).
 *
 * Source: Higham (2002), Algorithm 10.2; left-looking, LAPACK's dpotf2. Verified: test/numerics/linalg/dense-cholesky.
 *
 * @example
 * import { openDevice } from "feynkac/device";
 * import { Cholesky, choleskySpec, DeviceArray } from "feynkac/linalg";
 *
 * using device = await openDevice({ backend: "cpu", threads: 1 });
 * using a = await DeviceArray.create(device, [2, 2], { values: [4, 2, 2, 5] });
 * using cholesky = await Cholesky.create(device, choleskySpec({ size: 2 }));
 * const [status] = await cholesky.factor(a);
 * console.log(status, (await a.download()).join(" ")); // 0 2 0 1 2
 * @stable
 */
export class Cholesky implements Disposable {
  readonly device: Device;
  readonly spec: CholeskySpec;
  readonly #kernel: CompiledKernel;
  readonly #status: DeviceBuffer<"i32">;
  #disposed = false;

  private constructor(device: Device, spec: CholeskySpec, kernel: CompiledKernel) {
    this.device = device;
    this.spec = spec;
    this.#kernel = kernel;
    this.#status = device.createBuffer("i32", spec.batch);
  }

  /** Creates the factorisation. @throws PrecisionError | OutOfMemoryError */
  static async create(device: Device, given: CholeskySpec): Promise<Cholesky> {
    const spec = { ...given, precision: await offeredPrecision(device, given.precision) };
    const { size, precision } = spec;
    const groupSize = Math.min(GROUP, device.limits.maxGroupSize);
    const kernel = size <= LARGEST_OF_ITEM ? choleskyByItem : choleskyByGroup({ groupSize });
    return new Cholesky(device, spec, await device.compile(kernel, { precision }));
  }

  /**
   * Records the factorisation; `a` is borrowed and overwritten. `status` then gives its outcome. @throws ShapeError |
   * DisposedError
   */
  run(a: DeviceArray): void {
    if (this.#disposed) throw new DisposedError("cholesky: it has been disposed");
    this.#check(a);
    const { size, batch } = this.spec;
    const { row: stride, batch: batchStride } = a.strides;
    const args = { size, start: a.offset, stride, batchStride, a: a.buffer, status: this.#status };
    this.device.launch(this.#kernel, args, size <= LARGEST_OF_ITEM ? { items: batch } : { groups: batch });
  }

  /**
   * Waits and returns the status of each matrix of the last run: 0, or the order of the first leading minor that is not
   * positive. @throws DisposedError
   */
  status(): Promise<Int32Array> {
    return this.device.read(this.#status);
  }

  /** Runs the factorisation, waits for it, and returns `status`. @throws ShapeError | DisposedError */
  factor(a: DeviceArray): Promise<Int32Array> {
    this.run(a);
    return this.status();
  }

  [Symbol.dispose](): void {
    if (this.#disposed) return;
    this.#disposed = true;
    this.#status[Symbol.dispose]();
  }

  #check(a: DeviceArray): void {
    const { size, batch, precision } = this.spec;
    if (!(a instanceof DeviceArray) || a.device !== this.device)
      throw new ShapeError(`cholesky: got no DeviceArray of ${this.device.name}`);
    if (a.precision !== precision)
      throw new ShapeError(`cholesky: precision ${a.precision}, expected the specification's, ${precision}`);
    if (a.rows !== size || a.columns !== size || a.batch !== batch) {
      const expected = shapeText(batch === 1 ? [size, size] : [batch, size, size]);
      throw new ShapeError(`cholesky: shape ${shapeText(a.shape)}, expected ${expected}`);
    }
    if (size > 1 && a.strides.column !== 1)
      throw new ShapeError("cholesky: a transposed view, expected row-major; give the array itself, it is symmetric");
    if (a.buffer.length >= 2 ** 31) throw new ShapeError("cholesky: in a buffer of 2³¹ elements or more; split it");
  }
}
