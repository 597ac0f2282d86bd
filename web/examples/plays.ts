/** Equations and payoffs to begin with. */
export const PLAYS: readonly { readonly title: string; readonly code: string }[] = [
  {
    title: "American put, three volatilities",
    code: `// Black and Scholes: ∂V/∂t + ½σ²S²·V_SS + r·S·V_S − r·V = 0
{
  axes: { S: { from: 0, to: "2.5*K", points: ["K"] } },
  parameters: { K: 100, r: 0.04, sigma: [0.15, 0.25, 0.4] },
  equation: ({ S, r, sigma }) => ({
    SS: 0.5 * sigma ** 2 * S ** 2,
    S: r * S,
    V: -r,
  }),
  terminal: ({ S, K }) => Math.max(K - S, 0),
  expiry: 1,
  conditions: [{ kind: "exercise", payoff: ({ S, K }) => Math.max(K - S, 0) }],
}`,
  },
  {
    title: "Down-and-out call",
    code: `// The option ends where the spot is at or below the barrier B
{
  axes: { S: { from: 60, to: 240, points: ["K", "B"] } },
  parameters: { K: 100, B: [80, 90, 95], r: 0.03 },
  equation: ({ S, r }) => ({ SS: 0.5 * 0.25 ** 2 * S ** 2, S: r * S, V: -r }),
  terminal: ({ S, K }) => Math.max(S - K, 0),
  expiry: 0.5,
  conditions: [{ kind: "knock-out", below: ({ B }) => B }],
}`,
  },
  {
    title: "Bond under a mean-reverting rate",
    code: `// Vasicek: dx = κ(θ − x) dt + σ dW; the bond pays 1
{
  axes: { x: { from: -0.15, to: 0.25 } },
  parameters: { kappa: [0.1, 0.5, 2], theta: 0.03, sigma: 0.015 },
  equation: ({ x, kappa, theta, sigma }) => ({
    xx: 0.5 * sigma ** 2,
    x: kappa * (theta - x),
    V: -x,
  }),
  terminal: () => 1,
  expiry: 5,
}`,
  },
  {
    title: "Heston call, two factors",
    code: `// Spot S and variance v, with correlation rho
{
  axes: {
    S: { from: 0, to: 400, nodes: 61, points: [100] },
    v: { from: 0, to: 1, nodes: 31, points: [0.05] },
  },
  parameters: { K: 100, r: 0.02, kappa: 2, theta: 0.05, xi: 0.4, rho: -0.7 },
  equation: ({ S, v, r, kappa, theta, xi, rho }) => ({
    SS: 0.5 * v * S ** 2,
    vv: 0.5 * xi ** 2 * v,
    Sv: rho * xi * v * S,
    S: r * S,
    v: kappa * (theta - v),
    V: -r,
  }),
  terminal: ({ S, K }) => Math.max(S - K, 0),
  expiry: 1,
}`,
  },
  {
    title: "A payoff of your own, American",
    code: `// What is paid at a spot of S; the rest has defaults: spot, volatility, rate, dividendYield, expiry
{
  payoff: ({ S }) => Math.max(Math.min(S - 90, 20), 0),
  volatility: [0.15, 0.3],
  rate: 0.03,
  expiry: 1,
  exercise: "american",
}`,
  },
];
