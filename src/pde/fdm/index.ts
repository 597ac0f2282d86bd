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
export type { EntrySolution, ExerciseBoundary, PointColumns, PointSolution, Solution } from "./read/entry-solution.ts";
export type { AxesColumns, AxesEntrySolution, AxesPoint, AxesSolution, EquationPoint } from "./read/entry-solution.ts";
export type { AxesDerivatives } from "./read/point-reader.ts";
export { solve, type SolutionOn } from "./solve.ts";

// What follows serves other folders of the package, not its users.
export { type KnockOut, type MonitoredLevel, SAME_DATE } from "./problem/one-factor.ts";
export type { Grid } from "./mesh/grid.ts";
/** @internal */
export { type AdaptiveBatch, AdaptiveRow, type RowSettings } from "./adaptive/adaptive-row.ts";
/** @internal */
export { SharedRows } from "./adaptive/shared-rows.ts";
/** @internal */
export { type Direction, Slopes } from "./adaptive/slopes.ts";
/** @internal */
export { hasDerivative } from "./execute/inputs.ts";
/** @internal */
export { type ErrorModel, errorModelOf, firstResolution, lacksErrorExpansion } from "./adaptive/error-model.ts";
/** @internal */
export {
  InstancePool,
  knockedOutPoint,
  type ProblemDifference,
  shiftedDifference,
  SpotReader,
} from "./adaptive/extrapolation.ts";
/** @internal */
export { BatchSolver, largestDifferentiated, largestNodes } from "./execute/batch.ts";
/** @internal */
export { fineGrid, grids, gridsOn, type Resolution } from "./mesh/grid.ts";
/** @internal */
export { type Instance, instance, type SolutionPart } from "./execute/instance.ts";
/** @internal */
export { solverKernel } from "./execute/option/kernel.ts";
/** @internal */
export type { SolverVariant } from "./execute/option/plan.ts";
/** @internal */
export { packedParameters } from "./execute/plan.ts";
/** @internal */
export { needsItems } from "./execute/split.ts";
/** @internal */
export { Arena } from "./mesh/pinned-mesh.ts";
/** @internal */
export { continuousBarriersOf, anyDependsOnTime, type CompiledEquation, compileEquation } from "./model/model.ts";
/** @internal */
export { Column, type EquationCode, EquationState, type StateNumber, valueAt } from "./operator/state.ts";
/** @internal */
export { coefficientFault, FAULT, firstFault } from "./operator/status.ts";
/** @internal */
export { type Diffusion, jumpsBetween, MIN_JUMP_IN_PRICE, volatilityAt } from "./problem/diffusion.ts";
/** @internal */
export type { AnyProblem } from "./problem/equation.ts";
/** @internal */
export { LOOP_BUDGET } from "./problem/lowered.ts";
/** @internal */
export {
  inwardFirst,
  isExercisableNow,
  isKnockedIn,
  isMonitored,
  isMonitoredBetween,
  isPast,
  knockedOutBy,
  type OneFactorProblem,
  rebateValue,
  type Shift,
  shiftedProblem,
  totalVariance,
} from "./problem/one-factor.ts";
/** @internal */
export { withSourcePosition } from "./problem/lowered.ts";
/** @internal */
export {
  type Batch,
  batchOf,
  checkParameters,
  entryError,
  EQUATION_KEYS,
  parametersOf,
  type ParameterValues,
  quantityOf,
  formattedParameters,
} from "./problem/settings.ts";
/** @internal */
export { regimeChanges, varianceProfile } from "./problem/variance.ts";
/** @internal */
export type { PointValues } from "./read/point-reader.ts";
/** @internal */
export { fornbergWeights, stencilOf } from "./read/stencils.ts";
/** @internal */
export { reportOf } from "./read/report.ts";
/** @internal */
export { type InstanceValues, pointValue, spotValues } from "./read/solution.ts";
/** @internal */
export { endlessLoops, solveAxes } from "./solve.ts";
/** @internal */
export { eventsOf } from "./time/nested-times.ts";
/** @internal */
export { chosenScheme } from "./time/schemes.ts";
/** @internal */
export { stepCountOf } from "./time/time-grid.ts";
/** @internal */
export {
  CONDITION_SHIFT,
  MASK_SHIFT,
  PROGRAM_BITS,
  type ProgramSpec,
  ROW_REALS,
  type Timeline,
  timelineOf,
  timeProgram,
  type TimeProgram,
} from "./time/timeline.ts";
