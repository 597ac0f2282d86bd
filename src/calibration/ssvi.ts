/**
 * SSVI, a surface of total variance in few parameters, with θ(t) the total variance at the money:
 *
 *   w(k, θ) = (θ/2)·(1 + ρφk + √((φk + ρ)² + 1 − ρ²)),   φ = φ(θ)   (`ssviVariance` of `market`)
 *
 * Source: Gatheral & Jacquier, *Arbitrage-free SVI volatility surfaces*, Quant. Finance 14 (2014), section 4. Verified:
 * test/calibration/ssvi, against the reference cases.
 */

/**
 * The form of the function φ(θ) of SSVI, where θ is the total variance at the money: two power laws, and the form that
 * Heston's model suggests.
 */
export type SsviPhi =
  | { readonly kind: "power-law"; readonly eta: number; readonly gamma: number }
  | { readonly kind: "plain-power"; readonly eta: number; readonly gamma: number }
  | { readonly kind: "heston-like"; readonly lambda: number };

/** Returns φ(θ) and the derivative d(θφ)/dθ. */
export function ssviPhi(form: SsviPhi, theta: number): { readonly phi: number; readonly productSlope: number } {
  switch (form.kind) {
    case "power-law": {
      const { eta, gamma } = form;
      const phi = eta / (theta ** gamma * (1 + theta) ** (1 - gamma));
      return { phi, productSlope: ((1 - gamma) * phi) / (1 + theta) };
    }
    case "plain-power": {
      const phi = form.eta * theta ** -form.gamma;
      return { phi, productSlope: (1 - form.gamma) * phi };
    }
    case "heston-like": {
      const x = form.lambda * theta;
      // (x − 1 + e^{−x})/x² by its series where that cancels.
      const phi = x < 1e-3 ? 0.5 - x / 6 + (x * x) / 24 - x ** 3 / 120 : (x + Math.expm1(-x)) / (x * x);
      const share = x < 1e-3 ? 0.5 - x / 3 + (x * x) / 8 - x ** 3 / 30 : (-Math.expm1(-x) - x * Math.exp(-x)) / (x * x);
      return { phi, productSlope: share };
    }
    default:
      return form satisfies never;
  }
}

/** The no-arbitrage conditions of Gatheral & Jacquier (2014) for SSVI at one θ. */
export interface SsviConditions {
  /**
   * The number θφ(1 + |ρ|). If it is below 4 and θφ²(1 + |ρ|) is at most 4, there is no butterfly arbitrage (Theorem
   * 4.2).
   */
  readonly thetaPhi: number;
  readonly thetaPhiSquared: number;
  readonly butterflySufficient: boolean;
  /**
   * The derivative d(θφ)/dθ. If it is between 0 and (1 + √(1 − ρ²))·φ/ρ², there is no calendar arbitrage (Theorem 4.1).
   */
  readonly productSlope: number;
  readonly calendarBound: number;
  readonly calendarFree: boolean;
}

/**
 * Returns the no-arbitrage conditions of Gatheral & Jacquier (2014): Theorem 4.1 for calendar spreads, and Theorem 4.2
 * for butterflies, which is sufficient but not necessary.
 */
export function ssviConditions(form: SsviPhi, rho: number, theta: number): SsviConditions {
  const { phi, productSlope } = ssviPhi(form, theta);
  const skew = 1 + Math.abs(rho);
  const [thetaPhi, thetaPhiSquared] = [theta * phi * skew, theta * phi * phi * skew];
  const calendarBound = rho === 0 ? Number.POSITIVE_INFINITY : ((1 + Math.sqrt(1 - rho * rho)) * phi) / (rho * rho);
  return {
    thetaPhi,
    thetaPhiSquared,
    butterflySufficient: thetaPhi < 4 && thetaPhiSquared <= 4,
    productSlope,
    calendarBound,
    calendarFree: productSlope >= 0 && productSlope <= calendarBound,
  };
}
