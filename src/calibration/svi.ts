/**
 * Gatheral's SVI, the total variance of one expiry in five parameters:
 *
 *   raw         w(k) = a + b·(ρ(k − m) + √((k − m)² + σ²))
 *   natural     w(k) = Δ + (ω/2)·(1 + ζρ(k − μ) + √((ζ(k − μ) + ρ)² + 1 − ρ²))
 *   jump-wings  at-the-money variance v, skew ψ, slopes p and c of the left and the right wing, smallest variance ṽ
 *
 * Source: Gatheral & Jacquier, *Arbitrage-free SVI volatility surfaces*, Quant. Finance 14 (2014), section 3. Verified:
 * test/calibration/svi, against the reference cases and by round trips.
 */
import { fn, real, record } from "../kernel/index.ts";

/** Raw parameters: b ≥ 0, |ρ| < 1, σ > 0, and a + bσ√(1 − ρ²) ≥ 0. */
export const RawSvi = record({ a: real, b: real, rho: real, m: real, sigma: real });

export interface SviParameters {
  readonly a: number;
  readonly b: number;
  readonly rho: number;
  readonly m: number;
  readonly sigma: number;
}

export interface NaturalSvi {
  readonly delta: number;
  readonly mu: number;
  readonly rho: number;
  readonly omega: number;
  readonly zeta: number;
}

/** Jump-wings parameters; all but the time are per year, so that they hardly depend on the expiry. */
export interface JumpWings {
  readonly v: number;
  readonly psi: number;
  readonly p: number;
  readonly c: number;
  readonly vTilde: number;
}

/** w, ∂w/∂k and ∂²w/∂k². */
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

/** Source: Gatheral & Jacquier (2014), Lemma 3.1. */
export function naturalFromRaw({ a, b, rho, m, sigma }: SviParameters): NaturalSvi {
  const root = Math.sqrt(1 - rho * rho);
  const omega = (2 * b * sigma) / root;
  return { delta: a - 0.5 * omega * (1 - rho * rho), mu: m + (rho * sigma) / root, rho, omega, zeta: root / sigma };
}

/** Source: Gatheral & Jacquier (2014), equation (3.3). */
export function rawFromNatural({ delta, mu, rho, omega, zeta }: NaturalSvi): SviParameters {
  const root = Math.sqrt(1 - rho * rho);
  return {
    a: delta + 0.5 * omega * (1 - rho * rho),
    b: 0.5 * omega * zeta,
    rho,
    m: mu - rho / zeta,
    sigma: root / zeta,
  };
}

/** Source: Gatheral & Jacquier (2014), equation (3.5). */
export function jumpWingsFromRaw({ a, b, rho, m, sigma }: SviParameters, time: number): JumpWings {
  const root = Math.sqrt(m * m + sigma * sigma);
  const w = a + b * (-rho * m + root);
  return {
    v: w / time,
    psi: (0.5 * b * (rho - m / root)) / Math.sqrt(w),
    p: (b * (1 - rho)) / Math.sqrt(w),
    c: (b * (1 + rho)) / Math.sqrt(w),
    vTilde: (a + b * sigma * Math.sqrt(1 - rho * rho)) / time,
  };
}

/** Source: Gatheral & Jacquier (2014), Lemma 3.2, in polar coordinates of (m, σ), so that m = 0 is no special case. */
export function rawFromJumpWings({ v, psi, p, c, vTilde }: JumpWings, time: number): SviParameters {
  const w = v * time;
  const b = 0.5 * Math.sqrt(w) * (c + p);
  if (b === 0) return { a: w, b, rho: 0, m: 0, sigma: 1 };
  const rho = 1 - (p * Math.sqrt(w)) / b;
  const beta = Math.min(Math.max(rho - (2 * psi * Math.sqrt(w)) / b, -1), 1);
  // w − ṽT = b·(−ρm + √(m² + σ²) − σ√(1 − ρ²)) with m = β·r and σ = √(1 − β²)·r, r = √(m² + σ²).
  const depth = 1 - rho * beta - Math.sqrt((1 - rho * rho) * (1 - beta * beta));
  // Where the smallest variance is that at the money, β = ρ, and any r gives the same v, ψ, p, c and ṽ.
  const radius = depth > 0 ? (w - vTilde * time) / (b * depth) : w / b;
  const sigma = Math.sqrt(1 - beta * beta) * radius;
  return { a: vTilde * time - b * sigma * Math.sqrt(1 - rho * rho), b, rho, m: beta * radius, sigma };
}
