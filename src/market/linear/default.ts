/** Payments at default, if both the hazard rate and the forward rate are constant over a period. */

/** A payment at default within a period, discounted by one curve, with the survival probabilities of another one. */
export interface DefaultPayment {
  readonly discount: number;
  readonly survival: number;
  /** The start and the end of the period in years. */
  readonly start: number;
  readonly end: number;
  /** What is paid at default at the start and at the end; linear in between. */
  readonly from: number;
  readonly to: number;
}

/** Below this the integrals are sums of their series. */
const SERIES = 1;
const TERMS = 20;

/** The integral of a hazard rate that stands for larger ones, and for that of certain default. */
const CERTAIN = 700;

/** Returns ∫₀¹ xⁿ·e^{−kx} dx for n = 0, 1, 2. */
function moments(k: number): readonly [number, number, number] {
  if (Math.abs(k) < SERIES) {
    const sums: [number, number, number] = [0, 0, 0];
    let term = 1;
    for (let j = 0; j < TERMS; j++) {
      for (let n = 0; n < 3; n++) sums[n] += term / (j + n + 1);
      term *= -k / (j + 1);
    }
    return sums;
  }
  const e = Math.exp(-k);
  const zero = (1 - e) / k;
  const one = (zero - e) / k;
  return [zero, one, (2 * one - e) / k];
}

/** The value of a payment at default as a part of its value at the start, with its derivatives. */
export interface DefaultValue {
  readonly value: number;
  readonly byHazard: number;
  readonly byForward: number;
}

/**
 * Returns h·∫₀¹ (from + (to − from)·x)·e^{−(h+f)x} dx, of the integrals h of the hazard rate and f of the forward rate
 * over the period.
 */
export function defaultValue(from: number, to: number, hazard: number, f: number): DefaultValue {
  // Where probabilities are too small to have a logarithm, nothing is left to be paid.
  if (Number.isNaN(hazard)) return { value: 0, byHazard: 0, byForward: 0 };
  const h = Math.min(hazard, CERTAIN);
  const [zero, one, two] = moments(h + f);
  const integral = from * zero + (to - from) * one;
  const byRate = -h * (from * one + (to - from) * two);
  return { value: h * integral, byHazard: integral + byRate, byForward: byRate };
}
