/** Short-rate models: claims with rights on dates by backward recursion. */
export {
  type InductionResolution,
  MAX_DATE_NODES,
  maxNodesOf,
  oneFactorInduction,
  BackwardInductionEngine,
} from "./engine.ts";
export { checkOnPlane, type PlaneMarket, twoFactorInduction } from "./plane-recursion.ts";
export {
  type ExerciseDate,
  type GaussianMarket,
  NO_EXERCISE_PRICE,
  packMarkets,
  type ShortRateInstance,
  type ShortRateTrade,
  sidesOf,
} from "./terms.ts";
export { decayIntegral, stepVariance } from "./gaussian.ts";
export { correctKink, lagrangeCoefficients, InstanceArrays } from "./kink.ts";
export { LatticeEngine, type LatticeInstance } from "./lattice.ts";
