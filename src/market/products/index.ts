/** Payoffs of options, and their exercise. */
export { digitalPayoff, functionPayoff, lessCash, type PayoffProfile, type Right, vanillaPayoff } from "./payoff.ts";
