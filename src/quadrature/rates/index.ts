/** Short-rate models: claims with rights on dates by backward recursion. */
export { type Fineness, mostNodes, nodesNeeded, oneFactorRecursion, RecursionEngine } from "./engine.ts";
export { checkOnPlane, type PlaneMarket, twoFactorRecursion } from "./plane-recursion.ts";
export {
  type ExerciseDate,
  type GaussianMarket,
  NO_PRICE,
  packMarkets,
  type ShortRateInstance,
  type ShortRateTrade,
  sidesOf,
} from "./terms.ts";
export { decayIntegral, stepVariance } from "./gaussian.ts";
export { correctKink, lagrangeCoefficients, Room } from "./kink.ts";
export { LatticeEngine, type LatticeInstance } from "./lattice.ts";
