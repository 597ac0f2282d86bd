/** Matrices on a device: memory with a shape, and views of it without copies. */
import { DisposedError, ShapeError, SpecError } from "../../../base/errors.ts";
import { type Device, type DeviceBuffer, type HostArray, offeredPrecision } from "../../../device/index.ts";
import { hostRealType, type Precision } from "../../../kernel/index.ts";

/** The shape of an array: `[n]`, a column; `[rows, columns]`; `[batch, rows, columns]`. @stable */
export type Shape = readonly number[];

/**
 * The distances, in elements, from one matrix, row or column of an array to the next: element [matrix, row, column] is
 * at offset + matrix·batch + row·row + column·column.
 * @stable
 */
export interface Strides {
  readonly batch: number;
  readonly row: number;
  readonly column: number;
}

/** The options of `DeviceArray.create`. @stable */
export interface ArrayOptions {
  /**
   * The precision, "f64" by default. A device that only emulates f64 computes in f32x2; the numbers on the host are f64
   * all the same.
   */
  readonly precision?: Precision;
  /** The values row by row, matrix by matrix; zeros if absent. */
  readonly values?: HostArray | readonly number[];
}

/** Memory that an array and its views share. */
interface Storage {
  readonly buffer: DeviceBuffer<"f64" | "f32">;
}

interface Layout {
  readonly shape: Shape;
  readonly offset: number;
  readonly strides: Strides;
}

/**
 * A matrix, a batch of matrices or a vector on a device, row-major; or a view of a part of another, transposed or not.
 *
 * Only the array that `create` returns owns memory. Whoever created it disposes it, and its views with it. A view costs
 * nothing on the device, and shows what is written through the array and its other views. The class follows the
 * `dev_array` of the CUDA tutorials (`resize`, `set`, `get`), with errors instead of silent truncation. Verified:
 * test/numerics/linalg/dense-array.
 *
 * @example
 * import { openDevice } from "feynkac/device";
 * import { DeviceArray } from "feynkac/linalg";
 *
 * using device = await openDevice({ backend: "cpu", threads: 1 });
 * using a = await DeviceArray.create(device, [2, 3], { values: [1, 2, 3, 4, 5, 6] });
 * const columns = a.columnSlice(1, 3).transpose();
 * console.log(columns.shape.join(" × "), (await columns.download()).join(" ")); // 2 × 2 2 5 3 6
 * @stable
 */
export class DeviceArray implements Disposable {
  readonly device: Device;
  readonly precision: Precision;
  /** True for a view of memory that another array owns. */
  readonly isView: boolean;
  #layout: Layout;
  #storage: Storage;

  private constructor(device: Device, precision: Precision, layout: Layout, storage: Storage, isView: boolean) {
    this.device = device;
    this.precision = precision;
    this.isView = isView;
    this.#layout = layout;
    this.#storage = storage;
  }

  /**
   * Creates an array. @throws SpecError (the shape) | ShapeError (the number of values) | PrecisionError (not offered
   * by the device) | OutOfMemoryError
   */
  static async create(device: Device, shape: Shape, options: ArrayOptions = {}): Promise<DeviceArray> {
    const { values } = options;
    const layout = denseLayout(shape);
    const precision = await offeredPrecision(device, options.precision ?? "f64");
    const storage = { buffer: device.createBuffer(hostRealType(precision), sizeOf(shape)) };
    const array = new DeviceArray(device, precision, layout, storage, false);
    try {
      if (values !== undefined) array.upload(values);
      return array;
    } catch (error) {
      array[Symbol.dispose]();
      throw error;
    }
  }

  get shape(): Shape {
    return this.#layout.shape;
  }

  /** The number of matrices: 1 without a batch. */
  get batch(): number {
    return this.shape.length === 3 ? this.shape[0] : 1;
  }

  get rows(): number {
    return this.shape.length === 3 ? this.shape[1] : this.shape[0];
  }

  get columns(): number {
    return this.shape.length === 1 ? 1 : this.shape[this.shape.length - 1];
  }

  /** The number of elements. */
  get size(): number {
    return sizeOf(this.shape);
  }

  /** The index of the first element in the buffer. */
  get offset(): number {
    return this.#layout.offset;
  }

  get strides(): Strides {
    return this.#layout.strides;
  }

  /** The whole buffer. @throws DisposedError */
  get buffer(): DeviceBuffer<"f64" | "f32"> {
    this.#assertUsable("buffer");
    return this.#storage.buffer;
  }

  get disposed(): boolean {
    return this.#storage.buffer.disposed;
  }

  /** True if its elements lie row by row without gaps. */
  get isDense(): boolean {
    const { batch, row, column } = this.strides;
    const { rows, columns } = this;
    return (
      (columns <= 1 || column === 1) && (rows <= 1 || row === columns) && (this.batch <= 1 || batch === rows * columns)
    );
  }

  /**
   * Copies `values`, in the order of this array's rows whatever its strides; they may be reused at once. @throws
   * ShapeError (the number of values) | DisposedError
   */
  upload(values: HostArray | readonly number[]): void {
    this.#assertUsable("upload");
    if (values.length !== this.size)
      throw new ShapeError(
        `upload: ${values.length} values, expected ${this.size} for the shape ${shapeText(this.shape)}; resize it, or take a view`,
      );
    const numbers = this.#hostArray(values);
    if (this.isDense) return this.device.write(this.#storage.buffer, numbers, this.offset);
    const { strides } = this;
    const [outer, inner, transposed] =
      strides.row < strides.column ? [this.columns, this.rows, true] : [this.rows, this.columns, false];
    const strip = new (numbers.constructor as typeof Float64Array)(inner);
    for (let m = 0; m < this.batch; m++) {
      for (let o = 0; o < outer; o++) {
        const first = m * this.rows * this.columns + (transposed ? o : o * inner);
        for (let i = 0; i < inner; i++) strip[i] = numbers[first + (transposed ? i * outer : i)];
        this.#writeStrip(m, o, transposed, strip);
      }
    }
  }

  /**
   * Waits for everything recorded so far and copies the elements, row by row of this array.
   * @throws DisposedError
   */
  async download(): Promise<Float64Array | Float32Array> {
    this.#assertUsable("download");
    const { rows, columns, batch, strides, offset, size, isDense } = this;
    const span = size === 0 ? 0 : this.#last() + 1 - offset;
    const all = await this.device.read(this.#storage.buffer, offset, span);
    if (isDense) return all;
    const result = new (all.constructor as typeof Float64Array)(size);
    let to = 0;
    for (let m = 0; m < batch; m++)
      for (let i = 0; i < rows; i++)
        for (let j = 0; j < columns; j++) result[to++] = all[m * strides.batch + i * strides.row + j * strides.column];
    return result;
  }

  /**
   * Changes the shape and sets all elements to zero. Memory of the right size is kept; otherwise it is replaced, and
   * views of the old memory are disposed. @throws SpecError (the shape) | ShapeError (a view) | DisposedError |
   * OutOfMemoryError
   */
  resize(shape: Shape): void {
    this.#assertUsable("resize");
    if (this.isView) throw new ShapeError("resize: of a view; resize the array that it is a view of");
    const layout = denseLayout(shape);
    const { buffer } = this.#storage;
    const size = sizeOf(shape);
    if (size === buffer.length) {
      this.device.write(buffer, buffer.element === "f64" ? new Float64Array(size) : new Float32Array(size));
    } else {
      this.#storage = { buffer: this.device.createBuffer(buffer.element, size) };
      buffer[Symbol.dispose]();
    }
    this.#layout = layout;
  }

  /** Returns a view with rows and columns exchanged in each matrix. */
  transpose(): DeviceArray {
    const { batch, rows, columns, strides } = this;
    const shape = this.shape.length === 3 ? [batch, columns, rows] : [columns, rows];
    return this.#view("transpose", shape, this.offset, {
      batch: strides.batch,
      row: strides.column,
      column: strides.row,
    });
  }

  /** Returns a view of rows `from` … `to` − 1. @throws ShapeError | DisposedError */
  slice(from: number, to: number = this.rows): DeviceArray {
    checkRange("slice", "rows", from, to, this.rows);
    const shape = this.shape.with(this.shape.length === 3 ? 1 : 0, to - from);
    return this.#view("slice", shape, this.offset + from * this.strides.row, this.strides);
  }

  /** Returns a view of columns `from` … `to` − 1. @throws ShapeError | DisposedError */
  columnSlice(from: number, to: number = this.columns): DeviceArray {
    checkRange("columnSlice", "columns", from, to, this.columns);
    const shape = this.shape.length === 3 ? [this.batch, this.rows, to - from] : [this.rows, to - from];
    return this.#view("columnSlice", shape, this.offset + from * this.strides.column, this.strides);
  }

  /** Returns a view of one matrix of a batch. @throws ShapeError | DisposedError */
  matrix(index: number): DeviceArray {
    if (!Number.isInteger(index) || index < 0 || index >= this.batch)
      throw new ShapeError(`matrix: got ${index}, expected a whole number from 0 to ${this.batch - 1}`);
    return this.#view("matrix", [this.rows, this.columns], this.offset + index * this.strides.batch, this.strides);
  }

  /** Frees the memory; for a view nothing. */
  [Symbol.dispose](): void {
    if (!this.isView) this.#storage.buffer[Symbol.dispose]();
  }

  #view(who: string, shape: Shape, offset: number, strides: Strides): DeviceArray {
    this.#assertUsable(who);
    return new DeviceArray(this.device, this.precision, { shape, offset, strides }, this.#storage, true);
  }

  /** The position of the last element in the buffer. */
  #last(): number {
    const { batch, row, column } = this.strides;
    return this.offset + (this.batch - 1) * batch + (this.rows - 1) * row + (this.columns - 1) * column;
  }

  /** One row, or one column of a transposed view: every view has a unit stride. */
  #writeStrip(matrix: number, strip: number, transposed: boolean, values: HostArray): void {
    const { batch, row, column } = this.strides;
    const start = this.offset + matrix * batch + strip * (transposed ? column : row);
    this.device.write(this.#storage.buffer, values, start);
  }

  #hostArray(values: HostArray | readonly number[]): HostArray {
    if (ArrayBuffer.isView(values)) return values;
    return this.#storage.buffer.element === "f64" ? Float64Array.from(values) : Float32Array.from(values);
  }

  #assertUsable(who: string): void {
    if (!this.disposed) return;
    const why = this.isView ? "the array that it is a view of has been disposed or resized" : "it has been disposed";
    throw new DisposedError(`DeviceArray: ${who}: ${why}`);
  }
}

/** Returns a shape as text: "[2, 3]". */
export const shapeText = (shape: Shape): string => `[${shape.join(", ")}]`;

const sizeOf = (shape: Shape): number => shape.reduce((product, n) => product * n, 1);

function denseLayout(shape: Shape): Layout {
  const valid = shape.length >= 1 && shape.length <= 3 && shape.every((n) => Number.isInteger(n) && n >= 0);
  if (!valid)
    throw new SpecError(
      `DeviceArray: shape ${shapeText(shape)}, expected [n], [rows, columns] or [batch, rows, columns], whole numbers ≥ 0`,
    );
  const [columns, rows] = shape.length === 1 ? [1, shape[0]] : [shape[shape.length - 1], shape[shape.length - 2]];
  return { shape: Object.freeze([...shape]), offset: 0, strides: { batch: rows * columns, row: columns, column: 1 } };
}

function checkRange(who: string, what: string, from: number, to: number, max: number): void {
  const valid = [from, to].every((n) => Number.isInteger(n)) && 0 <= from && from <= to && to <= max;
  if (!valid)
    throw new ShapeError(`${who}: ${what} ${from} … ${to}, expected whole numbers with 0 ≤ from ≤ to ≤ ${max}`);
}
