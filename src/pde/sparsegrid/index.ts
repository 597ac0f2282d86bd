/**
 * The sparse-grid combination technique: equations on one to ten axes, solved on many small grids whose solutions are
 * combined. docs/sparsegrid.md is the guide.
 */
export type { Accuracy, RelativeAccuracy } from "../../base/accuracy.ts";
export { combinationGrids, type CombinationGrid, type CombinationSettings } from "./combination.ts";
export type { GridSolver as SparseSolver, SparseAccuracy, SparseAxis, SparseGridProblem } from "./problem/problem.ts";
/** @internal */
export type { AnySparseProblem } from "./problem/problem.ts";
export { solveOnSparseGrid, type SparseOptions } from "./solve.ts";
export { type SolvedGrid, SparseEntrySolution, type SparseSolution } from "./solution.ts";
