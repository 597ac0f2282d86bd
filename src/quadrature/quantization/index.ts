/**
 * Optimal quantization: grids of Gaussian and other laws, nearest neighbours, transition probabilities of Markov
 * chains, and dynamic programming on the trees they make. docs/quantization.md is the guide.
 */
export { type Quantizer, quantizedMean } from "./quantizer.ts";
export { optimalNormalLine } from "./normal/line.ts";
export { normalQuantizer, type NormalSettings } from "./normal/normal-quantizer.ts";
export { sampleQuantizer, type SampleSettings } from "./normal/samples.ts";
export { type GaussianMoments, gaussianQuantizer } from "./gaussian.ts";
export type { Matrix } from "../../numerics/linalg/index.ts";
export { type NearestFunction, nearestByBruteForce, SearchTables } from "./search/brute-force.ts";
export { binPlan, nearestByBins } from "./search/bins.ts";
export { nearestByTree, kdTreePlan } from "./search/kd-tree.ts";
export type { SearchPlan } from "./search/brute-force.ts";
export { type NearestArguments, NearestSearch, type NearestSettings, type SearchMethod } from "./search/nearest.ts";
export {
  autoregressiveChain,
  type AutoregressiveChain,
  type AutoregressiveSettings,
  type FactorSettings,
  type MarkovChain,
  meanRevertingFactors,
  steppedChain,
  type SteppedChain,
  type SteppedSettings,
  type StepFunction,
  stepFunctionParams,
} from "./tree/chain.ts";
export type { QuantizationTreePlan, TransitionMethod, TreeSettings } from "./tree/plan.ts";
export { TransitionCounter } from "./tree/counter.ts";
export { QuantizationTree, type SparseRows } from "./tree/quantization-tree.ts";
export type { Discounting, NodePayoff } from "./control/nodes.ts";
export { optimalStopping, type StoppingResult, type StoppingSettings } from "./control/stopping.ts";
export { swingOption, type SwingResult, type SwingSettings, type SwingVertex } from "./control/swing.ts";
export { type WholeSwing, wholeSwings } from "./control/whole-swings.ts";
export { type GaussianSwing, type GaussianSwingSettings, gaussianSwings } from "./convolution/gaussian-swings.ts";
export type { SwingsResult, SwingStatus } from "./swings.ts";
