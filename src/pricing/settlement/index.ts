/** Options that are paid later, in another currency, or on currency pairs. */
export { type PriceUnder, withSettlements } from "./results.ts";
