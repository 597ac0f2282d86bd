/**
 * An array as the product's kernels and libraries take it: where it starts, how far apart its rows and its matrices
 * are.
 */
import { ShapeError } from "../../../base/errors.ts";
import type { Device, DeviceBuffer } from "../../../device/index.ts";
import { DeviceArray, shapeText } from "./array.ts";
import type { MatmulSpec, Order } from "./matmul-spec.ts";
import { i32, read, real, write } from "../../../kernel/index.ts";

/** An operand of a matrix product as kernels read it: its buffer, its start and its strides. */
export interface Operand {
  readonly buffer: DeviceBuffer<"f64" | "f32">;
  readonly start: number;
  /** The distance from one row (column-major: column) to the next, at least its length and 1. */
  readonly stride: number;
  /** The distance from one matrix to the next; 0 if one matrix serves the whole batch. */
  readonly batch: number;
}

/** Kernels count elements in i32. */
const MAX_ELEMENTS = 2 ** 31 - 1;

interface Expected {
  readonly name: "a" | "b" | "c";
  readonly rows: number;
  readonly columns: number;
  readonly order: Order;
  /** True if one matrix may stand for the whole batch. */
  readonly shared: boolean;
}

/**
 * Returns an array as an operand of a product. @throws ShapeError (a device, precision, shape or order that does not
 * match the specification) | DisposedError
 */
export function operandOf(device: Device, spec: MatmulSpec, array: DeviceArray, expected: Expected): Operand {
  const { name, rows, columns, order, shared } = expected;
  const who = `matmul: ${name}`;
  if (!(array instanceof DeviceArray)) throw new ShapeError(`${who}: got no DeviceArray`);
  const { buffer } = array; // or DisposedError
  if (array.device !== device)
    throw new ShapeError(`${who}: an array of ${array.device.name}, expected one of ${device.name}`);
  if (array.precision !== spec.precision)
    throw new ShapeError(`${who}: precision ${array.precision}, expected the specification's, ${spec.precision}`);
  const batches = array.batch === spec.batch || (shared && array.batch === 1);
  if (array.rows !== rows || array.columns !== columns || !batches) {
    const wanted = spec.batch === 1 ? [rows, columns] : [spec.batch, rows, columns];
    throw new ShapeError(`${who}: shape ${shapeText(array.shape)}, expected ${shapeText(wanted)}`);
  }
  if (buffer.length > MAX_ELEMENTS)
    throw new ShapeError(
      `${who}: in a buffer of ${buffer.length} elements, expected at most ${MAX_ELEMENTS}; split it`,
    );
  const batch = array.batch === 1 ? 0 : array.strides.batch;
  return { buffer, start: array.offset, stride: strideIn(array, order, who), batch };
}

function strideIn(array: DeviceArray, order: Order, who: string): number {
  const { row, column } = array.strides;
  const { rows, columns } = array;
  const [along, length, across, count] =
    order === "row-major" ? [column, columns, row, rows] : [row, rows, column, columns];
  if (along !== 1 && length > 1) {
    const remedy =
      who === "matmul: c"
        ? "give the array itself, not its transposed view, and exchange the factors"
        : `say ${who.slice(-1)}: "${order === "row-major" ? "column-major" : "row-major"}" in the specification`;
    throw new ShapeError(
      `${who}: a ${order === "row-major" ? "transposed" : "row-major"} view, expected ${order}; ${remedy}`,
    );
  }
  return count > 1 ? across : Math.max(1, length);
}

/** Returns the order of an array: row-major or, for a transposed view, column-major. */
export const orderOf = ({ strides, columns }: DeviceArray): Order =>
  strides.column === 1 || columns <= 1 ? "row-major" : "column-major";

/** The parameters of all kernels of the matrix product. */
export const matmulParams = {
  rows: i32,
  columns: i32,
  inner: i32,
  /** Tiles of C, along its rows and its columns. */
  tileRows: i32,
  tileColumns: i32,
  alpha: real,
  beta: real,
  /**
   * The index at which a matrix starts in its buffer, and the distances between its rows (or columns, if it is
   * transposed) and between the matrices of the batch.
   */
  aStart: i32,
  aStride: i32,
  aBatch: i32,
  bStart: i32,
  bStride: i32,
  bBatch: i32,
  cStart: i32,
  cStride: i32,
  cBatch: i32,
  a: read(real),
  b: read(real),
  c: write(real),
} as const;
