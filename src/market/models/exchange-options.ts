import { i32, kernel, read, real, write } from "../../kernel/index.ts";

/** The number of outputs of `exchangeKernel` for each option. */
export const EXCHANGE_OUTPUTS = 3;
/** The number of outputs of `exchangeKernel` for each cash flow of an option. */
export const FLOW_OUTPUTS = 3;

/**
 * The distributions of an option's cash flows that `exchangeKernel` knows: lognormal with one or two factors, or
 * normal.
 */
export const EXCHANGE = { oneFactor: 0, twoFactors: 1, normal: 2 } as const;

/** The parameters of kernels of options on flows, those of option i from `first[i]` to `first[i + 1]`. */
export const optionParams = {
  count: i32,
  total: i32,
  first: read(i32),
  options: read(real),
  flows: read(real),
  values: write(real),
  slopes: write(real),
} as const;

/**
 * The kernel of options to exchange a fixed amount a₀ for cash flows. The flows' values in units of a₀ are jointly
 * lognormal:
 *
 *   V = E[max(φ·(Σ aⱼ·exp(−½(αⱼ² + βⱼ²) − αⱼ·U − βⱼ·Z) − a₀), 0)],   U, Z independent N(0, 1),   φ = 1 or −1
 *
 * Options on coupon bonds, swaptions and caplets have this form in Gaussian models of the short rate with one factor
 * (Jamshidian 1989) or two (Brigo & Mercurio, Theorem 4.2.3), and so does Black's formula with a displacement. Given U
 * = u, exercise pays for z below one z*, which Newton's method on the logarithm finds within a bracket:
 *
 *   V(u) = φ·(Σ aⱼ·e^{−½αⱼ² − αⱼu}·N(φ(z* + βⱼ)) − a₀·N(φz*))
 *
 * With one factor there is no U. With two, V is an integral over u by the trapezoidal rule, which converges
 * exponentially; `coarse` is its value with every other node. A normal option has two flows, F·A and A of an annuity A,
 * and the amount a₀ = K·A:
 *
 *   V = A·E[max(φ·(F − K + βZ), 0)]
 *
 * Input k of option i is `options[k·count + i]`: a₀, φ and a value of `EXCHANGE`. Its flows are those with the indexes
 * `first[i]` … `first[i + 1]` − 1, and input k of flow j is `flows[k·total + j]`: aⱼ, αⱼ, βⱼ. `values` receives V,
 * ∂V/∂a₀ and `coarse`, and `slopes` ∂V/∂aⱼ, ∂V/∂αⱼ, ∂V/∂βⱼ. These derivatives are exact, because V is at its maximum
 * over z*. The βⱼ must be nonnegative, and the sequence −a₀, aⱼ in the order of increasing βⱼ must change its sign
 * once.
 */
export const exchangeKernel = kernel({
  name: "exchange-options",
  params: optionParams,
  env: { FARTHEST: 40, STEP: 0.5, NODES: 37, ONE: EXCHANGE.oneFactor, NORMAL: EXCHANGE.normal },
  body({ count, total, first, options, flows, values, slopes }, gpu, { FARTHEST, STEP, NODES, ONE, NORMAL }) {
    const i = gpu.globalId();
    if (i >= count) return;
    const from = first[i];
    const to = first[i + 1];
    const strike = options[i];
    const sign = options[count + i];
    const kind = options[2 * count + i];
    let value = 0;
    let coarse = 0;
    let toStrike = 0;
    for (let j = from; j < to; j++) {
      slopes[j] = 0;
      slopes[total + j] = 0;
      slopes[2 * total + j] = 0;
    }
    if (kind === NORMAL) {
      const annuity = flows[from + 1];
      const width = flows[2 * total + from];
      const forward = flows[from] - strike;
      const scale = annuity * width;
      const d = scale > 0 ? forward / scale : forward > 0 ? FARTHEST : -FARTHEST;
      const probability = sign * gpu.normalCdf(sign * d);
      const density = gpu.normalPdf(d);
      value = forward * probability + scale * density;
      coarse = value;
      toStrike = -probability;
      slopes[from] = probability;
      slopes[from + 1] = width * density;
      slopes[2 * total + from] = annuity * density;
    } else {
      const nodes = kind === ONE ? 1 : NODES;
      for (let k = 0; k < nodes; k++) {
        const u = nodes === 1 ? 0 : STEP * (gpu.real(k) - 0.5 * gpu.real(nodes - 1));
        const weight = nodes === 1 ? 1 : STEP * gpu.normalPdf(u);
        let low = -FARTHEST;
        let high = FARTHEST;
        let z = 0;
        for (let round = 0; round < 100; round++) {
          let sum = 0;
          let slope = 0;
          for (let j = from; j < to; j++) {
            const alpha = flows[total + j];
            const beta = flows[2 * total + j];
            const part = flows[j] * Math.exp(-alpha * (0.5 * alpha + u) - beta * (0.5 * beta + z));
            sum += part;
            slope -= beta * part;
          }
          if (sum > strike) low = z;
          else high = z;
          const newton = sum > 0 && strike > 0 ? z - (Math.log(sum / strike) * sum) / slope : 2 * FARTHEST;
          const next = newton > low && newton < high ? newton : 0.5 * (low + high);
          const moved = Math.abs(next - z);
          z = next;
          if (moved <= 1e-13 * (1 + Math.abs(z))) break;
        }
        const below = gpu.normalCdf(sign * z);
        let part = -strike * below;
        toStrike -= weight * sign * below;
        for (let j = from; j < to; j++) {
          const alpha = flows[total + j];
          const beta = flows[2 * total + j];
          const grown = Math.exp(-alpha * (0.5 * alpha + u));
          const amount = flows[j] * grown;
          const probability = gpu.normalCdf(sign * (z + beta));
          part += amount * probability;
          slopes[j] += weight * sign * grown * probability;
          slopes[total + j] -= weight * sign * amount * (alpha + u) * probability;
          slopes[2 * total + j] += weight * amount * gpu.normalPdf(z + beta);
        }
        value += weight * sign * part;
        if (k % 2 === 0) coarse += (nodes === 1 ? 1 : 2) * weight * sign * part;
      }
    }
    values[i] = Math.max(value, 0);
    values[count + i] = toStrike;
    values[2 * count + i] = Math.max(coarse, 0);
  },
});
