/** Short-rate models: claims with rights on dates by backward recursion. */
export { type Fineness, mostNodes, oneFactorRecursion, RecursionEngine } from "./engine.ts";
export { checkOnPlane, type PlaneMarket, twoFactorRecursion } from "./plane-engine.ts";
export { nodesNeeded } from "./sizes.ts";
export type { ExerciseDate, GaussianMarket, ShortRateInstance, ShortRateTrade } from "./terms.ts";
export { GridEngine } from "./grid-engine.ts";
export {
  blackKarasinskiOnGrid,
  checkOnGrid,
  cirOnGrid,
  type GridMarket,
  hullWhiteOnGrid,
  usersRateOnGrid,
} from "./grid-market.ts";
export { LatticeEngine, type LatticeInstance } from "./lattice-engine.ts";
