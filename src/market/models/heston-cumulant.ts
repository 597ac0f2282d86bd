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
import { bool, fn, real, record } from "../../kernel/index.ts";
import { Complex, product, quotient, squareRoot } from "./complex.ts";

/**
 * The record type of the parameters of Heston's variance dv = κ(θ − v)dt + σ√v dW with correlation ρ to the spot, and
 * of the expiry T in years.
 */
export const HestonModel = record({ v0: real, kappa: real, theta: real, sigma: real, rho: real, expiry: real });

/** ln z. `w` = z − 1 is used near z = 1, where ln z would lose accuracy. */
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
 * Returns `log` = ln E[(S_T/F)^ζ] in Heston's model, where F is the forward, and `toVariance`, its derivative D with
 * respect to v₀. ζ has a positive imaginary part (a tiny one in place of 0), and Re ζ must be such that the moment is
 * finite. Cost: about 10 elementary functions.
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
    const perLevel = {
      re: linear.re * expiry - (2 * log.re) / square,
      im: linear.im * expiry - (2 * log.im) / square,
    };
    return {
      log: { re: level * perLevel.re + toVariance.re * v0, im: level * perLevel.im + toVariance.im * v0 },
      toVariance,
      perLevel,
      p,
      beta,
      d,
      a,
      psi,
      decayed,
    };
  },
});

/**
 * Returns the cumulant generating function ln E[(S_T/F)^ζ] in Heston's model and its derivatives with respect to the
 * model's parameters. With its coefficients C and D as functions of β and d,
 *
 *   C_β = K·(T − A/ψ),   C_d = −K·(T + 2ψ_d/ψ),   D_β = −D·A/(2ψ),   D_d = D·(A_d/A − ψ_d/ψ),   K = κθ/σ²,
 *   A_d = (T·e − A)/d,   ψ_d = (β·A_d − T·e)/2,   ∂d/∂β = β/d,   ∂d/∂σ = −σP/d at constant β.
 *
 * Source: the analytic gradient of Cui, del Baño Rollin & Germano, *Full and fast calibration of the Heston stochastic
 * volatility model*, EJOR 263 (2017), for the form of `cumulant`. Verified: test/calibration/heston, by differences.
 */
export const cumulantGradient = fn({
  name: "cumulantGradient",
  params: { model: HestonModel, zeta: Complex },
  env: { cumulant, product, quotient },
  body({ model, zeta }, _gpu, { cumulant, product, quotient }) {
    const { v0, kappa, theta, sigma, rho, expiry } = model;
    const { log, toVariance, perLevel, p, beta, d, a, psi, decayed } = cumulant({ model, zeta });
    const scale = (kappa * theta) / (sigma * sigma);
    const kept = { re: expiry * (1 - decayed.re), im: -expiry * decayed.im }; // T·e
    const one = { re: 1, im: 0 };
    const overD = quotient({ a: one, b: d });
    const overPsi = quotient({ a: one, b: psi });
    const aByD = product({ a: { re: kept.re - a.re, im: kept.im - a.im }, b: overD });
    const bent = product({ a: beta, b: aByD });
    const psiByD = product({ a: { re: 0.5 * (bent.re - kept.re), im: 0.5 * (bent.im - kept.im) }, b: overPsi });
    const ratio = product({ a, b: overPsi });
    const relative = quotient({ a: aByD, b: a });
    const dByBeta = product({ a: toVariance, b: ratio });
    const dByD = product({ a: toVariance, b: { re: relative.re - psiByD.re, im: relative.im - psiByD.im } });
    const byD = {
      re: -scale * (expiry + 2 * psiByD.re) + v0 * dByD.re,
      im: -2 * scale * psiByD.im + v0 * dByD.im,
    };
    const through = product({ a: byD, b: product({ a: beta, b: overD }) });
    const byBeta = {
      re: scale * (expiry - ratio.re) - 0.5 * v0 * dByBeta.re + through.re,
      im: -scale * ratio.im - 0.5 * v0 * dByBeta.im + through.im,
    };
    const along = product({ a: zeta, b: byBeta });
    const across = product({ a: byD, b: product({ a: p, b: overD }) });
    const level = (2 * kappa * theta) / sigma;
    return {
      log,
      byV0: toVariance,
      byKappa: { re: byBeta.re + theta * perLevel.re, im: byBeta.im + theta * perLevel.im },
      byTheta: { re: kappa * perLevel.re, im: kappa * perLevel.im },
      bySigma: {
        re: -rho * along.re - sigma * across.re - level * perLevel.re,
        im: -rho * along.im - sigma * across.im - level * perLevel.im,
      },
      byRho: { re: -sigma * along.re, im: -sigma * along.im },
    };
  },
});

/**
 * Tells whether the moment E[(S_T/F)^a] in Heston's model is infinite, for real a. It is so if the denominator ψ of
 * `cumulant` has a zero before T. Source: Andersen & Piterbarg, *Moment explosions in stochastic volatility models*,
 * 2007, Proposition 3.1.
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
