/** SABR's implied volatility by the formula of Hagan, Kumar, Lesniewski & Woodward (2002). */
import { fn, real, record } from "../kernel/index.ts";

/** The parameters of the SABR model of a forward: dF = α·F^β dW, dα = ν·α dZ, dW dZ = ρ dt. */
export const SabrModel = record({ alpha: real, beta: real, rho: real, nu: real });

/**
 * Computes the implied Black volatility of SABR by Hagan et al. (2002), formula (2.17a), with l = ln(F/K), M = √(F·K)
 * and
 *
 *   z = (ν/α)·M^{1−β}·l,   χ(z) = ln((√(1 − 2ρz + z²) + z − ρ)/(1 − ρ))
 *
 * It is an expansion for small ν²T, so it may have arbitrage far from the money at long expiries.
 */
export const haganVolatility = fn({
  name: "haganVolatility",
  params: { model: SabrModel, forward: real, strike: real, time: real },
  body({ model: { alpha, beta, rho, nu }, forward, strike, time }) {
    const l = Math.log(forward / strike);
    const one = 1 - beta;
    const power = Math.exp(0.5 * one * (Math.log(forward) + Math.log(strike)));
    const z = (nu / alpha) * power * l;
    // z/χ(z) by its series where both vanish.
    let ratio = 1 - 0.5 * rho * z + ((2 - 3 * rho * rho) / 12) * z * z;
    if (Math.abs(z) > 1e-4) {
      const root = Math.sqrt(1 - 2 * rho * z + z * z);
      // (root + z − ρ)/(1 − ρ) without cancellation for z < 0.
      const chi = z > 0 ? Math.log((root + z - rho) / (1 - rho)) : -Math.log((root - z + rho) / (1 + rho));
      ratio = z / chi;
    }
    const square = one * one * l * l;
    const backbone = alpha / (power * (1 + square / 24 + (square * square) / 1920));
    const own = (one * one * alpha * alpha) / (24 * power * power);
    const cross = (0.25 * rho * beta * nu * alpha) / power;
    return backbone * ratio * (1 + (own + cross + ((2 - 3 * rho * rho) / 24) * nu * nu) * time);
  },
});
