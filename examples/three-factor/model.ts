/** A model of three factors: calls on oil with a stochastic convenience yield and short rate (Schwartz 1997). */
import { solve } from "feynkac";

export const calls = await solve({
  axes: {
    S: { from: "K/5", to: "5*K", coordinate: "log", points: ["K"], width: 0.4, nodes: 161 },
    y: { from: -1, to: 1.2, points: [{ at: "theta", align: "none" }], width: 0.4, nodes: 41 },
    r: { from: -0.06, to: 0.14, nodes: 11 },
  },
  parameters: {
    K: 100,
    american: [0, 1], // The first call is European.
    // dS = (r − y)·S dt + σS dW₁
    sigma: 0.35,
    // dy = κ(θ − y) dt + ω dW₂
    kappa: 1.5,
    theta: 0.06,
    omega: 0.35,
    // dr = a(m − r) dt + η dW₃
    a: 0.2,
    m: 0.04,
    eta: 0.01,
    // The correlations of the three Brownian motions.
    rhoSy: 0.75,
    rhoSr: -0.05,
    rhoyr: 0.1,
  },
  equation: ({ S, y, r, sigma, kappa, theta, omega, a, m, eta, rhoSy, rhoSr, rhoyr }) => ({
    SS: 0.5 * sigma ** 2 * S ** 2,
    yy: 0.5 * omega ** 2,
    rr: 0.5 * eta ** 2,
    Sy: rhoSy * sigma * omega * S,
    Sr: rhoSr * sigma * eta * S,
    yr: rhoyr * omega * eta,
    S: (r - y) * S,
    y: kappa * (theta - y),
    r: a * (m - r),
    V: -r,
  }),
  terminal: ({ S, K }) => Math.max(S - K, 0),
  expiry: 1,
  conditions: [{ kind: "exercise", payoff: ({ S, K, american }) => american * (S - K) }],
  steps: 100,
});
for (const call of calls.entries) {
  const { value, first } = call.at({ S: 100, y: 0.1, r: 0.04 });
  console.log(call.parameters["american"] === 1 ? "American" : "European", value, first);
}
