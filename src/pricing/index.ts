/** Pricing: a book or a stream of trades in, values, sensitivities, scenarios and error estimates out. */
/** @internal */
export type { NumberedOptions } from "./options.ts";
export type { Greeks, Method, PricingOptions, BookProgress } from "./options.ts";
/** @internal */
export { cpuSeconds, gpuSeconds, independentSeconds, type Work, workOf, WORTH_A_GPU } from "./device-times.ts";
export { expectedCosts } from "./expected-costs.ts";
export { priceBook, priceTrades } from "./price-book.ts";
/** @internal */
export { Backend } from "./backend.ts";
/** @internal */
export { priceBatch } from "./batch.ts";
/** @internal */
export { underMovedQuotes } from "./moved-quotes.ts";
/** @internal */
export { inReportingCurrency, lookAhead, underScenarios } from "./price-book.ts";
/** @internal */
export { settingsOf } from "./price-book.ts";
/** @internal */
export { rollForward } from "./terms.ts";
/** @internal */
export { impliedVolatilities, type ImpliedOptions, type ImpliedVolatility, type QuotedOption } from "./implied.ts";
export * from "./explain/index.ts";
/** @internal */
export { type BookRisk, RiskCollector, type RiskPart } from "./risk/book-risk.ts";
/** @internal */
export { Approximation, type MissingSensitivity } from "./risk/approximation.ts";
/** @internal */
export { type ApproximateRisk, comparedRisk, type ComparedRisk, missingText } from "./risk/compare.ts";
/** @internal */
export { horizonFields, overHorizon, type RiskHorizon, riskHorizon, scalingText } from "./risk/horizon.ts";
export { firstMultiple, largestMultiple, type LossMultiple, multiplesOf } from "./risk/reverse.ts";
