/** Iterative solution of sparse systems on any device. */
export { solveSparse, type SolveSparseOptions, type SparseSolved } from "./host.ts";
export { KrylovBatch, type BatchOptions, type BatchResult, type BatchSystems } from "./batch.ts";
export type { BatchPreconditioner } from "./batch-factors.ts";
export { preconditioner, type PreconditionerOptions } from "./precondition.ts";
export type { Preconditioner } from "./factor-parts.ts";
export { KrylovSolver, type KrylovSystem } from "./solver.ts";
export { krylovSpec, type KrylovMethod, type KrylovOptions, type KrylovSpec } from "./spec.ts";
export type { KrylovResult, KrylovStatus } from "./status.ts";
