/**
 * The property of quoted volatilities that is kept while the spot moves: strikes, moneyness K/F, or the local
 * volatility.
 */
export type QuotesKept = "sticky-strike" | "sticky-delta" | "sticky-local-volatility";
