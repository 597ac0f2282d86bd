import { bool, fn, i32, kernel, read, real, write } from "../../kernel/index.ts";
import { product, quotient } from "./complex.ts";
import { cumulant, HestonModel, momentExplodes } from "./heston-cumulant.ts";

/** The number of inputs of `hestonKernel` for each option. */
export const HESTON_INPUTS = 12;
/** The number of outputs of `hestonKernel` for each option. */
export const HESTON_OUTPUTS = 8;

/**
 * The line of integration: `abscissa`, where it crosses the real axis, `width`, that of the integrand there, and
 * `tilt`, its angle to the vertical. Calls out of the money have abscissas above 1 and puts below 0, so that small
 * values keep their relative accuracy. If moments of that sign do not exist, the abscissa lies between.
 */
const lineOf = fn({
  name: "lineOf",
  params: { model: HestonModel, x: real },
  env: { cumulant, momentExplodes, CLOSEST: Math.log(0.01), FARTHEST: Math.log(1e6) },
  body({ model, x }, _gpu, { cumulant, momentExplodes, CLOSEST, FARTHEST }) {
    // The saddle point: the minimum of the integrand over real a, by bisection in the logarithm of its distance from
    // the pole at 1 or 0. The slope is that of the imaginary part, a little off the axis.
    const side = x <= 0 ? 1 : -1;
    let low = CLOSEST;
    let high = FARTHEST;
    let peak = 0;
    while (high - low > 0.01) {
      const middle = 0.5 * (low + high);
      const distance = Math.exp(middle);
      const a = x <= 0 ? 1 + distance : -distance;
      const offset = distance / 256;
      const { log } = cumulant({ model, zeta: { re: a, im: offset } });
      const slope = log.im / offset + x - 1 / a - 1 / (a - 1);
      if (momentExplodes({ model, a }) || side * slope > 0) {
        high = middle;
      } else {
        low = middle;
        peak = log.re;
      }
    }
    const between = low === CLOSEST;
    const distance = between ? 0.5 : 0.99 * Math.exp(low);
    const saddle = between ? 0.5 : x <= 0 ? 1 + distance : -distance;
    // Upwards from the saddle point. The width is 1/√f″ for f = ln of the integrand, by its decrease at half the
    // distance of the pole. The tilt is half of what would stop the oscillation where e⁻⁵ of the moment is left.
    let near = { re: peak, im: 0 };
    let width = 0;
    let slope = 0;
    let decay = 0;
    let radius = 0;
    let next = 0.5 * distance;
    while (peak - near.re < 5 && next < 1e6 * distance) {
      const far = cumulant({ model, zeta: { re: saddle, im: next } }).log;
      if (width === 0) {
        const toZero = next / saddle;
        const toOne = next / (saddle - 1);
        const poles = 0.5 * Math.log((1 + toZero * toZero) * (1 + toOne * toOne));
        width = next / Math.sqrt(2 * (Math.max(peak - far.re, 0) + poles));
        next = width;
      } else {
        slope = (far.im - near.im) / (next - radius) + x;
        decay = (near.re - far.re) / (next - radius);
        near = far;
        radius = next;
        next *= 1.5;
      }
    }
    // The integrand tends to 0 only within π/2 of the direction in which it decreases fastest, which for ρ = ±1 is
    // along the real axis: ln E[…] → −(v₀ + κθT)/σ·(ρ − i√(1 − ρ²))·ζ.
    const { v0, kappa, theta, sigma, rho, expiry } = model;
    const far = (v0 + kappa * theta * expiry) / sigma;
    const fastest = Math.atan2(x - rho * far, Math.sqrt((1 - rho) * (1 + rho)) * far);
    const most = 0.25 * Math.PI + 0.5 * Math.min(fastest, 0);
    const least = -0.25 * Math.PI + 0.5 * Math.max(fastest, 0);
    const tilt = Math.max(least, Math.min(most, 0.5 * Math.atan2(slope, decay)));
    // A saddle point may lie next to a weak singularity. Half a width back, the integrand is hardly larger.
    return { abscissa: between ? saddle : saddle - 0.5 * side * width, width, tilt };
  },
});

/**
 * The integrals of a vanilla option or a digital, in units of the strike or the cash, undiscounted:
 *
 *   (1/2πi)·∫ e^{ζx}·E[(S_T/F)^ζ]·g(ζ) dζ,   x = ln(F/K),   g = 1/(ζ(ζ − 1)), or 1/ζ for a digital
 *
 * `value`, and with a further factor in the integral its derivatives: `toSpot` ζ, `toSpotTwice` ζ(ζ − 1),
 * `toVariance` D, `toBoth` ζD, `toVarianceTwice` D². `error` is that of the quadrature. For `abscissa` a > 1 the value
 * is that of a call, for 0 < a < 1 a call minus F/K, for a < 0 a put; digitals pay above K for a > 0, and −1 below K
 * for a < 0.
 *
 * The line is ζ(t) = a + w·(i·cos φ·sinh t − sin φ·(cosh t − 1)), on which the trapezoidal rule converges
 * exponentially: the step is halved until the rule with every other node agrees.
 */
const hestonIntegrals = fn({
  name: "hestonIntegrals",
  params: { model: HestonModel, x: real, digital: bool },
  env: { cumulant, lineOf, product, quotient },
  body({ model, x, digital }, gpu, { cumulant, lineOf, product, quotient }) {
    const tolerance = gpu.precision === "f32" ? 1e-5 : 1e-10;
    const negligible = gpu.precision === "f32" ? -18 : -38;
    const { abscissa, width, tilt } = lineOf({ model, x });
    const across = width * Math.sin(tilt);
    const along = width * Math.cos(tilt);
    let peak = 0;
    let value = 0;
    let toSpot = 0;
    let toSpotTwice = 0;
    let toVariance = 0;
    let toBoth = 0;
    let toVarianceTwice = 0;
    let error = 0;
    let step = 0.4;
    let level = 0;
    let done = false;
    while (!done) {
      step *= 0.5;
      level++;
      value = 0;
      toSpot = 0;
      toSpotTwice = 0;
      toVariance = 0;
      toBoth = 0;
      toVarianceTwice = 0;
      let size = 0;
      let alternating = 0;
      let sizeToSpot = 0;
      let alternatingToSpot = 0;
      let weight = 0.5 * step * (1 / Math.PI); // half for the node on the real axis; the others stand for two each
      let sign = 1;
      let decrease = 0;
      for (let node = 0; node < 4096 && decrease > negligible; node++) {
        const t = step * gpu.real(node);
        const growth = Math.exp(t);
        const cosh = 0.5 * (growth + 1 / growth);
        const sinh = 0.5 * (growth - 1 / growth);
        const zeta = { re: abscissa - across * (cosh - 1), im: Math.max(along * sinh, 1e-20) };
        const at = cumulant({ model, zeta });
        const exponent = at.log.re + x * zeta.re;
        const angle = at.log.im + x * zeta.im;
        const modulus = weight * Math.exp(exponent);
        const end = product({
          a: { re: modulus * Math.cos(angle), im: modulus * Math.sin(angle) },
          b: { re: along * cosh, im: across * sinh },
        });
        const less = { re: zeta.re - 1, im: zeta.im };
        const overZeta = quotient({ a: end, b: zeta });
        const plain = digital ? overZeta : quotient({ a: overZeta, b: less });
        const withSpot = digital ? end : product({ a: plain, b: zeta });
        const withVariance = product({ a: plain, b: at.toVariance });
        value += plain.re;
        size += Math.abs(plain.re);
        alternating += sign * plain.re;
        toSpot += withSpot.re;
        sizeToSpot += Math.abs(withSpot.re);
        alternatingToSpot += sign * withSpot.re;
        toSpotTwice += digital ? product({ a: end, b: less }).re : end.re;
        toVariance += withVariance.re;
        toBoth += product({ a: withVariance, b: zeta }).re;
        toVarianceTwice += product({ a: withVariance, b: at.toVariance }).re;
        if (node === 0) peak = exponent;
        decrease = exponent - peak + t;
        weight = step * (1 / Math.PI);
        sign = -sign;
      }
      // The rule with every other node differs by the alternating sum. An error nearly squares when the step is halved:
      // 1.2 holds also for singularities near the line. One of the two sums may vanish by chance.
      const difference = Math.max(
        Math.abs(alternating) / Math.max(size, 1e-37),
        Math.abs(alternatingToSpot) / Math.max(sizeToSpot, 1e-37),
      );
      error = size * difference ** 1.2;
      done = !(difference > tolerance) || level === 5;
    }
    return { abscissa, value, toSpot, toSpotTwice, toVariance, toBoth, toVarianceTwice, error };
  },
});

/**
 * The kernel of European options in the model of Heston (1993), with deterministic rates and yields in integrated
 * quantities:
 *
 *   dS = (r − q)S dt + √v·S dW,   dv = κ(θ − v)dt + σ√v dZ,   dW·dZ = ρ dt
 *   vanilla   V = e^{−R}·E[max(φ(S_T − K), 0)],     digital   V = cash·e^{−R}·P(φ(S_T − K) > 0)
 *
 * with R = ∫r dt, Q = ∫q dt, φ = +1 for calls and −1 for puts. Each option is a work item; there are `items` options.
 *
 * Input l of option i is `input[i·items + l]`: S, K, R, Q, T, φ, cash (0 for a vanilla), v₀, κ, θ, σ, ρ, with T in
 * years. Output l is `output[i·items + l]`: V, ∂V/∂S, ∂²V/∂S², ∂V/∂v₀, ∂V/∂R, ∂²V/∂S∂v₀, ∂²V/∂v₀², error estimate of V.
 * Theta follows from these by the equation ∂V/∂t = rV − (r − q)S·V_S − κ(θ − v)V_v − ½vS²V_SS − ρσvS·V_Sv − ½σ²v·V_vv.
 *
 * Domain: S, K, T > 0; v₀, κ, θ, σ ≥ 0; −1 ≤ ρ ≤ 1. Outside it, and for inputs that are not finite, the outputs are
 * NaN. Feller's condition need not hold. For σ = 0 the model is Black and Scholes'. For v₀ = κθ = 0 the result is the
 * limit of V (the derivatives at the forward's strike do not exist).
 *
 * Method: one complex integral along a straight line through the saddle point of the integrand, rotated to reduce its
 * oscillation, by the trapezoidal rule in a variable in which the integrand decays double exponentially. Sources:
 * Lewis, *Option Valuation under Stochastic Volatility*, 2000 (the integral); Lord & Kahl, *Optimal Fourier inversion
 * in semi-analytical option pricing*, 2007 (the saddle point); Andersen & Lake, *Robust high-precision option pricing
 * by Fourier transforms*, 2018 (rotated lines); Boyarchenko & Levendorskiĭ, *Sinh-acceleration*, 2019 (the variable).
 *
 * Accuracy: 1e-14 of S·e^{−Q} + K·e^{−R} in f64, and 2e-7 of it in f32. For a digital it is the same fraction of the
 * discounted cash; where little variance is left, the effect of an error of ln(S/K) in its last bit is added. The
 * derivatives, and the values of options out of the money, have a relative accuracy of 1e-11 in f64. The error estimate
 * covers quadrature and rounding.
 *
 * Cost: about 85 evaluations of the characteristic function, 110 at the 90th percentile, and thousands only for v₀ = κθ
 * = 0 at the forward's strike. Verified: test/market/models/heston.test.ts, against integrals of 50 digits, QuantLib
 * and published values.
 */
export const hestonKernel = kernel({
  name: "heston",
  params: { items: i32, input: read(real), output: write(real) },
  env: { hestonIntegrals },
  body({ items, input, output }, gpu, { hestonIntegrals }) {
    const l = gpu.globalId();
    if (l >= items) return;
    const spot = input[l];
    const strike = input[items + l];
    const rates = input[2 * items + l];
    const yields = input[3 * items + l];
    const expiry = input[4 * items + l];
    const isCall = input[5 * items + l] > 0;
    const cash = input[6 * items + l];
    const v0 = input[7 * items + l];
    const kappa = input[8 * items + l];
    const theta = input[9 * items + l];
    const sigma = input[10 * items + l];
    const rho = input[11 * items + l];
    const digital = cash > 0;
    const valid =
      spot > 0 && strike > 0 && expiry > 0 && v0 >= 0 && kappa >= 0 && theta >= 0 && sigma >= 0 && Math.abs(rho) <= 1;
    // A variance above zero: the line of integration needs a width.
    const smallest = (gpu.precision === "f64" ? 1e-30 : 1e-14) / expiry;
    const model = { v0: Math.max(v0, smallest), kappa, theta, sigma: Math.max(sigma, 1e-15), rho, expiry };
    const x = valid ? Math.log(spot / strike) + rates - yields : NaN;
    const of = hestonIntegrals({ model, x, digital });
    const discount = Math.exp(-rates);
    const asset = spot * Math.exp(-yields);
    const bond = strike * discount;
    const unit = digital ? cash * discount : bond;
    // What the residues at 0 and 1 contribute, by the place of the line and the kind of option.
    const call = isCall ? 1 : 0;
    const bonds = (of.abscissa > 0 ? 1 : 0) - call;
    const assets = digital ? 0 : call - (of.abscissa > 1 ? 1 : 0);
    const sign = digital && !isCall ? -1 : 1;
    const toSpot = sign * unit * of.toSpot + assets * asset;
    const value = sign * unit * (of.value + (digital ? -bonds : bonds)) + assets * asset;
    // That of the sums, and that of x, which a digital with little variance magnifies.
    const rounding = gpu.precision === "f64" ? 1e-14 : gpu.precision === "f32" ? 3e-7 : 1e-12;
    output[l] = value;
    output[items + l] = toSpot / spot;
    output[2 * items + l] = (sign * unit * of.toSpotTwice) / (spot * spot);
    output[3 * items + l] = sign * unit * of.toVariance;
    output[4 * items + l] = toSpot - value;
    output[5 * items + l] = (sign * unit * of.toBoth) / spot;
    output[6 * items + l] = sign * unit * of.toVarianceTwice;
    output[7 * items + l] = unit * of.error + rounding * (unit + Math.abs(toSpot));
  },
});
