/**
 * A slice of SSVI, w(k) = (θ/2)·(1 + ρφk + √((φk + ρ)² + 1 − ρ²)), with θ the total variance at the money.
 *
 * Source: Gatheral & Jacquier, *Arbitrage-free SVI volatility surfaces*, Quant. Finance 14 (2014), section 4. Verified:
 * test/calibration/ssvi, against the reference cases.
 */
import { fn, real } from "../kernel/index.ts";

/** Computes the total variance w of SSVI at k = ln(K/F), with ∂w/∂k and ∂²w/∂k². */
export const ssviVariance = fn({
  name: "ssviVariance",
  params: { theta: real, phi: real, rho: real, k: real },
  body({ theta, phi, rho, k }) {
    const x = phi * k + rho;
    const rest = (1 - rho) * (1 + rho);
    const root = Math.sqrt(x * x + rest);
    return {
      variance: 0.5 * theta * (1 + rho * phi * k + root),
      slope: 0.5 * theta * phi * (rho + x / root),
      curvature: (0.5 * theta * phi * phi * rest) / (root * root * root),
    };
  },
});
