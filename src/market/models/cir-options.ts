import { fn, kernel, real } from "../../kernel/index.ts";
import { optionParams } from "./exchange-options.ts";

/**
 * Returns k·ln m − m − ln Γ(k + 1) for k ≥ 0 and m > 0, the logarithm of a Poisson probability. Where k is large, it is
 * written by what Stirling's formula leaves and by ln(1 + d) − d with d = (m − k)/k, as the terms of the sum lose their
 * digits to one another. The recurrence of Γ first increases its argument above 10.
 */
const logPoisson = fn({
  name: "logPoisson",
  params: { k: real, m: real },
  body({ k, m }) {
    let product = 1;
    let y = k;
    while (y < 10) {
      y += 1;
      product *= y;
    }
    const q = 1 / (y * y);
    const series = (1 / 12 - q * (1 / 360 - q * (1 / 1260 - q * (1 / 1680 - q * (1 / 1188 - (q * 691) / 360360))))) / y;
    const rest = 0.5 * Math.log(y) + 0.9189385332046727 + series;
    if (y > k) return k * Math.log(m) - m - y * Math.log(y) + y - rest + Math.log(product);
    const d = (m - y) / y;
    let deviation = Math.log(m / y) - d;
    if (Math.abs(d) < 0.2) {
      // ln(1 + d) = 2·artanh(s)
      const s = d / (2 + d);
      let power = 2 * s;
      deviation = -d * s;
      for (let n = 3; n < 20; n += 2) {
        power *= s * s;
        deviation += power / n;
      }
    }
    return y * deviation - rest;
  },
});

/**
 * Returns the distribution function at x of the noncentral chi-square distribution with `freedom` degrees of freedom.
 * It is a Poisson mixture of incomplete gamma functions P(a, x/2). These are summed in decreasing order of a, in which
 * their recurrence P(a − 1) = P(a) + (x/2)^{a−1}·e^{−x/2}/Γ(a) has only positive terms. Accuracy: 5e-14, absolute.
 * Cost: about 20·√λ steps for noncentrality λ.
 */
export const noncentralChiSquare = fn({
  name: "noncentralChiSquare",
  params: { x: real, freedom: real, noncentrality: real },
  env: { logPoisson },
  body({ x, freedom, noncentrality }, _gpu, { logPoisson }) {
    const mean = 0.5 * noncentrality;
    const half = 0.5 * x;
    let j = mean < 1e-12 ? 0 : Math.ceil(mean + 9 * Math.sqrt(mean) + 40);
    let a = 0.5 * freedom + j;
    let total = half > 0 ? 1 : 0;
    if (half > 0 && half < a + 10 * Math.sqrt(a) + 60) {
      let logWeight = j === 0 ? 0 : logPoisson({ k: j, m: mean });
      let logTerm = logPoisson({ k: a, m: half });
      // What is smaller counts for nothing, and pairs of f32 do not have all its digits. A small term belongs to a
      // probability near 0 where a is above x/2, and near 1 below.
      while (j > 0.5 && (logWeight < -45 || (logTerm < -45 && a > half))) {
        logWeight += Math.log(j / mean);
        logTerm += Math.log(a / half);
        j -= 1;
        a -= 1;
      }
      let weight = j === 0 ? Math.exp(-mean) : Math.exp(logPoisson({ k: j, m: mean }));
      let term = 0.0;
      let probability = a < half ? 1.0 : 0.0;
      if (logTerm > -45) {
        term = Math.exp(logPoisson({ k: a, m: half }));
        let sum = 1;
        let part = 1;
        let n = 1;
        while (part > 1e-17 * sum) {
          part *= half / (a + n);
          sum += part;
          n += 1;
        }
        probability = term * sum;
      }
      total = weight * probability;
      while (j > 0.5 && (j > mean || weight > 1e-20)) {
        term *= a / half;
        probability += term;
        weight *= j / mean;
        total += weight * Math.min(probability, 1);
        a -= 1;
        j -= 1;
      }
    }
    return Math.max(0, Math.min(total, 1));
  },
});

/** The number of inputs of `cirKernel` for each option. */
export const CIR_OPTION = 7;

/**
 * The kernel of options in Cox, Ingersoll and Ross' model to exchange a fixed amount a₀ for later cash flows, such as
 * options on coupon bonds. At expiry the flows are worth more than a₀ exactly if the short rate is below one value r*.
 * The option is then a sum over the flows, each weighted by the probability of exercise under the measure of its own
 * zero bond (Jamshidian 1989):
 *
 *   V = φ·(Σ aⱼ·χ²(φ; xⱼ) − a₀·χ²(φ; x₀)),   xⱼ = 2r*·(ρ + ψ + Bⱼ),   λⱼ = 2ρ²·r₀·e^{γT}/(ρ + ψ + Bⱼ)
 *
 * with ρ = 2γ/(σ²(e^{γT} − 1)), ψ = (κ + γ)/σ² and d = 4κθ/σ². The aⱼ are present values.
 *
 * Input k of option i is `options[k·count + i]`: a₀, φ, B₀, the logarithm of the fixed amount as seen at expiry at r =
 * 0, ρ + ψ, ρ²·r₀·e^{γT}, d. Input k of flow j is `flows[k·total + j]`: aⱼ, Bⱼ, and the amount at expiry at r = 0.
 * `values` receives V and ∂V/∂a₀, `slopes` ∂V/∂aⱼ. Source: Cox, Ingersoll & Ross (1985), eq. 32.
 */
export const cirKernel = kernel({
  name: "cir-options",
  params: optionParams,
  env: { noncentralChiSquare },
  body({ count, total, first, options, flows, values, slopes }, gpu, { noncentralChiSquare }) {
    const i = gpu.globalId();
    if (i >= count) return;
    const from = first[i];
    const to = first[i + 1];
    const sign = options[count + i];
    const slope0 = options[2 * count + i];
    const strike = options[3 * count + i];
    const rate = options[4 * count + i];
    const spread = options[5 * count + i];
    const freedom = options[6 * count + i];
    let low = 0;
    let high = 1;
    let r = 0;
    let isBounded = false;
    for (let round = 0; round < 200; round++) {
      let sum = 0;
      let slope = 0;
      for (let j = from; j < to; j++) {
        const b = flows[total + j] - slope0;
        const part = flows[2 * total + j] * Math.exp(-b * r);
        sum += part;
        slope -= b * part;
      }
      const above = sum > strike;
      if (above) low = r;
      else {
        high = r;
        isBounded = true;
      }
      if (!isBounded && r >= high) high *= 4;
      const newton = sum > 0 && strike > 0 ? r - (Math.log(sum / strike) * sum) / slope : -1;
      const middle = isBounded ? 0.5 * (low + high) : high;
      const next = newton > low && (newton < high || !isBounded) ? newton : middle;
      const moved = Math.abs(next - r);
      r = Math.min(next, 1e4);
      if (moved <= 1e-15 * (1e-3 + r) || (high === 0 && isBounded)) break;
    }
    const factor = rate + slope0;
    const below = noncentralChiSquare({ x: 2 * r * factor, freedom, noncentrality: (2 * spread) / factor });
    const atStrike = sign > 0 ? below : below - 1;
    let value = -options[i] * atStrike;
    for (let j = from; j < to; j++) {
      const own = rate + flows[total + j];
      const chance = noncentralChiSquare({ x: 2 * r * own, freedom, noncentrality: (2 * spread) / own });
      const weight = sign > 0 ? chance : chance - 1;
      slopes[j] = weight;
      value += flows[j] * weight;
    }
    values[i] = Math.max(value, 0);
    values[count + i] = -atStrike;
  },
});
