/**
 * Linear algebra on every device: dense matrices and batches of tridiagonal systems. docs/linear-algebra.md is the
 * guide.
 */
export * from "./tridiagonal/index.ts";
export * from "./dense/index.ts";
export * from "./sparse/index.ts";
export * from "./krylov/index.ts";
