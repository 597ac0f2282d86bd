/** Sparse matrices in every usual format, their files, and their products on any device. */
export { chooseFormat } from "./choose.ts";
export { convertSparse, type ConvertOptions } from "./convert.ts";
export { csrMatrix, type CompressedRows, sparseMatrix, type SparseEntries } from "./entries.ts";
export type {
  BcsrMatrix,
  CooMatrix,
  CsrMatrix,
  DiaMatrix,
  EllMatrix,
  HybMatrix,
  PktMatrix,
  SparseFormat,
  SparseMatrix,
} from "./formats.ts";
export { formatMatrixMarket, MatrixMarketError, type MatrixMarketOptions, parseMatrixMarket } from "./matrix-market.ts";
export { type ApplyArguments, SparseOperator } from "./operator.ts";
export type { CsrAlgorithm } from "./spec.ts";
export type { OperatorOptions } from "./spec.ts";
export {
  stencil,
  type Stencil,
  type StencilCoefficient,
  stencilMatrix,
  type StencilOptions,
  stencilPlace,
  type StencilPlace,
} from "./stencil.ts";
