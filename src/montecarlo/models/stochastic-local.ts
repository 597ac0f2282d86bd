/** Stochastic local volatility: a stochastic variance, and a leverage of spot and time. */
import { fn, read, real, write } from "../../kernel/index.ts";
import { memoize } from "../../base/memoize.ts";
import { modelParams, type PathModel } from "../model.ts";
import { type Column, type Parameter } from "../parameters.ts";
import { logObserve, logsOfState, type SpotSettings } from "./gbm.ts";

/** The settings of `stochasticLocal`. Time-dependent ones have a value for each step. */
export interface StochasticLocalSettings extends SpotSettings {
  /**
   * The process of the variance v. "heston" is Heston's variance. "sabr" is the square of a lognormal volatility that
   * is 1 today and has the volatility σ.
   */
  readonly variance: "heston" | "sabr";
  /** The variance today; not for SABR. */
  readonly v0?: Column;
  /** The speed of mean reversion of Heston's variance, per year. */
  readonly kappa?: Parameter;
  /** The long-run value of Heston's variance. */
  readonly theta?: Parameter;
  /** The volatility of the variance, or of SABR's volatility. */
  readonly sigma: Parameter;
  /** The correlation of spot and variance. */
  readonly rho: Parameter;
  /** The logarithm of the spot at the middle node of the leverage function. */
  readonly center: Parameter;
  /** The distance between neighbouring nodes of the leverage function in ln S. */
  readonly width: Parameter;
  /**
   * The leverage L at each node, at the beginning of each step. L is linear in ln S between the nodes and constant
   * outside.
   */
  readonly leverage: readonly Parameter[];
}

/** The parameters, and the coefficients of a step, before the leverage on the nodes. */
const [HEAD, COEFFICIENTS] = [11, 12];

/** L at x = ln S, from the coefficients of a step. */
const leverageAt = fn({
  name: "leverageAt",
  params: { x: real, c: read(real) },
  env: { COEFFICIENTS },
  body({ x, c }, gpu, { COEFFICIENTS }) {
    const place = (0.5 + (0.5 * (x - c[9])) / c[10]) * c[11];
    const inside = Math.min(Math.max(place, 0), c[11]);
    const cell = Math.min(gpu.i32(inside), gpu.i32(c[11]) - 1);
    const share = inside - gpu.real(cell);
    return (1 - share) * c[COEFFICIENTS + cell] + share * c[COEFFICIENTS + cell + 1];
  },
});

const lawParams = { state: write(real), u: real, c: read(real), dt: real } as const;

/** Draws the next variance by Andersen's quadratic-exponential law; returns ρ·∫√v dZ over the step. */
const hestonLaw = fn({
  name: "hestonLaw",
  params: lawParams,
  body({ state, u, c, dt }, gpu) {
    const v = state[1];
    const m = v * c[0] + c[1];
    const s2 = v * c[2] + c[3];
    const psi = m > 0 ? s2 / (m * m) : 0;
    let next = gpu.real(0);
    if (m > 0 && psi <= 1.5) {
      const inverse = 2 / Math.max(psi, 1e-30);
      const b2 = inverse - 1 + Math.sqrt(inverse) * Math.sqrt(inverse - 1);
      const root = Math.sqrt(b2) + gpu.inverseNormalCdf(u);
      next = (m / (1 + b2)) * root * root;
    } else if (m > 0) {
      const atom = (psi - 1) / (psi + 1);
      next = u <= atom ? 0 : (m * Math.log((1 - atom) / (1 - u))) / (1 - atom);
    }
    state[1] = next;
    return c[5] * (next - v - c[6] + c[7] * 0.5 * (v + next) * dt);
  },
});

/** The same of the square of a log-normal volatility, exactly. */
const sabrLaw = fn({
  name: "sabrLaw",
  params: lawParams,
  body({ state, u, c }, gpu) {
    const v = state[1];
    state[1] = v * Math.exp(2 * (c[0] * gpu.inverseNormalCdf(u) - c[1]));
    return c[5] * (Math.sqrt(state[1]) - Math.sqrt(v));
  },
});

/** The part of the coefficients that the law of the variance reads: c₀ to c₃ and c₅ to c₇. */
const hestonCoefficients = fn({
  name: "hestonLawCoefficients",
  params: { p: read(real), dt: real, c: write(real) },
  body({ p, dt, c }) {
    const kappa = p[4];
    const theta = p[5];
    const sigma = p[6];
    const decay = Math.exp(-kappa * dt);
    const variance = sigma * sigma * (kappa > 0 ? (1 - decay) / kappa : dt);
    c[0] = decay;
    c[1] = theta * (1 - decay);
    c[2] = variance * decay;
    c[3] = 0.5 * theta * variance * (1 - decay);
    c[5] = p[7] / sigma;
    c[6] = kappa * theta * dt;
    c[7] = kappa;
  },
});

const sabrCoefficients = fn({
  name: "sabrLawCoefficients",
  params: { p: read(real), dt: real, c: write(real) },
  body({ p, dt, c }) {
    c[0] = p[6] * Math.sqrt(dt);
    c[1] = 0.5 * p[6] * p[6] * dt;
    c[5] = p[7] / p[6];
  },
});

const functionsOf = memoize((law: typeof hestonLaw, own: typeof hestonCoefficients) => ({
  coefficients: fn({
    name: "stochasticLocalCoefficients",
    params: modelParams.coefficients,
    env: { own, HEAD, COEFFICIENTS },
    body({ p, dt, c }, gpu, { own, HEAD, COEFFICIENTS }) {
      own({ p, dt, c });
      c[4] = (p[2] - p[1]) * dt;
      c[8] = 1 - p[7] * p[7];
      c[9] = p[8];
      c[10] = p[9];
      c[11] = p[10] - 1;
      const nodes = gpu.i32(p[10]);
      for (let j = 0; j < nodes; j++) c[COEFFICIENTS + j] = p[HEAD + j];
    },
  }),
  // ln S given both ends of the variance, with the leverage of the step's start.
  step: fn({
    name: "stochasticLocalStep",
    params: modelParams.step,
    env: { law, leverageAt },
    body({ state, normals, uniforms, c, dt }, _gpu, { law, leverageAt }) {
      const v = state[1];
      const common = law({ state, u: uniforms[0], c, dt });
      const total = 0.5 * (v + state[1]) * dt;
      const leverage = leverageAt({ x: state[0], c });
      const noise = common + Math.sqrt(c[8] * total) * normals[0];
      state[0] = state[0] + c[4] - 0.5 * leverage * leverage * total + leverage * noise;
    },
  }),
}));

const LAWS = { heston: [hestonLaw, hestonCoefficients], sabr: [sabrLaw, sabrCoefficients] } as const;

const COMMON = {
  start: fn({
    name: "stochasticLocalStart",
    params: modelParams.start,
    body({ p, state }) {
      state[0] = Math.log(p[0]);
      state[1] = p[3];
    },
  }),
  hidden: {
    count: 1,
    function: fn({
      name: "stochasticLocalHidden",
      params: modelParams.hidden,
      body({ state, hidden }) {
        hidden[0] = state[1];
      },
    }),
  },
  observe: logObserve(1),
  logs: logsOfState(1),
  variances: fn({
    name: "stochasticLocalVariances",
    params: modelParams.variances,
    env: { leverageAt },
    body({ state, c, dt, variances }, _gpu, { leverageAt }) {
      const leverage = leverageAt({ x: state[0], c });
      variances[0] = leverage * leverage * Math.max(state[1], 0) * dt;
    },
  }),
};

/**
 * Returns a model of stochastic local volatility, dS = (r − q)·S dt + L(S, t)·√v·S dW, d⟨W, Z⟩ = ρ dt. The variance is
 * Heston's, dv = κ(θ − v) dt + σ√v dZ, simulated by Andersen's quadratic-exponential scheme, or SABR's, d√v = σ√v dZ,
 * simulated exactly.
 *
 * Accuracy: a bias of first order in the step, because the leverage is taken at the step's start. Verified:
 * test/calibration/leverage.
 */
export function stochasticLocal(settings: StochasticLocalSettings): PathModel {
  const { variance, spot, rate = 0, yield: carry = 0, v0 = 1, kappa = 0, theta = 0, sigma, rho } = settings;
  const { center, width, leverage } = settings;
  const [law, own] = LAWS[variance];
  const { coefficients, step } = functionsOf(law, own);
  const nodes = leverage.length;
  const given = { spot, yield: carry, rate, v0, kappa, theta, sigma, rho, center, width, nodes };
  return {
    name: `stochastic local volatility (${variance})`,
    assets: 1,
    state: 2,
    normals: 1,
    uniforms: 1,
    parameters: { ...given, ...Object.fromEntries(leverage.map((values, j) => [`leverage${j}`, values])) },
    coefficients: { count: COEFFICIENTS + nodes, function: coefficients },
    step,
    ...COMMON,
    sensitivities: { delta: ["spot"], gamma: ["spot"], rho: ["rate"] },
  };
}
