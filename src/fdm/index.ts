/** Finite differences for one-factor problems: meshes, time grids, the solver kernel, batches of instances on a device. */
export {
  type AffineCoordinate,
  affineDividends,
  type AffineSpec,
  type DatesCondition,
  type PaidDividend,
} from "./problem/affine.ts";
export { Arena } from "./execute/arena.ts";
export { BatchSolver, largestNodes } from "./execute/batch.ts";
export { needsItems } from "./execute/split.ts";
export type { InstanceValues } from "./execute/launch.ts";
export {
  inwardFirst,
  isKnockedIn,
  isPast,
  isMonitored,
  isMonitoredBetween,
  knockedOutBy,
  type KnockOut,
  rebateValue,
  SAME_DATE,
  type MonitoredLevel,
} from "./problem/barriers.ts";
export {
  coarserInTime,
  fineGrid,
  type Grid,
  grids,
  gridsOn,
  instance,
  type Instance,
  type Reading,
  type Resolution,
} from "./execute/instance.ts";
export { eventsOf } from "./time/events.ts";
export { hasLargeDividends } from "./mesh/dividend-domain.ts";
export { AdaptiveRows, type RowSpec } from "./adaptive/adaptive-rows.ts";
export { Bumps } from "./adaptive/bumps.ts";
export { roundingError } from "./adaptive/error-estimate.ts";
export { type ErrorModel, errorModelOf } from "./adaptive/error-model.ts";
export { InstancePool } from "./adaptive/instance-pool.ts";
export { knockedOutPoint } from "./adaptive/knocked-out-point.ts";
export { type ProblemDifference, shiftedDifference } from "./adaptive/problem-difference.ts";
export { firstResolution } from "./adaptive/resolution.ts";
export { driftExcess, isRough } from "./mesh/domain.ts";
export { jumpsBetween } from "./problem/jumps.ts";
export {
  type Diffusion,
  isExercisableNow,
  isTimeHomogeneous,
  type OneFactorProblem,
  type Shift,
  shiftedProblem,
  totalDrift,
  totalVariance,
  volatilityAt,
} from "./problem/one-factor.ts";
export { type PointValue, pointValue, premiumAtBoundary, spotValues } from "./read/solution.ts";
export { VolatilityError } from "./problem/volatility-check.ts";
export { solverKernel, type SolverVariant } from "./execute/item/kernel.ts";
export { stepsOfRun } from "./time/flags.ts";
export { fornbergWeights } from "./read/fornberg.ts";
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
} from "./problem/equation.ts";
export type { EntrySolution, ExerciseBoundary, PointSolution, Solution } from "./read/equation-solution.ts";
export { solve, type SolveOptions } from "./solve.ts";
export type { SolveProgress } from "./execute/pace.ts";
