/**
 * Finite differences: `solve` for equations of your own in one factor, and Bühler's affine coordinate for discrete
 * dividends. docs/pde.md is the guide.
 */
export {
  type AffineCoordinate,
  affineDividends,
  type AffineSpec,
  type DatesCondition,
  type PaidDividend,
} from "./problem/affine.ts";
export { VolatilityError } from "./problem/diffusion.ts";
export type {
  Axis,
  AxisPoint,
  Boundary,
  CoefficientName,
  Condition,
  EquationCoefficients,
  EquationProblem,
  ExerciseMethod,
  OneAxisScheme,
  Quantity,
  SchemeChoice,
  StateFunction,
} from "./problem/equation.ts";
export type { EntryStatus } from "./read/columns.ts";
export type {
  EntrySolution,
  ExerciseBoundary,
  PointColumns,
  PointSolution,
  Solution,
} from "./read/equation-solution.ts";
export type { AxesColumns, AxesEntrySolution, AxesPoint, AxesSolution, EquationPoint } from "./read/axes-solution.ts";
export type { AxesDerivatives } from "./read/entry.ts";
export { solve, type SolutionOn } from "./solve.ts";

// What follows serves pricing/, not users of the package.
/** @internal */
export { Arena } from "./mesh/arena.ts";
/** @internal */
export { BatchSolver, largestNodes } from "./execute/batch.ts";
/** @internal */
export { needsItems } from "./execute/split.ts";
/** @internal */
export type { InstanceValues } from "./read/solution.ts";
/** @internal */
export {
  inwardFirst,
  isKnockedIn,
  isPast,
  isMonitored,
  isMonitoredBetween,
  knockedOutBy,
  rebateValue,
} from "./problem/one-factor.ts";
export { type KnockOut, SAME_DATE, type MonitoredLevel } from "./problem/one-factor.ts";
/** @internal */
export { coarserInTime, fineGrid, grids, gridsOn, type Resolution } from "./execute/grid.ts";
export type { Grid } from "./mesh/grid.ts";
/** @internal */
export { instance, type Instance, type Reading } from "./execute/instance.ts";
/** @internal */
export { eventsOf } from "./time/nested-times.ts";
/** @internal */
export { hasLargeDividends } from "./mesh/dividend-domain.ts";
/** @internal */
export { AdaptiveRows, type RowSpec } from "./adaptive/adaptive-rows.ts";
/** @internal */
export { Bumps, type BumpsOnMeshes } from "./adaptive/bumps.ts";
/** @internal */
export { roundingError } from "./adaptive/error-estimate.ts";
/** @internal */
export { type ErrorModel, errorModelOf } from "./adaptive/error-model.ts";
/** @internal */
export { InstancePool } from "./adaptive/extrapolation.ts";
/** @internal */
export { knockedOutPoint } from "./adaptive/extrapolation.ts";
/** @internal */
export { type ProblemDifference, shiftedDifference } from "./adaptive/extrapolation.ts";
/** @internal */
export { firstResolution } from "./adaptive/error-model.ts";
/** @internal */
export { cellPeclet, lacksErrorExpansion } from "./mesh/drift.ts";
/** @internal */
export { jumpsBetween, MIN_JUMP_IN_PRICE } from "./problem/diffusion.ts";
/** @internal */
export { type Diffusion, volatilityAt } from "./problem/diffusion.ts";
/** @internal */
export { regimeChanges, varianceProfile } from "./problem/variance.ts";
/** @internal */
export {
  isTimeHomogeneous,
  type OneFactorProblem,
  type Shift,
  shiftedProblem,
  totalDrift,
  totalVariance,
} from "./problem/one-factor.ts";
/** @internal */
export { isExercisableNow } from "./problem/one-factor.ts";
/** @internal */
export { type PointValue, pointValue, premiumAtBoundary, spotValues } from "./read/solution.ts";
/** @internal */
export { type SolverVariant } from "./execute/option/plan.ts";
/** @internal */
export { solverKernel } from "./execute/option/kernel.ts";
/** @internal */
export { stepsOfRun } from "./time/time-grid.ts";
/** @internal */
export { fornbergWeights } from "./read/point-reader.ts";

// What follows serves sparsegrid/, which solves the same problems on many grids.
/** @internal */
export { packedParameters } from "./execute/plan.ts";
/** @internal */
export { endlessLoops } from "./adaptive/levels.ts";
/** @internal */
export { Column, valueAt } from "./operator/state.ts";
/** @internal */
export { FAULT, firstFault } from "./operator/status.ts";
/** @internal */
export { coefficientFault } from "./operator/status.ts";
/** @internal */
export { EquationState, type StateNumber } from "./operator/state.ts";
/** @internal */
export type { AnyProblem, KernelCode } from "./problem/equation.ts";
/** @internal */
export { LOOP_BUDGET } from "./problem/lowered.ts";
/** @internal */
export { placed } from "./problem/place.ts";
/** @internal */
export { solveAxes } from "./solve-entries.ts";
/** @internal */
export {
  type Batch,
  batchOf,
  checkParameters,
  entryError,
  type ParameterValues,
  parametersOf,
  quantityOf,
  shown,
} from "./problem/settings.ts";
/** @internal */
export { EQUATION_KEYS } from "./problem/settings.ts";
/** @internal */
export { edgesOf, type EquationCode, inTime, type Model, modelOf } from "./model/model.ts";
/** @internal */
export { reportOf } from "./read/report.ts";
/** @internal */
export { stencilOf } from "./read/point-reader.ts";
/** @internal */
export { chosenScheme } from "./time/schemes.ts";
/** @internal */
export {
  CONDITION_SHIFT,
  MASK_SHIFT,
  PROGRAM_BITS,
  type ProgramSpec,
  ROW_REALS,
  type TimeProgram,
  timeProgram,
  type Timeline,
  timelineOf,
} from "./time/timeline.ts";
