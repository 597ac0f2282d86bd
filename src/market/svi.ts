/**
 * Gatheral's SVI, the total variance of one expiry in five parameters:
 *
 *   w(k) = a + b·(ρ(k − m) + √((k − m)² + σ²))
 *
 * Source: Gatheral & Jacquier, *Arbitrage-free SVI volatility surfaces*, Quant. Finance 14 (2014), section 3. Verified:
 * test/calibration/svi, against the reference cases and by quotes of its own.
 */
import { fn, real, record } from "../kernel/index.ts";

/**
 * The parameters of raw SVI, w(k) = a + b·(ρ(k − m) + √((k − m)² + σ²)): b ≥ 0, |ρ| < 1, σ > 0, and a + bσ√(1 − ρ²) ≥
 * 0.
 */
export const RawSvi = record({ a: real, b: real, rho: real, m: real, sigma: real });

/** The parameters of raw SVI as plain numbers (`RawSvi`). */
export interface SviParameters {
  readonly a: number;
  readonly b: number;
  readonly rho: number;
  readonly m: number;
  readonly sigma: number;
}

/** Computes the total variance w of raw SVI at k = ln(K/F), with ∂w/∂k and ∂²w/∂k². */
export const sviVariance = fn({
  name: "sviVariance",
  params: { parameters: RawSvi, k: real },
  body({ parameters: { a, b, rho, m, sigma }, k }) {
    const x = k - m;
    const root = Math.sqrt(x * x + sigma * sigma);
    return {
      variance: a + b * (rho * x + root),
      slope: b * (rho + x / root),
      curvature: (b * sigma * sigma) / (root * root * root),
    };
  },
});
