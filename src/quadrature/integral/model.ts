/** The American put on a strike of 1, in a model of constant rate, yield and volatility. */
import { bool, fn, real, record } from "../../kernel/index.ts";

/**
 * The rate, dividend yield and volatility of a put, per year. A call is the put with rate and yield exchanged (McDonald
 * & Schroder 1998).
 */
export const PutParameters = record({ rate: real, dividendYield: real, sigma: real });

/**
 * The limits of ln B: its value `atExpiry`, whether that is below the strike (`isBelow`), and the `depth`, the largest
 * fall of ln B from there.
 */
export const BoundaryLimits = record({ isBelow: bool, atExpiry: real, depth: real });

/**
 * Computes the limit ln B(0) of the boundary at expiry, B(0) = min(1, r/q), and whether it is below the strike: Kim
 * (1990).
 */
export const limitAtExpiry = fn({
  name: "limitAtExpiry",
  params: { rate: real, dividendYield: real },
  body({ rate, dividendYield }) {
    const isBelow = dividendYield > rate;
    return { isBelow, atExpiry: isBelow ? Math.log(rate / dividendYield) : 0.0 };
  },
});

/**
 * Computes the limits of the boundary: ln B at expiry, and the fall of ln B from there to the perpetual option.
 *
 *   B(∞) = λ/(λ − 1),   ½σ²λ² + (r − q − ½σ²)λ − r = 0,   λ < 0
 *
 * With r < 0 it is one of two boundaries (`boundaryKernel`). If these meet, there is no limit for τ → ∞, and the depth
 * is the distance between their limits at expiry. Source: Kim (1990), Merton (1973).
 */
export const boundaryLimits = fn({
  name: "boundaryLimits",
  params: { constants: PutParameters },
  env: { limitAtExpiry },
  body({ constants: { rate, dividendYield, sigma } }, _, env) {
    const { isBelow, atExpiry } = env.limitAtExpiry({ rate, dividendYield });
    const variance = sigma * sigma;
    const drift = (rate - dividendYield) / variance - 0.5;
    const discriminant = drift * drift + (2 * rate) / variance;
    const root = Math.sqrt(Math.max(discriminant, 0));
    // −drift − root without cancellation.
    const exponent = drift > 0 ? -drift - root : (-2 * rate) / variance / (root - drift);
    const isPerpetual = exponent < 0 || (rate < 0 && exponent > 1);
    let depth = rate < 0 ? Math.abs(Math.log(rate / dividendYield)) : 60.0;
    if (isPerpetual && discriminant >= 0) depth = atExpiry + Math.log1p(-1 / exponent);
    return { isBelow, atExpiry, depth: Math.min(Math.max(depth, 1e-12), 60) };
  },
});

/**
 * Computes the terms `left` and `right` in the equation of the exercise boundary (`boundaryKernel`) at one earlier time
 * u, and their derivatives with respect to the moneyness m = ln(B(τ)/B(u)) + (r − q)t and the deviation s = σ√t, t = τ
 * − u:
 *
 *   by value    N(d₋)           and   N(d₊)                       d± = m/s ± s/2
 *   by slope    φ(d₋)/s         and   N(d₊) + φ(d₊)/s
 *
 * or the sum of both forms with the weights `byValue` and `bySlope`. The terms outside of the integrals are the same
 * with 1 instead of B(u). Source: Andersen, Lake & Offengenden (2016), FP-A and FP-B.
 */
export const boundaryTerms = fn({
  name: "boundaryTerms",
  params: { moneyness: real, deviation: real, byValue: real, bySlope: real },
  body({ moneyness, deviation, byValue, bySlope }, gpu) {
    const inverse = 1 / deviation;
    const low = moneyness * inverse - 0.5 * deviation;
    const high = low + deviation;
    const densityLow = gpu.normalPdf(low);
    const densityHigh = gpu.normalPdf(high);
    const slopeLow = bySlope * densityLow * inverse;
    const slopeHigh = bySlope * densityHigh * inverse;
    const product = (low * high - 1) * inverse;
    return {
      left: byValue * gpu.normalCdf(low) + slopeLow,
      right: (byValue + bySlope) * gpu.normalCdf(high) + slopeHigh,
      leftByMoneyness: (byValue * densityLow - low * slopeLow) * inverse,
      rightByMoneyness: ((byValue + bySlope) * densityHigh - high * slopeHigh) * inverse,
      leftByDeviation: product * slopeLow - byValue * high * densityLow * inverse,
      rightByDeviation: (product - low) * slopeHigh - byValue * low * densityHigh * inverse,
    };
  },
});
