import { i32, read, real, write } from "../../../kernel/index.ts";

/** The parameters of both kernels that reduce chunks to two rows each, whose diagonal is 1 and already stored. */
export const reduceParams = {
  rows: i32,
  stride: i32,
  batch: i32,
  chunk: i32,
  lower: read(real),
  diagonal: read(real),
  upper: read(real),
  rhs: read(real),
  outLower: write(real),
  outUpper: write(real),
  outRhs: write(real),
  status: write(i32),
} as const;
