/** Correlated normal numbers: independent ones, times the Cholesky factor of their covariance. */
import {
  compileExact,
  type CompiledKernel,
  type Device,
  type DeviceBuffer,
  createBufferOf,
} from "../../device/index.ts";
import { i32, kernel, read, real, write } from "../../kernel/index.ts";
import { checkedSymmetric, choleskyOf } from "../linalg/index.ts";
import { RandomGenerator, type Range } from "./random-generator.ts";
import { type RandomSettings, randomSpec } from "./spec.ts";

/** x ← L·x for each row x of [rows, size], in place: from the last number on, each needs only those before it. */
const correlate = kernel({
  name: "correlate",
  params: { size: i32, factor: read(real), numbers: write(real) },
  body({ size, factor, numbers }, gpu) {
    const row = gpu.globalId() * size;
    for (let i = size - 1; i >= 0; i--) {
      let sum = factor[i * size] * numbers[row];
      for (let j = 1; j <= i; j++) sum += factor[i * size + j] * numbers[row + j];
      numbers[row + i] = sum;
    }
  },
});

/** The settings of correlated normal numbers. @stable */
export type CorrelatedSettings = Omit<RandomSettings, "distribution" | "streams" | "order"> & {
  /** A symmetric and positive definite matrix: a covariance, or a correlation matrix for unit variances. */
  readonly covariance: readonly (readonly number[])[];
};

/**
 * A generator of correlated normal numbers, [count, d]: each row is L·z with L·Lᵀ the covariance and z independent
 * standard normal numbers, where number i of z comes from stream i of the generator (for sobol, from dimension i).
 *
 * L is computed in f64 on the CPU, and its product with z in a fixed order without contraction, so that rows are the
 * same wherever z is. Cost: d²/2 products per row besides the normal numbers.
 *
 * @example
 * import { openDevice } from "feynkac/device";
 * import { CorrelatedNormals } from "feynkac/random";
 *
 * using device = await openDevice({ backend: "cpu", threads: 1 });
 * const covariance = [[1, 0.6], [0.6, 1]];
 * using normals = await CorrelatedNormals.create(device, { generator: "philox", seed: 42, covariance });
 * const rows = await normals.generate({ count: 100_000 });
 * let sum = 0;
 * for (let k = 0; k < rows.length; k += 2) sum += rows[k]! * rows[k + 1]!;
 * console.log((sum / 100_000).toFixed(1)); // 0.6
 * @stable
 */
export class CorrelatedNormals implements Disposable {
  readonly #normals: RandomGenerator;
  readonly #kernel: CompiledKernel<(typeof correlate)["params"]>;
  readonly #factor: DeviceBuffer;

  private constructor(normals: RandomGenerator, compiled: CompiledKernel, factor: DeviceBuffer) {
    this.#normals = normals;
    this.#kernel = compiled as CompiledKernel<(typeof correlate)["params"]>;
    this.#factor = factor;
  }

  /**
   * Creates a generator. @throws SpecError | ShapeError (the covariance is not square) | NotPositiveDefiniteError
   * (`nearestCorrelation` of feynkac/linalg returns the nearest correlation matrix) | PrecisionError
   */
  static async create(device: Device, settings: CorrelatedSettings): Promise<CorrelatedNormals> {
    const { covariance, ...rest } = settings;
    const size = covariance.length;
    const factor = choleskyOf(checkedSymmetric("CorrelatedNormals: covariance", covariance), size);
    const spec = randomSpec({ ...rest, distribution: "normal", streams: size, order: "interleaved" });
    const normals = await RandomGenerator.create(device, spec);
    const compiled = await compileExact(device, correlate, spec.precision);
    return new CorrelatedNormals(normals, compiled, createBufferOf(device, normals.element, factor));
  }

  /**
   * Records that the first count·d elements of `buffer`, which is borrowed, become the rows of `range`. @throws
   * SpecError (the range) | ShapeError (the buffer) | DisposedError
   */
  fill(buffer: DeviceBuffer, range: Range): void {
    const { device, spec } = this.#normals;
    this.#normals.fill(buffer, range);
    if (range.count === 0) return;
    const args = { size: spec.streams, factor: this.#factor, numbers: buffer };
    device.launch(this.#kernel, args, { items: range.count });
  }

  /** Returns the rows of a range on the host, [count, d]. @throws SpecError | OutOfMemoryError | DisposedError */
  async generate(range: Range): Promise<Float64Array | Float32Array> {
    const { device, spec, element } = this.#normals;
    using buffer = device.createBuffer(element, spec.streams * range.count);
    this.fill(buffer, range);
    return (await device.read(buffer)) as Float64Array | Float32Array;
  }

  [Symbol.dispose](): void {
    this.#normals[Symbol.dispose]();
    this.#factor[Symbol.dispose]();
  }
}
