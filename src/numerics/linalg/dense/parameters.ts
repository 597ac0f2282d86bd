/** The parameters of every kernel of the product: C ← α·A·B + β·C, matrix by matrix of a batch, tile by tile of C. */
import { i32, read, real, write } from "../../../kernel/index.ts";

/** The parameters of all product kernels. */
export const productParams = {
  rows: i32,
  columns: i32,
  inner: i32,
  /** Tiles of C, along its rows and its columns. */
  tileRows: i32,
  tileColumns: i32,
  alpha: real,
  beta: real,
  /**
   * The place at which a matrix starts in its buffer, and the distances of its rows (or columns, if it is transposed)
   * and of its batch's matrices.
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
