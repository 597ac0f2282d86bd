/** Options that are paid later, in another currency, or on currency pairs. */
export { rollSettlement } from "./rule.ts";
export { type PriceUnder, withSettlements } from "./results.ts";
