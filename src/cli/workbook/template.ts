/** The book of a template: a few trades, and a market with something in most sheets. */
export const TEMPLATE = {
  asOf: "2026-11-20",
  market: {
    rates: {
      EUR: [
        { date: "2027-11-20", zero: 0.021 },
        { date: "2031-11-20", zero: 0.025 },
      ],
      USD: 0.04,
    },
    fx: { EURUSD: 1.1 },
    underlyings: {
      ACME: {
        spot: 100,
        currency: "EUR",
        dividends: { yield: 0.01, discrete: [{ date: "2027-05-20", cash: 2 }] },
        volatility: 0.25,
      },
      BETA: {
        spot: 50,
        currency: "USD",
        volatility: { heston: { v0: 0.05, kappa: 2, theta: 0.05, sigma: 0.4, rho: -0.6 } },
      },
    },
    correlations: [["ACME", "BETA", 0.3]],
  },
  scenarios: [
    { name: "spots down", moves: { spot: { "*": -0.1 }, volatility: { "*": 0.05 } } },
    { name: "rates up", moves: { rate: { EUR: 0.01, USD: 0.01 } } },
  ],
  trades: [
    {
      id: "put",
      underlying: "ACME",
      payoff: "put",
      strike: 100,
      expiry: "2027-11-20",
      exercise: "american",
      quantity: 10,
      tags: { desk: "Paris" },
    },
    {
      id: "knock-out",
      underlying: "ACME",
      payoff: "call",
      strike: 100,
      expiry: "1Y",
      barriers: [{ type: "up-and-out", level: 130 }],
      quantity: 5,
      tags: { desk: "Paris" },
    },
    {
      id: "call",
      underlying: "BETA",
      payoff: "call",
      strike: 55,
      expiry: "6M",
      quantity: -20,
      tags: { desk: "London" },
    },
  ],
} as const;
