/** From quotes to curves, implied volatilities, surfaces and models. */
export { type ForwardOptions, impliedVolatilities, type ImpliedVolatilities } from "./implied/batch.ts";
export { blackDeviation, normalDeviation, QuoteStatus } from "./implied/volatility.ts";
export { type CurveFit, fitCurve, InstrumentError } from "./curves/curve.ts";
export type { RateInstrument } from "./curves/instruments.ts";
export type { CurveInterpolation } from "./curves/interpolate.ts";
export type { ArbitrageCheck, SurfaceFit } from "./fit.ts";
export { type FittedQuotes, fitQuotes, type OptionQuote, type QuoteFit } from "./fit-quotes.ts";
export { haganVolatility } from "./sabr.ts";
