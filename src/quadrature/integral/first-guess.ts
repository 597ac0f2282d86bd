import { fn, real } from "../../kernel/index.ts";
import { Constants, BoundaryLimits } from "./model.ts";

/**
 * Computes the initial guess of y = ln(B(0)/B(τ)), the distance of the exercise boundary from its limit at expiry. It
 * is the quadratic approximation of Barone-Adesi and Whaley (1987), whose boundary solves
 *
 *   S·(1 − e^{−qτ}·N(−d₊)) + λ·(1 − S − p(S)) = 0,   ½σ²λ² + (r − q − ½σ²)λ − r/(1 − e^{−rτ}) = 0,   λ < 0
 *
 * but at least 0.6·σ√τ, which is right next to expiry where the yield is above the rate (Evans, Kuske & Keller 2002).
 * Bisection in ln y and three steps of regula falsi find it to a few per mille.
 */
export const firstGuess = fn({
  name: "firstGuess",
  params: { constants: Constants, limits: BoundaryLimits, tau: real },
  body({ constants: { rate: r, dividendYield: q, sigma }, limits: { isBelow, atExpiry, depth }, tau }, gpu) {
    const deviation = sigma * Math.sqrt(tau);
    const least = depth * -Math.expm1((-0.6 * deviation) / depth);
    // So close to expiry the equation above is all cancellation, and of two boundaries it says nothing.
    let guess = isBelow ? least : 0.8 * deviation * Math.sqrt(Math.max(1, -2 * Math.log(deviation)));
    if (r < 0 && q < 0) guess = depth * -Math.expm1(-guess / depth);
    else if (deviation > 1e-5) {
      const variance = sigma * sigma;
      const half = (r - q) / variance - 0.5;
      const paid = Math.abs(r) > 1e-12 ? -Math.expm1(-r * tau) / r : tau;
      const lambda = -half - Math.sqrt(half * half + 2 / (variance * paid));
      const discount = Math.exp(-r * tau);
      const growth = Math.exp(-q * tau);
      let low = Math.log(0.05);
      let high = Math.log(12);
      let atLow = 1.0;
      let atHigh = -1.0;
      let middle = 0.5 * (low + high);
      for (let k = 0; k < 8; k++) {
        const x = atExpiry - deviation * Math.exp(middle);
        const spot = Math.exp(x);
        const d = (x + (r - q) * tau) / deviation + 0.5 * deviation;
        const probability = growth * gpu.normalCdf(-d);
        const value = discount * gpu.normalCdf(deviation - d) - spot * probability;
        const excess = spot * (1 - probability) + lambda * (1 - spot - value);
        if (excess > 0) {
          low = middle;
          atLow = excess;
        } else {
          high = middle;
          atHigh = excess;
        }
        const share = k < 4 ? 0.5 : atLow / (atLow - atHigh);
        middle = low + Math.min(Math.max(share, 0.01), 0.99) * (high - low);
      }
      guess = deviation * Math.exp(middle);
    }
    return Math.max(guess, least);
  },
});
