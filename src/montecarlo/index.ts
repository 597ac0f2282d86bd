/**
 * Monte Carlo: paths of a model, payoffs of a product, estimates with standard errors and Greeks, early exercise by
 * regression. docs/montecarlo.md is the guide.
 */
export type { Accuracy } from "../base/accuracy.ts";
export type { Column, Parameter, ParameterFailure, Parameters } from "./parameters.ts";
export { modelParams, type PathModel } from "./model.ts";
export { type EarlyRight, type PathProduct, type PayoffFunction, productParams } from "./product.ts";
export {
  blackScholes,
  type BlackScholesSettings,
  type BrownianSettings,
  geometricBrownian,
  type SpotSettings,
} from "./models/gbm.ts";
export { localVolatility, type LocalVolatilitySettings } from "./models/local-volatility.ts";
export { heston, type HestonSettings } from "./models/heston.ts";
/** @internal */
export { switchesLaw } from "./models/heston.ts";
/** @internal */
export { type DiffusionAsset, localDiffusions } from "./models/diffusions.ts";
/** @internal */
export type { AssetVolatility } from "./models/frozen.ts";
/** @internal */
export { stochasticLocal } from "./models/stochastic-local.ts";
export { gaussianFactors, type GaussianFactorSettings } from "./models/gaussian-factors.ts";
export { hullWhite, hullWhiteBond, type HullWhiteSettings } from "./models/hull-white.ts";
export { pathModel } from "./models/custom.ts";
export type { OptionType } from "./products/formulas.ts";
export { asian, type AsianSettings } from "./products/asian.ts";
export { european, pathProduct } from "./products/custom.ts";
export {
  type EventInput,
  type EventWords,
  script,
  type ScriptInput,
  type TypedScript,
} from "../market/scripts/index.ts";
/** @internal */
export { afterDate, type KnownDate, scripted, type ScriptedSettings, scriptUpdate } from "./products/scripted.ts";
export { lookback, type LookbackSettings } from "./products/lookback.ts";
export {
  basket,
  type BasketKind,
  type BasketSettings,
  terminalPayoff,
  type TerminalSettings,
} from "./products/basket.ts";
export { type BarrierSettings, type BridgeDependence, type PathBarrier, withBarriers } from "./products/barrier.ts";
export { type Control, europeanControl } from "./controls.ts";
export { intervalWidth } from "./moments.ts";
export type { Direction, SensitivityMethod } from "./sensitivities.ts";
export type { Sampling } from "./paths/shape.ts";
export { type Estimates, type SensitivityEstimates, monteCarlo, type MonteCarloResult } from "./estimate.ts";
export type { MonteCarloSettings } from "./plan.ts";
export type { Status } from "./instances.ts";
export type { Variant } from "./variants.ts";
export { type Basis, basisFunctionParams } from "./stopping/basis.ts";
export {
  longstaffSchwartz,
  type LongstaffSchwartzResult,
  type LongstaffSchwartzSettings,
} from "./stopping/longstaff-schwartz.ts";
export type { UpperBound, UpperSettings } from "./stopping/upper.ts";
