/** A model of one's own: zero bonds of ten years in the model of Cox, Ingersoll and Ross, for three volatilities at once. */
import { solve } from "feynkac";

export const bonds = await solve({
  axes: { r: { from: 0, to: 1, nodes: 401, points: [0.05], width: 0.05 } },
  parameters: { kappa: 0.3, theta: 0.06, sigma: [0.05, 0.15, 0.25] },
  // ∂V/∂t + ½σ²r·∂²V/∂r² + κ(θ − r)·∂V/∂r − rV = 0, and V = 1 at the end
  equation: ({ r, kappa, theta, sigma }) => ({ rr: 0.5 * sigma ** 2 * r, r: kappa * (theta - r), V: -r }),
  terminal: 1,
  expiry: 10,
  errorEstimate: true,
});
for (const bond of bonds.entries) console.log(bond.parameters["sigma"], bond.at(0.05));
