/** Pricing models: coefficients and closed-form prices. */
export { BLACK_SCHOLES_INPUTS, BLACK_SCHOLES_OUTPUTS, blackScholesKernel } from "./black-scholes.ts";
export { HESTON_INPUTS, HESTON_OUTPUTS, hestonKernel } from "./heston.ts";
export { logNormalOption } from "./log-normal.ts";
export { hostNormalCdf } from "./normal.ts";
export { CIR_OPTION, cirKernel } from "./cir-options.ts";
export { cirBond, cirLogFactor, cirSlope, decay, vasicekBond } from "./short-rate.ts";
/** @internal */
export { cumulant, cumulantGradient, HestonModel, momentExplodes } from "./heston-cumulant.ts";
export { type DeltaKind, type FxExpiry, type FxQuotes, smilePoints, strangleSmile } from "./fx-smile.ts";
export { EXCHANGE, EXCHANGE_OUTPUTS, exchangeKernel, FLOW_OUTPUTS } from "./exchange-options.ts";
