/** Finite differences for one-factor problems: meshes, time grids, the solver kernel, batches of lanes on a device. */
export {
  type AffineCoordinate,
  affineDividends,
  type AffineSpec,
  type DatesCondition,
  type PaidDividend,
} from "./affine.ts";
export { Arena } from "./arena.ts";
export { LaneSolver, largestNodes } from "./batch.ts";
export { needsItems } from "./split.ts";
export { Turns } from "./turns.ts";
export type { LaneValues } from "./launch.ts";
export {
  inwardFirst,
  isKnockedIn,
  isPast,
  isWatched,
  isWatchedBetween,
  knockedOutBy,
  type KnockOut,
  rebateValue,
  SAME_DATE,
  type WatchedLevel,
} from "./barriers.ts";
export {
  coarserInTime,
  fineGrid,
  type Grid,
  grids,
  gridsOn,
  lane,
  type Lane,
  type Reading,
  type Resolution,
} from "./lane.ts";
export { eventsOf } from "./events.ts";
export { hasLargeDividends } from "./dividend-domain.ts";
export { driftExcess } from "./domain.ts";
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
} from "./problem.ts";
export { type PointValue, pointValue, premiumAtBoundary, spotValues } from "./solution.ts";
export { solverKernel, type SolverVariant, stepsOfRun } from "./solver/index.ts";
export * from "./equation/index.ts";
