/** From quotes to curves, implied volatilities, surfaces and models. */
export { type ForwardOptions, impliedVolatilities, type ImpliedVolatilities } from "./implied/batch.ts";
export { blackDeviation, normalDeviation, QuoteStatus } from "./implied/volatility.ts";
