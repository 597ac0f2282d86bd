/** Heston's model by Andersen's quadratic-exponential scheme. */
import { checkFields } from "../../base/argument-checks.ts";
import { fn } from "../../kernel/index.ts";
import { modelParams, type PathModel } from "../model.ts";
import { columnsOf, failuresOf, mapColumns, type Parameter } from "../parameters.ts";
import { logObserve, logsOfState, SPOT_FIELDS, spotFailures, type SpotSettings } from "./gbm.ts";

/** The settings of `heston`, whose variance follows dv = κ(θ − v) dt + σ√v dW_v. @experimental */
export interface HestonSettings extends SpotSettings {
  /** The variance today, ≥ 0: the square of a volatility per √year. */
  readonly v0: Parameter;
  /** The speed of mean reversion κ per year. */
  readonly kappa: Parameter;
  /** The long-run variance θ. */
  readonly theta: Parameter;
  /** The volatility σ of the variance. */
  readonly sigma: Parameter;
  /** The correlation of spot and variance. */
  readonly rho: Parameter;
}

/** The ψ at which the quadratic law of the variance ends and the exponential one begins: Andersen's ψ_c. */
const SWITCH = 1.5;

/**
 * Returns Heston's model, simulated by the quadratic-exponential scheme QE-M with its martingale correction:
 *
 *   dS = (r − q)·S dt + √v·S dW_S,   dv = κ(θ − v) dt + σ√v dW_v,   d⟨W_S, W_v⟩ = ρ dt
 *
 * The variance after a step is drawn from a distribution with the exact mean and variance, a squared normal number or a
 * mixture with an atom at zero; the mean of S is exact where the correction exists. Accuracy: a bias that falls about
 * with the square of the step; some 8 to 32 steps a year serve most options. Source: L. Andersen, Simple and efficient
 * simulation of the Heston stochastic volatility model, Journal of Computational Finance 11 (2008), sections 3.2.4 and
 * 4.3. Verified: test/montecarlo/models.test.ts, against Lewis' integral.
 *
 * @param settings the spot, rates, and the five parameters of the variance.
 * @throws SpecError
 * @example
 * import { heston } from "feynkac/montecarlo";
 *
 * const model = heston({ spot: 100, rate: 0.03, v0: 0.04, kappa: 1.5, theta: 0.04, sigma: 0.3, rho: -0.7 });
 * console.log(model.state, model.normals, model.uniforms); // 2 1 1
 * @experimental
 */
export function heston(settings: HestonSettings): PathModel {
  checkFields("heston", settings, [...SPOT_FIELDS, "v0", "kappa", "theta", "sigma", "rho"]);
  const { spot, rate = 0, yield: carry = 0, v0, kappa, theta, sigma, rho } = settings;
  const positive = (x: number): boolean => x > 0;
  const notNegative = (x: number): boolean => x >= 0;
  const failures = [
    ...spotFailures("heston: spot", spot),
    ...failuresOf("heston: v0", v0, "a number from 0 on", notNegative),
    ...failuresOf("heston: kappa", kappa, "a positive number", positive),
    ...failuresOf("heston: theta", theta, "a number from 0 on", notNegative),
    ...failuresOf("heston: sigma", sigma, "a positive number", positive),
    ...failuresOf("heston: rho", rho, "a number from -1 to 1", (x) => Math.abs(x) <= 1),
  ];
  return {
    name: "Heston",
    assets: 1,
    state: 2,
    normals: 1,
    uniforms: 1,
    parameters: { spot, yield: carry, rate, v0, kappa, theta, sigma, rho },
    failures,
    ...FUNCTIONS,
    jumpsWith: switchesLaw(settings) ? ["v0", "kappa", "theta", "sigma"] : [],
    sensitivities: { delta: ["spot"], gamma: ["spot"], vega: ["v0"], rho: ["rate"] },
  };
}

/**
 * Tells whether the law of the variance changes in some step of some instance. ψ = (v·c₂ + c₃)/(v·c₀ + c₁)² falls with
 * v, and at v = 0 it is σ²/(2κθ), whatever the step.
 */
export function switchesLaw({ kappa, theta, sigma }: Pick<HestonSettings, "kappa" | "theta" | "sigma">): boolean {
  const [slowest, lowest] = [kappa, theta].map((one) => mapColumns(columnsOf(one), Math.min));
  const widest = mapColumns(columnsOf(sigma), Math.max);
  const stays = mapColumns([slowest, lowest, widest], (k, t, s) => (s * s <= 2 * SWITCH * k * t ? 1 : 0));
  return typeof stays === "number" ? stays === 0 : Array.from(stays).includes(0);
}

const FUNCTIONS = {
  coefficients: {
    count: 10,
    function: fn({
      name: "hestonCoefficients",
      params: modelParams.coefficients,
      body({ p, dt, c }) {
        const drift = p[2] - p[1];
        const kappa = p[4];
        const theta = p[5];
        const sigma = p[6];
        const rho = p[7];
        const decay = Math.exp(-kappa * dt);
        const variance = (sigma * sigma * (1 - decay)) / kappa;
        const ratio = rho / sigma;
        // ∫ v dt ≈ θ·(Δt − 2γ) + γ·(v + v'): its mean given both ends, but for σ. Δt/2 where κ·Δt is small.
        const gamma = (1 - decay) / ((1 + decay) * kappa);
        const half = gamma * (kappa * ratio - 0.5);
        c[0] = decay;
        c[1] = theta * (1 - decay);
        // Var v' = v·c₂ + c₃
        c[2] = variance * decay;
        c[3] = 0.5 * theta * variance * (1 - decay);
        c[4] = drift * dt;
        // K₁, K₂, K₃ = K₄ of Andersen, γ₁·Δt = γ₂·Δt = γ
        c[5] = half - ratio;
        c[6] = half + ratio;
        c[7] = gamma * (1 - rho * rho);
        c[8] = c[6] + 0.5 * c[7];
        // Given both ends ∫ v dt has about the variance (σ/κ)²·θ·(Δt − 2γ), which ln S has (κρ/σ − ½)² times.
        const shared = rho - (0.5 * sigma) / kappa;
        c[9] = theta * Math.max(dt - 2 * gamma, 0) * (1 - rho * rho + shared * shared);
      },
    }),
  },
  start: fn({
    name: "hestonStart",
    params: modelParams.start,
    body({ p, state }) {
      state[0] = Math.log(p[0]);
      state[1] = p[3];
    },
  }),
  step: fn({
    name: "hestonStep",
    params: modelParams.step,
    env: { SWITCH },
    body({ state, normals, uniforms, c }, gpu, { SWITCH }) {
      const v = state[1];
      const m = v * c[0] + c[1];
      const s2 = v * c[2] + c[3];
      const psi = m > 0 ? s2 / (m * m) : 0;
      const u = uniforms[0];
      const exponent = c[8];
      let next = gpu.real(0);
      let correction = gpu.real(0);
      if (m <= 0) {
        next = 0;
      } else if (psi <= SWITCH) {
        const inverse = 2 / Math.max(psi, 1e-30);
        const b2 = inverse - 1 + Math.sqrt(inverse) * Math.sqrt(inverse - 1);
        const a = m / (1 + b2);
        const root = Math.sqrt(b2) + gpu.inverseNormalCdf(u);
        next = a * root * root;
        const room = 1 - 2 * exponent * a;
        correction = room > 0 ? 0.5 * Math.log(room) - (exponent * b2 * a) / room : -exponent * m;
      } else {
        const atom = (psi - 1) / (psi + 1);
        const beta = (1 - atom) / m;
        next = u <= atom ? 0 : Math.log((1 - atom) / (1 - u)) / beta;
        const room = beta - exponent;
        correction = room > 0 ? -Math.log(atom + (beta * (1 - atom)) / room) : -exponent * m;
      }
      // With K₀* = correction − (K₁ + K₃/2)·v the mean of exp(ln S' − ln S) is exp((r − q)·dt).
      const width = c[7] * (v + next) + c[9];
      const mean = correction - 0.5 * (c[7] * v + c[9]) + c[6] * next;
      state[0] = state[0] + c[4] + mean + Math.sqrt(width) * normals[0];
      state[1] = next;
    },
  }),
  hidden: {
    count: 1,
    function: fn({
      name: "hestonVariance",
      params: modelParams.hidden,
      body({ state, hidden }) {
        hidden[0] = state[1];
      },
    }),
  },
  observe: logObserve(1),
  logs: logsOfState(1),
  variances: fn({
    name: "hestonVariances",
    params: modelParams.variances,
    body({ state, dt, variances }) {
      variances[0] = Math.max(state[1], 0) * dt;
    },
  }),
} as const;
