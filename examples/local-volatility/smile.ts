/**
 * A smile in total implied variance w(y, t), y = ln(K/F), free of arbitrage: SSVI with a power law (Gatheral & Jacquier 2014),
 *
 *   w = ½θ·(1 + ρφy + √((φy + ρ)² + 1 − ρ²)),   θ = a·t,   φ = η/√(θ(1 + θ)),   η·(1 + |ρ|) ≤ 2.
 */
export const SPOT = 4500;
export const RATE = 0.03;
export const YIELD = 0.012;
const [A, RHO, ETA] = [0.04, -0.55, 0.6];

function totalVariance(y: number, t: number): number {
  const theta = A * t;
  const phi = ETA / Math.sqrt(theta * (1 + theta));
  return 0.5 * theta * (1 + RHO * phi * y + Math.sqrt((phi * y + RHO) ** 2 + 1 - RHO * RHO));
}

/** σ_imp(K, t). */
export function impliedVolatility(strike: number, t: number): number {
  return Math.sqrt(totalVariance(Math.log(strike / SPOT) - (RATE - YIELD) * t, t) / t);
}

/**
 * Dupire's formula in w (Gatheral 2006, eq. 1.10), derivatives by central differences. Level beyond eight standard deviations.
 */
export function localVolatility(spot: number, t: number): number {
  const reach = 8 * Math.sqrt(A * t);
  const y = Math.max(Math.min(Math.log(spot / SPOT) - (RATE - YIELD) * t, reach), -reach);
  const [h, k] = [1e-4, 1e-4 * t];
  const [below, w, above] = [totalVariance(y - h, t), totalVariance(y, t), totalVariance(y + h, t)];
  const slope = (above - below) / (2 * h);
  const bend = (above - 2 * w + below) / (h * h);
  const inTime = (totalVariance(y, t + k) - totalVariance(y, t - k)) / (2 * k);
  const density = 1 - (y / w) * slope + 0.25 * slope * slope * (-0.25 - 1 / w + (y / w) ** 2) + 0.5 * bend;
  return Math.sqrt(inTime / density);
}
