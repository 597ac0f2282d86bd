/** Prices of zero-coupon bonds in short-rate models with constant parameters. */
import { fn, real } from "../../kernel/index.ts";

/** Returns (1 − e^{−a·t})/a, the integral of e^{−a·s} from 0 to t. For a = 0 it is t. */
export const decay = fn({
  name: "decay",
  params: [real, real],
  body: ([a, t]) => (a === 0 ? t : -Math.expm1(-a * t) / a),
});

const Affine = { r0: real, kappa: real, theta: real, sigma: real, years: real };

/**
 * Returns the logarithm of the zero bond price, ln P(0, t), in Vasicek's model, dr = κ(θ − r) dt + σ dW:
 *
 *   ln P = −r₀·B − θ·(t − B) + ½·∫₀ᵗ σ²·B(s)² ds,   B(s) = (1 − e^{−κs})/κ
 *
 * Accuracy: rounding for κ ≥ 0. For κt < 1 the integral is computed by a series. Source: Vasicek (1977).
 */
export const vasicekBond = fn({
  name: "vasicekBond",
  params: Affine,
  env: { decay },
  body({ r0, kappa, theta, sigma, years }, _gpu, { decay }) {
    const b = decay(kappa, years);
    const x = kappa * years;
    let variance = 0;
    if (x < 1) {
      // Σ (−1)ⁿ⁺¹·(2ⁿ⁻¹ − 2)/n!·xⁿ⁻³ from n = 3.
      let power = 1 / 6;
      let two = 4;
      for (let n = 3; n < 28; n++) {
        variance += power * (two - 2);
        power *= -x / (n + 1);
        two *= 2;
      }
      variance *= years * years * years;
    } else {
      variance = (years - 2 * b + decay(2 * kappa, years)) / (kappa * kappa);
    }
    return -r0 * b - theta * (years - b) + 0.5 * sigma * sigma * variance;
  },
});

/** Returns B(t) of the zero bond price A·e^{−B·r} in Cox, Ingersoll and Ross' model, where γ = √(κ² + 2σ²). */
export const cirSlope = fn({
  name: "cirSlope",
  params: { kappa: real, gamma: real, years: real },
  body({ kappa, gamma, years }) {
    const rise = -Math.expm1(-gamma * years);
    const below = 2 * gamma - (gamma - kappa) * rise;
    return below > 0 ? (2 * rise) / below : years;
  },
});

/**
 * Returns ln A(t) of the zero bond price A·e^{−B·r} in Cox, Ingersoll and Ross' model, in a form that is stable as σ →
 * 0:
 *
 *   ln A = 2κθ·(ln(1 + σ²·B/(γ + κ))/σ² − t/(γ + κ))
 */
export const cirLogFactor = fn({
  name: "cirLogFactor",
  params: { kappa: real, theta: real, sigma: real, gamma: real, slope: real, years: real },
  body({ kappa, theta, sigma, gamma, slope, years }) {
    const both = gamma + kappa;
    const square = sigma * sigma;
    const rest = slope / both;
    const grown = square === 0 ? rest : Math.log1p(square * rest) / square;
    return both === 0 ? 0 : 2 * kappa * theta * (grown - years / both);
  },
});

/**
 * Returns the logarithm of the zero bond price, ln P(0, t), in Cox, Ingersoll and Ross' model, dr = κ(θ − r) dt + σ√r
 * dW. Source: Cox, Ingersoll & Ross (1985), eq. 23.
 */
export const cirBond = fn({
  name: "cirBond",
  params: Affine,
  env: { cirSlope, cirLogFactor },
  body({ r0, kappa, theta, sigma, years }, _gpu, { cirSlope, cirLogFactor }) {
    const gamma = Math.sqrt(kappa * kappa + 2 * sigma * sigma);
    const slope = cirSlope({ kappa, gamma, years });
    return cirLogFactor({ kappa, theta, sigma, gamma, slope, years }) - slope * r0;
  },
});
