/** Small books to give to the page. */

/** A market of one underlying, and a put on it. */
export const market = {
  asOf: "2026-11-20",
  market: { rates: { EUR: 0.03 }, underlyings: { ACME: { spot: 100, currency: "EUR", volatility: 0.2 } } },
};
export const trade = (id: string, strike: number): object => ({
  id,
  underlying: "ACME",
  payoff: "put",
  strike,
  expiry: 1,
});
