/**
 * The property that the quotes of an underlying's volatility keep when its spot moves: their strikes, their moneyness
 * K/F, or the local volatility that was fitted to them.
 */
export type QuotesKept = "sticky-strike" | "sticky-delta" | "sticky-local-volatility";
