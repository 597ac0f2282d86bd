/** Forwards of a commodity in two Gaussian factors. */
import { checkFields } from "../../base/argument-checks.ts";
import { fn, real } from "../../kernel/index.ts";
import { modelParams, type PathModel } from "../model.ts";
import { failuresOf, type Parameter } from "../parameters.ts";
import { SPOT_FIELDS, spotFailures, type SpotSettings, volatilityFailures } from "./gbm.ts";

/**
 * The settings of `gaussianFactors`: numbers, or columns with one number for each instance of a batch.
 * @experimental
 */
export interface GaussianFactorSettings extends SpotSettings {
  /** The mean reversions αᵢ, per year, ≥ 0. */
  readonly alpha: readonly [Parameter, Parameter];
  /** The volatilities σᵢ, per √year. */
  readonly sigma: readonly [Parameter, Parameter];
  /** The correlation of the two Brownian motions. */
  readonly rho: Parameter;
}

/**
 * Returns the model of a spot with two mean-reverting factors, simulated exactly at all dates:
 *
 *   S(t) = F(t)·exp(X₁ + X₂ − ½·Var(X₁ + X₂)),   dXᵢ = −αᵢ·Xᵢ dt + σᵢ dWᵢ,   d⟨W₁, W₂⟩ = ρ dt,   F(t) = S₀·e^((r−q)t)
 *
 * With α₁ = 0 this is the model of E. Schwartz and J. E. Smith (2000); the forward curve is flat where the yield equals
 * the rate. Source: G. Pagès and B. Wilbertz (2012), section 3. Verified: test/montecarlo/models.test.ts, against
 * Black's formula with the variance of X₁ + X₂.
 *
 * @param settings the spot, rates, mean reversions, volatilities and the correlation.
 * @throws SpecError
 * @example
 * import { gaussianFactors } from "feynkac/montecarlo";
 *
 * console.log(gaussianFactors({ spot: 20, alpha: [0.21, 5.4], sigma: [0.36, 1.11], rho: -0.11 }).normals); // 2
 * @experimental
 */
export function gaussianFactors(settings: GaussianFactorSettings): PathModel {
  checkFields("gaussianFactors", settings, [...SPOT_FIELDS, "alpha", "sigma", "rho"]);
  const { spot, rate = 0, yield: carry = 0, alpha, sigma, rho } = settings;
  const failures = [
    ...spotFailures("gaussianFactors: spot", spot),
    ...alpha.flatMap((one, i) =>
      failuresOf(`gaussianFactors: alpha[${i}]`, one, "a number from 0 on, per year", (x) => x >= 0),
    ),
    ...sigma.flatMap((one, i) => volatilityFailures(`gaussianFactors: sigma[${i}]`, one)),
    ...failuresOf("gaussianFactors: rho", rho, "a number from -1 to 1", (x) => Math.abs(x) <= 1),
  ];
  return {
    name: "two Gaussian factors",
    assets: 1,
    state: 3,
    normals: 2,
    uniforms: 0,
    parameters: {
      spot,
      yield: carry,
      rate,
      alpha1: alpha[0],
      alpha2: alpha[1],
      sigma1: sigma[0],
      sigma2: sigma[1],
      rho,
    },
    failures,
    ...FUNCTIONS,
    jumpsWith: [],
    sensitivities: { delta: ["spot"], gamma: ["spot"], rho: ["rate"] },
  };
}

/** Returns ∫₀ˢ e^(−a·u) du. */
export const integratedDecay = fn({
  name: "integratedDecay",
  params: { a: real, span: real },
  body({ a, span }) {
    const x = a * span;
    // Near 0, where a division by a leaves few digits of the derivative by it, or none, its series.
    const last = 1 - (x / 7) * (1 - x / 8);
    const series = 1 - (x / 2) * (1 - (x / 3) * (1 - (x / 4) * (1 - (x / 5) * (1 - (x / 6) * last))));
    return x < 0.05 ? span * series : -Math.expm1(-x) / a;
  },
});

const FUNCTIONS = {
  coefficients: {
    count: 6,
    function: fn({
      name: "factorCoefficients",
      params: modelParams.coefficients,
      env: { integratedDecay },
      body({ p, t, dt, c }, _gpu, { integratedDecay }) {
        const a1 = p[3];
        const a2 = p[4];
        const s1 = p[5];
        const s2 = p[6];
        const d11 = integratedDecay({ a: 2 * a1, span: dt });
        const d12 = p[7] * integratedDecay({ a: a1 + a2, span: dt });
        const d22 = integratedDecay({ a: 2 * a2, span: dt });
        c[0] = Math.exp(-a1 * dt);
        c[1] = Math.exp(-a2 * dt);
        // vᵢⱼ = σᵢ·σⱼ·dᵢⱼ; no volatility is divided by, so that any may be 0.
        const root = Math.sqrt(d11);
        const shared = d12 / root;
        c[2] = s1 * root;
        c[3] = s2 * shared;
        c[4] = s2 * Math.sqrt(Math.max(d22 - shared * shared, 0));
        // Var(X₁ + X₂) grows from t to t + dt by e^(−2α₁t)·v₁₁ + 2·e^(−(α₁+α₂)t)·v₁₂ + e^(−2α₂t)·v₂₂.
        const early = Math.exp(-2 * a1 * t) * s1 * s1 * d11 + Math.exp(-2 * a2 * t) * s2 * s2 * d22;
        c[5] = (p[2] - p[1]) * dt - 0.5 * (early + 2 * Math.exp(-(a1 + a2) * t) * s1 * s2 * d12);
      },
    }),
  },
  start: fn({
    name: "factorStart",
    params: modelParams.start,
    body({ p, state }) {
      state[0] = Math.log(p[0]);
      state[1] = 0;
      state[2] = 0;
    },
  }),
  step: fn({
    name: "factorStep",
    params: modelParams.step,
    body({ state, normals, c }) {
      state[0] = state[0] + c[5];
      state[1] = c[0] * state[1] + c[2] * normals[0];
      state[2] = c[1] * state[2] + c[3] * normals[0] + c[4] * normals[1];
    },
  }),
  logs: fn({
    name: "factorLogs",
    params: modelParams.logs,
    body({ state, logs }) {
      logs[0] = state[0] + state[1] + state[2];
    },
  }),
  // With the spot it determines the other factor.
  hidden: {
    count: 1,
    function: fn({
      name: "firstFactor",
      params: modelParams.hidden,
      body({ state, hidden }) {
        hidden[0] = state[1];
      },
    }),
  },
  observe: fn({
    name: "factorObserve",
    params: modelParams.observe,
    body({ state, spots }) {
      spots[0] = Math.exp(state[0] + state[1] + state[2]);
    },
  }),
} as const;
