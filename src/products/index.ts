/** Payoffs and exercise. */
export { digitalPayoff, functionPayoff, lessCash, type PayoffProfile, type Right, vanillaPayoff } from "./payoff.ts";
