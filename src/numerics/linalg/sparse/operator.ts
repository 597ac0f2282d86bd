import { type Device, type DeviceBuffer, offeredPrecision } from "../../../device/index.ts";
import { DisposedError, ShapeError, SpecError } from "../../../base/errors.ts";
import { hostRealType, type Precision } from "../../../kernel/index.ts";
import { checkBuffer } from "../given.ts";
import type { ConvertOptions } from "./convert.ts";
import { type DeviceRows, rowsFromCoo, rowsFromSlots } from "./device-rows.ts";
import type { SparseFormat, SparseMatrix } from "./formats.ts";
import { uploadProduct, productFromCsr } from "./operator-product.ts";
import type { SparseProduct, ComputeTarget } from "./product.ts";
import type { SlotProduct } from "./slots.ts";
import { checkOptions, type OperatorOptions } from "./spec.ts";
import type { Stencil } from "./stencil.ts";

/** The arguments of y ← alpha·A·x + beta·y. @stable */
export interface ApplyArguments {
  /** The vector x, with `columns` elements. */
  readonly x: DeviceBuffer;
  /** The vector y, with `rows` elements; not read if beta is 0. */
  readonly y: DeviceBuffer;
  /** The factor α, 1 by default. */
  readonly alpha?: number;
  /** The factor β, 0 by default. */
  readonly beta?: number;
}

/**
 * A sparse matrix, or a matrix-free stencil, on a device: y ← α·A·x + β·y.
 *
 * Every format adds in a fixed order, so that the same call gives the same bits, on any number of threads. Formats and
 * algorithms differ in their orders, and so in the last bits. DIA and BCSR multiply the zeros that they store: an
 * infinite or NaN x reaches rows that have no entry in that column.
 * Error: |y − ŷ| ≤ γ(n + 2)·(|α||A||x| + |β||y|), n the longest row (Higham 2002, section 3.5).
 * Cost: the bytes that `bytes` gives, at the speed of the memory; 2 flops per entry.
 * Source: N. Bell & M. Garland (2008, 2009). Verified: test/numerics/linalg/sparse, against SciPy and sums in twice
 * f64.
 *
 * @example
 * import { openDevice } from "feynkac/device";
 * import { SparseOperator, sparseMatrix } from "feynkac/linalg";
 *
 * using device = await openDevice({ backend: "cpu", threads: 1 });
 * const matrix = sparseMatrix({ rows: 2, columns: 2, row: [0, 0, 1], column: [0, 1, 1], values: [1, 2, 3] });
 * using a = await SparseOperator.create(device, matrix);
 * const [x, y] = [device.createBuffer("f64", 2), device.createBuffer("f64", 2)];
 * device.write(x, Float64Array.of(10, 1));
 * a.apply({ x, y });
 * console.log((await device.read(y)).join(" ")); // 12 3
 * @stable
 */
export class SparseOperator implements Disposable {
  readonly device: Device;
  readonly rows: number;
  readonly columns: number;
  /** The precision of kernels; f32x2 for f64 on a device that emulates it. */
  readonly precision: Precision;
  readonly format: SparseFormat | "stencil";
  readonly #product: SparseProduct;
  readonly #options: OperatorOptions;
  #disposed = false;

  private constructor(setting: ComputeTarget, made: Made, options: OperatorOptions) {
    this.device = setting.device;
    this.precision = setting.precision;
    this.rows = made.rows;
    this.columns = made.columns;
    this.format = made.format;
    this.#product = made.product;
    this.#options = options;
  }

  /**
   * Uploads a matrix and compiles its product.
   * @throws SpecError (an option; coordinates out of order or repeated) | PrecisionError | OutOfMemoryError
   */
  static async create(
    device: Device,
    matrix: SparseMatrix | Stencil,
    options: OperatorOptions = {},
  ): Promise<SparseOperator> {
    checkOptions(options);
    const setting = { device, precision: await offeredPrecision(device, options.precision ?? "f64") };
    const product = await uploadProduct(setting, matrix, options);
    const { rows, columns, kind } = matrix;
    return new SparseOperator(setting, { rows, columns, format: kind, product }, options);
  }

  /**
   * The arrays of the matrix on the device, by the names of its format (`index` for ELL's columns, DIA's offsets and a
   * stencil's grid; `values` for a stencil's parameters). They are lent: kernels and `Device.write` may change values,
   * not positions.
   */
  get arrays(): Readonly<Record<string, DeviceBuffer>> {
    this.#assertUsable();
    return this.#product.arrays;
  }

  /** The minimum number of bytes that a product with β = 0 moves: every array once, x and y once. */
  get bytes(): number {
    const size = (element: string): number => (element === "f64" ? 8 : 4);
    const arrays = Object.values(this.arrays).reduce((sum, { element, length }) => sum + length * size(element), 0);
    return arrays + (this.rows + this.columns) * size(hostRealType(this.precision));
  }

  /**
   * Records y ← alpha·A·x + beta·y; the buffers are borrowed.
   * @throws ShapeError (a buffer of another length, element type or device; x and y the same) | DisposedError
   */
  apply({ x, y, alpha = 1, beta = 0 }: ApplyArguments): void {
    this.#assertUsable();
    this.#check("x", x, this.columns);
    this.#check("y", y, this.rows);
    if (x === y) throw new ShapeError("SparseOperator: x and y are one buffer, expected two");
    if (this.rows > 0) this.#product.record({ x, y, alpha, beta });
  }

  /**
   * Converts the matrix to another format on the device: from coo, csr, ell, dia and stencils to csr, coo, ell, dia and
   * hyb. Only counts pass the host, and the starts of rows for hyb and ell. Other conversions are made by
   * `convertSparse`.
   * @throws SpecError (from blocks, packets, hyb or padded rows; the same format; ell or dia that would store far more
   * padding than entries)
   */
  async convert(
    format: "csr" | "coo" | "ell" | "dia" | "hyb",
    options: Pick<ConvertOptions, "width" | "maxPlaces"> = {},
  ): Promise<SparseOperator> {
    this.#assertUsable();
    const setting = { device: this.device, precision: this.precision };
    const { rows, columns } = this;
    if (this.#product.padded === true)
      throw new SpecError(
        "SparseOperator.convert: rows with padding are not converted on a device; convert them on the host",
      );
    if (format === this.format) throw new SpecError(`SparseOperator.convert: the matrix is in ${format} already`);
    const made = this.format === "csr" ? undefined : await this.#madeRows(setting);
    const from = made ?? (this.#product.arrays as unknown as DeviceRows);
    const parts = { setting, rows, columns, from, convert: options, operator: this.#options };
    try {
      const product = await productFromCsr(format, parts);
      return new SparseOperator(setting, { rows, columns, format, product }, this.#options);
    } finally {
      if (format !== "csr") for (const buffer of Object.values(made ?? {})) buffer[Symbol.dispose]();
    }
  }

  [Symbol.dispose](): void {
    if (this.#disposed) return;
    this.#disposed = true;
    for (const buffer of Object.values(this.#product.arrays)) buffer[Symbol.dispose]();
  }

  /** Compressed rows that the caller owns. */
  async #madeRows(setting: ComputeTarget): Promise<DeviceRows> {
    switch (this.format) {
      case "coo":
        return rowsFromCoo(setting, this.rows, this.#product.arrays);
      case "ell":
      case "dia":
      case "stencil":
        return rowsFromSlots(setting, this.#product as SlotProduct);
      default:
        throw new SpecError(
          `SparseOperator.convert: ${this.format} is not converted on a device; convert it on the host with convertSparse`,
        );
    }
  }

  #check(name: string, buffer: DeviceBuffer, length: number): void {
    const { device, precision } = this;
    checkBuffer(`SparseOperator: ${name}`, buffer, { device, element: hostRealType(precision), length });
  }

  #assertUsable(): void {
    if (this.#disposed) throw new DisposedError("SparseOperator: used after it was disposed");
  }
}

/** The parts that an operator is made of. */
interface Made {
  readonly rows: number;
  readonly columns: number;
  readonly format: SparseOperator["format"];
  readonly product: SparseProduct;
}
