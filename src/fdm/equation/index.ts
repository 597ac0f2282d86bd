/** One-factor equations that users write: problems, solutions, and `solve`. */
export { fornbergWeights } from "./fornberg.ts";
export type {
  Axis,
  AxisPoint,
  Boundary,
  CoefficientName,
  Condition,
  EquationCoefficients,
  EquationProblem,
  ExerciseMethod,
  Quantity,
  SchemeChoice,
  StateFunction,
} from "./problem.ts";
export type { EntrySolution, ExerciseBoundary, PointSolution, Solution } from "./solution.ts";
export { solve, type SolveOptions } from "./solve.ts";
export type { SolveProgress } from "./pace.ts";
