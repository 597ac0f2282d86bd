/**
 * Random numbers on every device: generators as kernel functions and in bulk, streams, quasi-random points, uniform and
 * normal numbers. docs/random.md is the guide.
 */
export { drand48Next, Drand48State, drand48Word } from "./generators/drand48.ts";
export { mrg32k3aNext, Mrg32k3aState, mrg32k3aWord } from "./generators/mrg32k3a.ts";
export { philox4x32, PhiloxBlock, PhiloxKey, philoxNext, PhiloxState } from "./generators/philox.ts";
export { MARSAGLIA_XORWOW, xorwowNext, XorwowState, xorwowWord } from "./generators/xorwow.ts";
export type { Start } from "./generators/skip.ts";
export { drand48Start, mrg32k3aStart, philoxStart, xorwowStart } from "./starts.ts";
export {
  boxMuller,
  mrg32k3aUniform,
  mrg32k3aUniform53,
  normal32,
  uniform24,
  uniform32,
  uniform48,
  uniform53,
} from "./uniforms.ts";
/** @internal */
export { seedOf, seedWords } from "./spec.ts";
export { type GeneratorName, type RandomSettings, type RandomSpec, randomSpec } from "./spec.ts";
export {
  type DoubleSettings,
  type NumberSettings,
  RandomGenerator,
  randomNumbers,
  type Range,
  type RealSettings,
  type SingleSettings,
  skipAhead,
  streamTable,
  type StreamSettings,
  type WordSettings,
} from "./random-generator.ts";
export {
  owenScramble,
  sobolNext,
  sobolScrambled,
  sobolStart,
  SobolState,
  sobolTable,
  type SobolTableOptions,
} from "./sobol/sobol.ts";
export { CorrelatedNormals, type CorrelatedSettings } from "./correlated.ts";
export {
  Bridge,
  type BridgeArguments,
  bridgePath,
  type BridgePlan,
  bridgePlan,
  type BridgeSettings,
  BrownianBridge,
} from "./brownian-bridge.ts";
