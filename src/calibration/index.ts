/**
 * The calibration of models to quotes: `calibrate` fits the parameters of any equation or path model that you write,
 * and `fitLeverage` finds a stochastic local volatility. docs/calibration.md is the guide.
 */
export type { RelativeAccuracy } from "../base/accuracy.ts";
export {
  calibrate,
  type CalibrateOptions,
  type CalibrationProgress,
  type FittedPrice,
  type ModelFit,
} from "./calibrate.ts";
export type { ModelQuote, PathProblem } from "./model-prices.ts";
export { fitLeverage, type Leverage, type LeverageRow, type LeverageSettings } from "./leverage.ts";
/** @internal */
export { leverageOf, varianceParameters } from "./leverage.ts";

// What follows serves book/ and pricing/, not users of the package.
/** @internal */
export { type ForwardOptions, impliedVolatilities, type ImpliedVolatilities } from "./implied/batch.ts";
/** @internal */
export { blackDeviation, normalDeviation, QuoteStatus } from "./implied/volatility.ts";
/** @internal */
export { CurveError, type CurveSet, type CurveToFind, type QuotedInstrument } from "./curves/curve-set.ts";
/** @internal */
export { type CreditQuote, creditSwap } from "./curves/credit.ts";
/** @internal */
export { findCurves } from "./curves/find.ts";
/** @internal */
export {
  basisSwap,
  forwardPeriod,
  forwardPoints,
  type PairQuotes,
  parSwap,
  simpleRate,
  type SwapQuotes,
  tenorBasis,
  unadjustedEnd,
} from "./curves/quoted.ts";
/** @internal */
export { instrumentInYears, type RateInstrument } from "./curves/in-years.ts";
/** @internal */
export { type FittedQuotes, fitQuotes, type QuoteFit } from "./fit-quotes.ts";
/** @internal */
export type { OptionQuote } from "./option-quote.ts";
/** @internal */
export { haganVolatility } from "../market/index.ts";
/** @internal */
export {
  type ArbitrageCheck,
  checkedQuotes,
  type ExpiryQuotes,
  rmseOf,
  type SurfaceFit,
  type UnderlyingQuotes,
} from "./fit.ts";
/** @internal */
export { butterflyFunction } from "./arbitrage.ts";
/** @internal */
export { LocalMisfit, type Misfit, expectationMisfit } from "./misfit.ts";
/** @internal */
export { fitHeston, fitHestonOn, type HestonFitOptions } from "./heston-fit.ts";
/** @internal */
export { fitSvi } from "./svi-surface.ts";
/** @internal */
export { fitSsvi } from "./ssvi-fit.ts";
/** @internal */
export { ssviConditions, type SsviConditions, ssviPhi, type SsviPhi } from "./ssvi.ts";
/** @internal */
export { fitAndreasenHuge } from "./andreasen-huge.ts";
/** @internal */
export { fitEssvi } from "./essvi-fit.ts";
/** @internal */
export { withoutArbitrage } from "./repair.ts";
/** @internal */
export { type AdjointOptions, fitAdjoint } from "./adjoint-fit.ts";
/** @internal */
export { fitLocal } from "./local-fit.ts";
/** @internal */
export {
  type DiscountFunction,
  fitHullWhite,
  type HullWhiteFit,
  type HullWhiteParameters,
  hullWhitePrice,
  type RateQuote,
} from "./hull-white.ts";
