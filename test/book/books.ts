/** Books for tests. */

/** A market with one underlying, as plain JSON data. */
export function market(underlying: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    rates: { EUR: 0.03 },
    underlyings: { ACME: { spot: 100, currency: "EUR", volatility: 0.25, ...underlying } },
  };
}

export const asOf = "2026-11-20T16:00:00Z";

/** A valid trade, with changes; `undefined` takes a field away. */
export function trade(changes: Record<string, unknown> = {}): Record<string, unknown> {
  const plain = { id: "T1", underlying: "ACME", payoff: "put", strike: 100, expiry: 1, ...changes };
  return Object.fromEntries(Object.entries(plain).filter(([, value]) => value !== undefined));
}

/** A book with these trades. */
export function book(...trades: unknown[]): Record<string, unknown> {
  return { asOf, market: market(), trades };
}

/** Text in pieces of `size` characters, as a stream would bring it. */
export async function* pieces(text: string, size = 7): AsyncGenerator<string> {
  for (let i = 0; i < text.length; i += size) yield text.slice(i, i + size);
}
