/** Models: coefficients and closed forms. */
export { BLACK_SCHOLES_INPUTS, BLACK_SCHOLES_OUTPUTS, blackScholesKernel } from "./black-scholes.ts";
export { type CevOption, cevPrice } from "./cev.ts";
export { reinerRubinstein } from "./reiner-rubinstein.ts";
export { incompleteGamma, logGamma, noncentralChiSquare } from "./noncentral-chi-square.ts";
