/** Scripts of structured products backwards by finite differences: design/scripts.md. */
export { findLayers, liveAfter } from "./layers.ts";
export type { Layers, Mesh, ProblemDate, ScriptProblem } from "./problem.ts";
export { type ScriptPoint, type ScriptSolving, solveScripts } from "./solve.ts";
