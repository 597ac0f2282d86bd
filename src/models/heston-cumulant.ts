/**
 * The cumulant generating function of ln(S_T/F) in Heston's model, F the forward, for complex arguments ζ:
 *
 *   ln E[(S_T/F)^ζ] = C + D·v₀,   D = P·A/(2ψ),   C = (κθ/σ²)·((β − d)·T − 2·ln ψ),
 *   P = ζ² − ζ,   β = κ − ρσζ,   d = √(β² − σ²P),   e = exp(−dT),   A = (1 − e)/d,   ψ = (1 + e + βA)/2
 *
 * This is the form of Albrecher, Mayer, Schoutens & Tistaert (2007), in which ln ψ needs no other branch than the
 * principal one, written so that nothing cancels: one of d + β and d − β is a sum without cancellation, the other
 * follows from their product −σ²P. Hence σ → 0, κ → 0 and ρ = ±1 are no special cases.
 */
import { bool, fn, real, record } from "../kernel/index.ts";
import { Complex, product, quotient, squareRoot } from "./complex.ts";

/** dv = κ(θ − v)dt + σ√v dW, correlated with the spot by ρ, up to the expiry T in years. */
export const HestonModel = record({ v0: real, kappa: real, theta: real, sigma: real, rho: real, expiry: real });

/** ln z for z = 1 + w; `w` is used near z = 1. */
const logarithm = fn({
  name: "logarithm",
  params: { z: Complex, w: Complex, near: bool },
  body({ z, w, near }) {
    const distance = w.re * w.re + w.im * w.im;
    const modulus = near && distance < 0.25 ? Math.log1p(2 * w.re + distance) : Math.log(z.re * z.re + z.im * z.im);
    return { re: 0.5 * modulus, im: Math.atan2(z.im, z.re) };
  },
});

/**
 * `log`, ln E[(S_T/F)^ζ], and `toVariance`, its derivative D to v₀. ζ has a positive imaginary part, or a tiny one in
 * place of 0, and Re ζ lies where the moment is finite. Cost: about 10 elementary functions.
 */
export const cumulant = fn({
  name: "cumulant",
  params: { model: HestonModel, zeta: Complex },
  env: { logarithm, product, quotient, squareRoot },
  body({ model, zeta }, _gpu, { logarithm, product, quotient, squareRoot }) {
    const { v0, kappa, sigma, rho, expiry } = model;
    const square = sigma * sigma;
    const p = { re: zeta.re * (zeta.re - 1) - zeta.im * zeta.im, im: zeta.im * (2 * zeta.re - 1) };
    const beta = { re: kappa - rho * sigma * zeta.re, im: -rho * sigma * zeta.im };
    // β² − σ²P by powers of ζ: for ρ = ±1 the last one is 0.
    const first = sigma * (sigma - 2 * kappa * rho);
    const second = square * (1 - rho) * (1 + rho);
    const root = squareRoot({
      a: {
        re: kappa * kappa + first * zeta.re - second * (zeta.re - zeta.im) * (zeta.re + zeta.im),
        im: zeta.im * (first - 2 * second * zeta.re),
      },
    });
    const d = { re: root.re + 1e-20, im: root.im }; // A = T where d = 0
    // 1 − e and e; the half angle leaves no cancellation in 1 − e.
    const sine = Math.sin(0.5 * d.im * expiry);
    const cosine = Math.cos(0.5 * d.im * expiry);
    const less = -Math.expm1(-d.re * expiry);
    const modulus = 1 - less;
    const decayed = { re: less + modulus * 2 * sine * sine, im: modulus * 2 * sine * cosine };
    const a = quotient({ a: decayed, b: d });

    // larger: d + β if `forward`, else d − β.
    const forward = d.re * beta.re + d.im * beta.im >= 0;
    const sign = forward ? 1 : -1;
    const larger = { re: d.re + sign * beta.re, im: d.im + sign * beta.im };
    const pOver = quotient({ a: p, b: larger });
    const minus = forward ? { re: -square * pOver.re, im: -square * pOver.im } : larger; // d − β
    const change = product({ a: minus, b: a });
    const w = { re: -0.5 * change.re, im: -0.5 * change.im };
    // Where d + β is small, ψ = e + (d + β)·A/2; elsewhere ψ = 1 − (d − β)·A/2.
    const rest = product({ a: pOver, b: a });
    const psi = forward
      ? { re: 1 + w.re, im: w.im }
      : {
          re: modulus * (1 - 2 * sine * sine) - 0.5 * square * rest.re,
          im: -decayed.im - 0.5 * square * rest.im,
        };
    const log = logarithm({ z: psi, w, near: forward });
    const twice = quotient({ a: product({ a: p, b: a }), b: psi });
    const toVariance = { re: 0.5 * twice.re, im: 0.5 * twice.im };
    const level = kappa * model.theta;
    // (β − d)/σ², which for σ → 0 is P/(d + β).
    const linear = forward ? pOver : { re: -larger.re / square, im: -larger.im / square };
    return {
      log: {
        re: level * (linear.re * expiry - (2 * log.re) / square) + toVariance.re * v0,
        im: level * (linear.im * expiry - (2 * log.im) / square) + toVariance.im * v0,
      },
      toVariance,
    };
  },
});

/**
 * Tells whether E[(S_T/F)^a] is infinite, for real a: whether ψ has a zero before T. Source: Andersen & Piterbarg,
 * *Moment explosions in stochastic volatility models*, 2007, Proposition 3.1.
 */
export const momentExplodes = fn({
  name: "momentExplodes",
  params: { model: HestonModel, a: real },
  body({ model: { kappa, sigma, rho, expiry }, a }) {
    const beta = kappa - rho * sigma * a;
    const square = sigma * sigma;
    const inside = kappa * kappa + sigma * (sigma - 2 * kappa * rho) * a - square * (1 - rho) * (1 + rho) * a * a;
    const d = Math.sqrt(Math.abs(inside)) + 1e-20;
    const sum = beta < 0 ? (-square * a * (a - 1)) / (d - beta) : d + beta;
    return inside < 0
      ? 0.5 * d * expiry >= 0.5 * Math.PI + Math.atan(beta / d)
      : sum + (d - beta) * Math.exp(-d * expiry) <= 0;
  },
});
