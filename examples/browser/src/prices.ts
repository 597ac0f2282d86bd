/** A book and an equation, priced on the threads of the page's machine. */
import { openDevice, parseBook, priceBook, solve } from "feynkac";

const book = parseBook(`{
  "asOf": "2026-11-20T16:00:00Z",
  "market": {
    "rates": { "EUR": 0.03 },
    "underlyings": {
      "ACME": {
        "spot": 100, "currency": "EUR", "volatility": { "local": "S < 100 ? 0.25 : 0.2" },
        "dividends": { "discrete": [{ "date": "2027-05-20", "cash": 2 }] }
      }
    }
  },
  "trades": [
    { "id": "American put", "underlying": "ACME", "payoff": "put", "strike": 105, "expiry": "2027-11-20", "exercise": "american" },
    { "id": "down-and-out call", "underlying": "ACME", "payoff": "call", "strike": 100, "expiry": "2027-11-20",
      "barriers": [{ "type": "down-and-out", "level": 80, "rebate": 1 }] }
  ]
}`);

export interface Price {
  readonly name: string;
  readonly value: number;
}

/** @throws what cannot be priced */
export async function prices(): Promise<Price[]> {
  using device = await openDevice({ backend: "cpu" });
  const { results } = await priceBook(book, { device });
  const priced = results.map((result) => {
    if (result.status === "error") throw new Error(`${result.id}: ${result.error.message}`);
    return { name: result.id, value: result.value };
  });
  // Volatility is higher where the spot is low; whoever holds the straddle may exercise it at any time.
  const { entries } = await solve(
    {
      axes: { S: { from: 0, to: "4*K", points: ["K"] } },
      parameters: { K: 100, r: 0.03, sigma: [0.2, 0.3] },
      equation: ({ S, K, r, sigma }) => {
        const isLow = S < 0.8 * K;
        const volatility = sigma * (1 + (isLow ? 0.1 : 0));
        return { SS: 0.5 * volatility ** 2 * S ** 2, S: r * S, V: -r };
      },
      terminal: ({ S, K }) => (S > K ? S - K : K - S),
      expiry: 1,
      conditions: [{ kind: "exercise", payoff: ({ S, K }) => Math.abs(S - K) }],
    },
    { device },
  );
  const solved = entries.map((entry) => ({
    name: `American straddle, volatility ${entry.parameters["sigma"]}`,
    value: entry.at(100).value,
  }));
  return [...priced, ...solved];
}
