import { i32, kernel, read, real, write } from "../../kernel/index.ts";

/** The number of inputs of `blackScholesKernel` for each option. */
export const BLACK_SCHOLES_INPUTS = 7;
/** The number of outputs of `blackScholesKernel` for each option. */
export const BLACK_SCHOLES_OUTPUTS = 5;

/**
 * The kernel of Black and Scholes' formula (1973) with Merton's yield, in integrated quantities, so that it holds for
 * any deterministic r(t), q(t), σ(t):
 *
 *   vanilla   V = φ·(S·e^{−Q}·N(φd₁) − K·e^{−R}·N(φd₂)),     d₁ = (ln(S/K) + R − Q)/√w + √w/2,   d₂ = d₁ − √w
 *   digital   V = cash·e^{−R}·N(φd₂)
 *
 * with R = ∫r dt, Q = ∫q dt, w = ∫σ² dt, φ = +1 for calls and −1 for puts. Each option is a work item; there are
 * `items` options.
 *
 * Input l of option i is `input[i·items + l]`: S, K, R, Q, w, φ, cash (0 for a vanilla). Output l is `output[i·items +
 * l]`: V, ∂V/∂S, ∂²V/∂S², ∂V/∂w, ∂V/∂R. Accuracy: rounding, a few ulp of S·e^{−Q} + K·e^{−R}. For w = 0 the result is
 * the limit of V (the derivatives at the forward's strike do not exist).
 */
export const blackScholesKernel = kernel({
  name: "black-scholes",
  params: { items: i32, input: read(real), output: write(real) },
  body({ items, input, output }, gpu) {
    const l = gpu.globalId();
    if (l >= items) return;
    const spot = input[l];
    const strike = input[items + l];
    const rates = input[2 * items + l];
    const yields = input[3 * items + l];
    const variance = input[4 * items + l];
    const sign = input[5 * items + l];
    const cash = input[6 * items + l];
    const discount = Math.exp(-rates);
    const growth = Math.exp(-yields);
    const deviation = Math.max(Math.sqrt(variance), 1e-9);
    const d1 = (Math.log(spot / strike) + rates - yields) / deviation + 0.5 * deviation;
    const d2 = d1 - deviation;
    if (cash > 0) {
      const value = cash * discount * gpu.normalCdf(sign * d2);
      const density = sign * cash * discount * gpu.normalPdf(d2);
      output[l] = value;
      output[items + l] = density / (spot * deviation);
      output[2 * items + l] = (-density * d1) / (spot * spot * deviation * deviation);
      output[3 * items + l] = (-0.5 * density * d1) / (deviation * deviation);
      output[4 * items + l] = density / deviation - value;
    } else {
      const asset = spot * growth;
      const bond = strike * discount * gpu.normalCdf(sign * d2);
      const probability = gpu.normalCdf(sign * d1);
      const density = gpu.normalPdf(d1);
      output[l] = sign * (asset * probability - bond);
      output[items + l] = sign * growth * probability;
      output[2 * items + l] = (growth * density) / (spot * deviation);
      output[3 * items + l] = (0.5 * asset * density) / deviation;
      output[4 * items + l] = sign * bond;
    }
  },
});
