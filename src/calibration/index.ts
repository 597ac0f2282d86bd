/** The way from quotes to curves, implied volatilities, surfaces and models. */
export { type ForwardOptions, impliedVolatilities, type ImpliedVolatilities } from "./implied/batch.ts";
export { blackDeviation, normalDeviation, QuoteStatus } from "./implied/volatility.ts";
export { type CurveFit, fitCurve, InstrumentError } from "./curves/curve.ts";
export type { RateInstrument } from "./curves/instruments.ts";
export type { CurveInterpolation } from "./curves/interpolate.ts";
export { type FittedQuotes, fitQuotes, type OptionQuote, type QuoteFit } from "./fit-quotes.ts";
export { haganVolatility } from "./sabr.ts";
export {
  type ArbitrageCheck,
  checkedQuotes,
  type ExpiryQuotes,
  rmseOf,
  type SurfaceFit,
  type UnderlyingQuotes,
} from "./fit.ts";
export { fitHeston, fitHestonOn, type HestonFitOptions } from "./heston-fit.ts";
export { fitSvi } from "./svi-surface.ts";
export { fitSsvi } from "./ssvi-fit.ts";
export { ssviConditions, type SsviConditions, ssviPhi, type SsviPhi, ssviVariance } from "./ssvi.ts";
export { fitAndreasenHuge } from "./andreasen-huge.ts";
export { fitEssvi } from "./essvi-fit.ts";
export { repaired } from "./repair.ts";
export { fitLocal } from "./local-fit.ts";
export {
  type Discount,
  fitHullWhite,
  type HullWhiteFit,
  type HullWhiteParameters,
  hullWhitePrice,
  type RateQuote,
} from "./hull-white.ts";
