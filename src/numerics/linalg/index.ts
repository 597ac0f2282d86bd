/**
 * Linear algebra on every device: dense and sparse matrices, batches of tridiagonal systems, Krylov methods.
 * docs/linear-algebra.md and docs/sparse.md are the guides.
 */
export type { Accuracy, RelativeAccuracy } from "../../base/accuracy.ts";
export * from "./tridiagonal/index.ts";
export * from "./dense/index.ts";
export * from "./sparse/index.ts";
export * from "./krylov/index.ts";
/** @internal */
export { checkedSymmetric, choleskyOf, semidefiniteCholeskyOf } from "./dense/small.ts";
/** @internal */
export { gaussLegendre } from "./gauss-legendre.ts";
