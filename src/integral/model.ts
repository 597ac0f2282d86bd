/** The American put on a strike of 1, in a model of constant rate, yield and volatility. */
import { bool, fn, real, record } from "../kernel/index.ts";

/** Rate, yield and volatility, per year. A call is the put with both rates exchanged: McDonald & Schroder (1998). */
export const Constants = record({ rate: real, dividendYield: real, sigma: real });

/**
 * The limits of the boundary: ln B at expiry, and how far ln B falls until the option is perpetual.
 *
 *   B(0) = min(1, r/q),   B(∞) = λ/(λ − 1),   ½σ²λ² + (r − q − ½σ²)λ − r = 0,   λ < 0
 *
 * Source: Kim (1990), Merton (1973).
 */
export const boundaryLimits = fn({
  name: "boundaryLimits",
  params: { constants: Constants },
  body({ constants: { rate, dividendYield, sigma } }) {
    const isBelow = dividendYield > rate;
    const atExpiry = isBelow ? Math.log(rate / dividendYield) : 0.0;
    const variance = sigma * sigma;
    const drift = (rate - dividendYield) / variance - 0.5;
    const root = Math.sqrt(drift * drift + (2 * rate) / variance);
    // −drift − root without cancellation.
    const exponent = drift > 0 ? -drift - root : (-2 * rate) / variance / (root - drift);
    const depth = exponent < 0 ? atExpiry + Math.log1p(-1 / exponent) : 60.0;
    return { isBelow, atExpiry, depth: Math.min(Math.max(depth, 1e-12), 60) };
  },
});

/**
 * Both sides of the equation at one time u before, without their factors r·e^{ru} and q·e^{qu}, and their derivatives
 * by the moneyness m = ln(B(τ)/B(u)) + (r − q)t and by the deviation s = σ√t, t = τ − u:
 *
 *   by value    N(d₋)           and   N(d₊)                       d± = m/s ± s/2
 *   by slope    φ(d₋)/s         and   N(d₊) + φ(d₊)/s
 *
 * The terms outside of the integrals are the same with 1 in place of B(u). Source: Andersen, Lake & Offengenden (2016),
 * FP-A and FP-B.
 */
export const sidesAt = fn({
  name: "sidesAt",
  params: { moneyness: real, deviation: real, bySlope: bool },
  body({ moneyness, deviation, bySlope }, gpu) {
    const inverse = 1 / deviation;
    const low = moneyness * inverse - 0.5 * deviation;
    const high = low + deviation;
    const densityLow = gpu.normalPdf(low) * inverse;
    const densityHigh = gpu.normalPdf(high) * inverse;
    const probabilityHigh = gpu.normalCdf(high);
    if (bySlope) {
      const product = (low * high - 1) * inverse;
      return {
        left: densityLow,
        right: probabilityHigh + densityHigh,
        leftByMoneyness: -low * densityLow * inverse,
        rightByMoneyness: densityHigh - high * densityHigh * inverse,
        leftByDeviation: densityLow * product,
        rightByDeviation: densityHigh * (product - low),
      };
    }
    return {
      left: gpu.normalCdf(low),
      right: probabilityHigh,
      leftByMoneyness: densityLow,
      rightByMoneyness: densityHigh,
      leftByDeviation: -high * densityLow,
      rightByDeviation: -low * densityHigh,
    };
  },
});
