/** Options that are paid later, in another currency, or on currency pairs. */
export { pairBetween, rollPair, rollSettlement, settlementBetween } from "./moved.ts";
export { type PriceUnder, withSettlements } from "./results.ts";
