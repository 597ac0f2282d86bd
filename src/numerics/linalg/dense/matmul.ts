/** C ← α·A·B + β·C on every device. */
import { DisposedError, ShapeError, SpecError } from "../../../base/errors.ts";
import { type CompiledKernel, type Device, offeredPrecision } from "../../../device/index.ts";
import { DeviceArray, shapeText } from "./array.ts";
import { simdLanesOf, blockedMatmulKernel } from "./blocked-kernel.ts";
import { type CublasProduct, openCublasProduct } from "./cublas.ts";
import { type Implementation, type MatmulSpec, matmulSpec } from "./matmul-spec.ts";
import { type Operand, operandOf, orderOf } from "./operand.ts";
import { chooseBlockSize, chooseTile } from "./tile.ts";
import { simpleMatmulKernel, SIMPLE_TILE_SIZE } from "./simple-kernel.ts";
import { tiledMatmulKernel } from "./tiled-kernel.ts";

/** The arguments of `Matmul.run`. Arrays are borrowed. @stable */
export interface MatmulArguments {
  readonly a: DeviceArray;
  readonly b: DeviceArray;
  /** The array of the result, which must not share memory with `a` or `b`. */
  readonly c: DeviceArray;
  /** The factor α, 1 by default. */
  readonly alpha?: number;
  /** The factor β, 0 by default: C is then not read, and may hold anything, even NaN. */
  readonly beta?: number;
}

/** A kernel of ours and the part of C that one of its workgroups computes. */
interface OwnProduct {
  readonly kernel: CompiledKernel;
  readonly rows: number;
  readonly columns: number;
}

/**
 * The product C ← α·A·B + β·C for matrices of any size, or for each of a batch:
 *
 *   C[i, j] ← α · Σ A[i, p]·B[p, j] + β · C[i, j],   i < rows, j < columns, p < inner
 *
 * Shapes: A [rows, inner], B [inner, columns], C [rows, columns]. A and B are row-major, or "column-major", which is
 * what a transposed view is. Ranges of rows and columns of larger arrays are allowed. With a batch they are [batch, …]
 * each, and A or B may be one matrix for all.
 * Accuracy: |C − Ĉ| ≤ γ(inner + 2)·(|α|·|A|·|B| + |β|·|C|) elementwise, γ(m) = m·u/(1 − m·u), where u is the rounding
 * error of the precision (Higham 2002, §3.5); for emulated double u = 2⁻⁴⁴. NaN and infinity of A and B go where the
 * equation carries them, those of C only if β ≠ 0.
 * Cost: 2·rows·columns·inner flops. Feynkac's kernels read rows·columns·inner·(1/128 + 1/128) words with the largest
 * tiles.
 * Source: cuBLAS, or Feynkac's own kernels. These follow Volkov & Demmel (2008), with C in registers, and the tiles in
 * workgroup memory of the CUDA C++ Programming Guide; on the CPU Goto & van de Geijn (2008).
 * Verified: test/numerics/linalg/dense-matmul, against a compensated triple loop, on every device, within the bound
 * above.
 *
 * @example
 * import { openDevice } from "feynkac/device";
 * import { DeviceArray, Matmul, matmulSpec } from "feynkac/linalg";
 *
 * using device = await openDevice({ backend: "cpu", threads: 1 });
 * using product = await Matmul.create(device, matmulSpec({ rows: 2, inner: 3, columns: 1 }));
 * using a = await DeviceArray.create(device, [2, 3], { values: [1, 2, 3, 4, 5, 6] });
 * using b = await DeviceArray.create(device, [3, 1], { values: [1, 1, 1] });
 * using c = await DeviceArray.create(device, [2, 1]);
 * product.run({ a, b, c, alpha: 0.5 });
 * console.log((await c.download()).join(" ")); // 3 7.5
 * @stable
 */
export class Matmul implements Disposable {
  readonly device: Device;
  readonly spec: MatmulSpec;
  /** The implementation that runs: cuBLAS, or Feynkac's own kernel. */
  readonly implementation: "library" | "kernel";
  readonly #product: OwnProduct | CublasProduct;
  #disposed = false;

  private constructor(device: Device, spec: MatmulSpec, product: OwnProduct | CublasProduct) {
    this.device = device;
    this.spec = spec;
    this.#product = product;
    this.implementation = "kernel" in product ? "kernel" : "library";
  }

  /**
   * Creates a product: compiles the kernel, or loads the library. @throws PrecisionError | DeviceUnavailableError (no
   * library, though requested) | SpecError (a tile too large for the device, or too many workgroups) | KernelError
   */
  static async create(device: Device, given: MatmulSpec): Promise<Matmul> {
    const spec = { ...given, precision: await offeredPrecision(device, given.precision) };
    const library = await openCublasProduct(device, spec);
    return new Matmul(device, spec, library ?? (await ownProduct(device, spec)));
  }

  /**
   * Records the product; arguments are borrowed. @throws ShapeError (arrays that do not match the specification; C in
   * the memory of A or B; C a transposed view) | DisposedError
   */
  run({ a, b, c, alpha = 1, beta = 0 }: MatmulArguments): void {
    if (this.#disposed) throw new DisposedError("matmul: it has been disposed");
    const { device, spec } = this;
    const { rows, inner, columns } = spec;
    const left = operandOf(device, spec, a, { name: "a", rows, columns: inner, order: spec.a, shared: true });
    const right = operandOf(device, spec, b, { name: "b", rows: inner, columns, order: spec.b, shared: true });
    const into = operandOf(device, spec, c, { name: "c", rows, columns, order: "row-major", shared: false });
    for (const [name, { buffer }] of [
      ["a", left],
      ["b", right],
    ] as const)
      if (buffer === into.buffer)
        throw new ShapeError(`matmul: c lies in the memory of ${name}, which is read; give it an array of its own`);
    for (const [name, value] of [
      ["alpha", alpha],
      ["beta", beta],
    ] as const)
      if (typeof value !== "number") throw new ShapeError(`matmul: ${name}: got ${typeof value}, expected a number`);
    if (c.size === 0) return;
    const product = this.#product;
    if ("kernel" in product) this.#launch(product, left, right, into, alpha, beta);
    else product.run(left, right, into, alpha, beta);
  }

  [Symbol.dispose](): void {
    if (this.#disposed) return;
    this.#disposed = true;
    if (!("kernel" in this.#product)) this.#product[Symbol.dispose]();
  }

  #launch(product: OwnProduct, a: Operand, b: Operand, c: Operand, alpha: number, beta: number): void {
    const { rows, columns, inner, batch } = this.spec;
    const [tileRows, tileColumns] = [Math.ceil(rows / product.rows), Math.ceil(columns / product.columns)];
    const left = { a: a.buffer, aStart: a.start, aStride: a.stride, aBatch: a.batch };
    const right = { b: b.buffer, bStart: b.start, bStride: b.stride, bBatch: b.batch };
    const into = { c: c.buffer, cStart: c.start, cStride: c.stride, cBatch: c.batch };
    const sizes = { rows, columns, inner, tileRows, tileColumns };
    const args = { ...sizes, alpha, beta, ...left, ...right, ...into };
    this.device.launch(product.kernel, args, { groups: tileRows * tileColumns * batch });
  }
}

async function ownProduct(device: Device, spec: MatmulSpec): Promise<OwnProduct> {
  const { precision, tile } = spec;
  const [aTransposed, bTransposed] = [spec.a === "column-major", spec.b === "column-major"];
  if (device.backend === "cpu" && precision !== "f32x2") {
    if (tile !== undefined) throw new SpecError("matmul: tile: the CPU's kernel has blocks of its own; leave it out");
    const size = chooseBlockSize(device, spec);
    const shape = { precision, aTransposed, bTransposed, rows: size, columns: size };
    const kernel = await device.compile(blockedMatmulKernel(shape), { precision });
    return counted(spec, { kernel, rows: size, columns: size }, simdLanesOf(precision));
  }
  if (precision === "f32x2") {
    if (tile !== undefined) throw new SpecError("matmul: tile: emulated double has one of its own; leave it out");
    const kernel = await device.compile(simpleMatmulKernel({ aTransposed, bTransposed }), { precision });
    return counted(spec, { kernel, rows: SIMPLE_TILE_SIZE, columns: SIMPLE_TILE_SIZE }, kernel.kernel.groupSize);
  }
  const chosen = tile ?? chooseTile(device, precision, spec);
  const kernel = await device.compile(tiledMatmulKernel({ ...chosen, aTransposed, bTransposed }), { precision });
  return counted(spec, { kernel, rows: chosen.rows, columns: chosen.columns }, kernel.kernel.groupSize);
}

/** Items are counted in i32. */
function counted(spec: MatmulSpec, product: OwnProduct, items: number): OwnProduct {
  const groups = Math.ceil(spec.rows / product.rows) * Math.ceil(spec.columns / product.columns) * spec.batch;
  const max = Math.floor((2 ** 31 - 65_536) / items);
  if (groups <= max) return product;
  throw new SpecError(`matmul: ${groups} workgroups, expected at most ${max}; split the batch`);
}

/** The options of `matmul`. @stable */
export interface MatmulOptions {
  /** The factor α, 1 by default. */
  readonly alpha?: number;
  readonly beta?: number;
  /** The array for the result; a new one if absent, which the caller disposes. */
  readonly c?: DeviceArray;
  readonly implementation?: Implementation;
}

/**
 * Computes the product of two arrays, α·A·B + β·C, like `Matmul` for a single use. Kernels stay compiled.
 *
 * @param a [rows, inner], or a batch of such.
 * @param b [inner, columns], or a batch of such.
 * @param options α, β, the array for the result, and the implementation.
 * @returns the array `c` of the options, or a new one that the caller disposes.
 * @throws ShapeError | PrecisionError | DisposedError | DeviceUnavailableError | OutOfMemoryError
 * @example
 * import { openDevice } from "feynkac/device";
 * import { DeviceArray, matmul } from "feynkac/linalg";
 *
 * using device = await openDevice({ backend: "cpu", threads: 1 });
 * using a = await DeviceArray.create(device, [2, 3], { values: [1, 2, 3, 4, 5, 6] });
 * using c = await matmul(a, a.transpose());
 * console.log((await c.download()).join(" ")); // 14 32 32 77
 * @stable
 */
export async function matmul(a: DeviceArray, b: DeviceArray, options: MatmulOptions = {}): Promise<DeviceArray> {
  const { alpha = 1, beta = 0, implementation = "auto" } = options;
  if (a.columns !== b.rows)
    throw new ShapeError(
      `matmul: a ${shapeText(a.shape)} has ${a.columns} columns, b ${shapeText(b.shape)} has ${b.rows} rows; expected as many`,
    );
  if (a.batch !== b.batch && a.batch !== 1 && b.batch !== 1)
    throw new ShapeError(
      `matmul: a batch of ${a.batch} and one of ${b.batch}; expected equal ones, or one matrix for all`,
    );
  if (beta !== 0 && options.c === undefined)
    throw new ShapeError(`matmul: beta ${beta} without c; give the array to add to`);
  const { device, precision } = a;
  const batched = [a, b].some(({ shape }) => shape.length === 3);
  const batch = Math.max(a.batch, b.batch) * (Math.min(a.batch, b.batch) === 0 ? 0 : 1);
  const { rows, columns: inner } = a;
  const { columns } = b;
  const spec = matmulSpec({ rows, inner, columns, batch, precision, implementation, a: orderOf(a), b: orderOf(b) });
  using product = await Matmul.create(device, spec);
  const shape = batched ? [batch, rows, columns] : [rows, columns];
  const c = options.c ?? (await DeviceArray.create(device, shape, { precision }));
  try {
    product.run({ a, b, c, alpha, beta });
    return c;
  } catch (error) {
    if (options.c === undefined) c[Symbol.dispose]();
    throw error;
  }
}
