/** Markov chains that a quantization tree may stand on: autoregressive Gaussian ones, and those of a step function. */
import { ShapeError, SpecError } from "../../../base/errors.ts";
import { fn, i32, type KernelFunction, read, real, write } from "../../../kernel/index.ts";
import { checkedSymmetric, choleskyOf, type Matrix } from "../../../numerics/linalg/index.ts";
import { product, solveLower, transposed } from "../gaussian.ts";
import { checkFields, checkWholeNumber } from "../../../base/argument-checks.ts";
import { MAX_DIMENSION } from "../search/nearest.ts";

const stepParams = { state: write(real), normals: read(real), layer: i32, parameters: read(real) } as const;

/**
 * A step of a Markov chain as a kernel function: it replaces the `state` of the previous layer by that of `layer` (from
 * 1 on), using independent standard normal numbers and the model's `parameters`.
 * @experimental
 */
export type StepFunction = KernelFunction<typeof stepParams, void>;

/**
 * The parameters of a step function, for `fn`.
 *
 * @example
 * import { stepFunctionParams } from "feynkac/quantization";
 *
 * console.log(Object.keys(stepFunctionParams).join(" ")); // state normals layer parameters
 * @experimental
 */
export const stepFunctionParams: typeof stepParams = stepParams;

/** The layers that all chains have: a given state at time 0, then one for each time. */
interface Layers {
  readonly dimension: number;
  /** The times in years, increasing from 0. */
  readonly times: readonly number[];
}

/**
 * A Gaussian chain that begins in 0:
 *
 *   X₀ = 0,   Xₖ₊₁ = Aₖ·Xₖ + Tₖ·Zₖ₊₁,   Z independent, N(0, I)
 * @experimental
 */
export interface AutoregressiveChain extends Layers {
  readonly kind: "autoregressive";
  /** The transitions Aₖ, k = 0 … K − 1, [d, d] each. */
  readonly transitions: readonly Float64Array[];
  /** The noise Tₖ, k = 0 … K − 1, [d, d] each, lower triangular. */
  readonly noise: readonly Float64Array[];
  /** The covariances Cov(Xₖ), k = 0 … K, [d, d] each. */
  readonly covariances: readonly Float64Array[];
}

/** A chain of any law, given by a kernel function of its step. @experimental */
export interface SteppedChain extends Layers {
  readonly kind: "stepped";
  readonly initial: readonly number[];
  readonly step: StepFunction;
  readonly parameters: Float64Array;
}

/** The chains for which a quantization tree can be made. @experimental */
export type MarkovChain = AutoregressiveChain | SteppedChain;

/** Checks that times increase from 0. @throws SpecError */
function checkTimes(path: string, times: readonly number[]): void {
  if (times.length < 2)
    throw new SpecError(`${path}: times: got ${times.length}, expected 0 and at least one time after it`);
  times.forEach((t, k) => {
    if (k === 0 ? t !== 0 : !(t > times[k - 1] && t < Infinity))
      throw new SpecError(
        `${path}: times[${k}]: got ${t}, expected ${k === 0 ? "0, when the chain begins" : `more than ${times[k - 1]}`}`,
      );
  });
}

/** The settings of factors that revert to 0, each driven by a Brownian motion. @experimental */
export interface FactorSettings {
  /** The times in years, increasing from 0. */
  readonly times: readonly number[];
  /** The mean reversions αᵢ, per year; 0 is Brownian motion. Their number is that of the factors. */
  readonly meanReversion: readonly number[];
  /** The correlation of the Brownian motions; the identity by default. */
  readonly correlation?: Matrix;
}

/**
 * Returns Ornstein–Uhlenbeck factors at given times, as an autoregressive chain:
 *
 *   Xⁱₜ = ∫ e^(−αᵢ(t−s)) dWⁱₛ,   d⟨Wⁱ, Wʲ⟩ = ρᵢⱼ dt
 *   Aₖ = diag e^(−αᵢΔ),   (TₖTₖᵀ)ᵢⱼ = ρᵢⱼ·(1 − e^(−(αᵢ+αⱼ)Δ))/(αᵢ + αⱼ),   Tₖ by Cholesky
 *
 * Source: G. Pagès and B. Wilbertz, GPGPUs in computational finance: massive parallel computing for American style
 * options, Concurrency and Computation: Practice and Experience 24 (2012) 837–848, proposition 1. Verified:
 * test/quadrature/quantization/transitions.test.ts.
 *
 * @param settings times, mean reversions and correlations.
 * @throws SpecError | ShapeError | NotPositiveDefiniteError (correlations)
 * @example
 * import { meanRevertingFactors } from "feynkac/quantization";
 *
 * const chain = meanRevertingFactors({ times: [0, 0.5, 1], meanReversion: [4] });
 * console.log(chain.transitions[1]![0]!.toFixed(6), chain.covariances[2]![0]!.toFixed(6)); // 0.135335 0.124958
 * @experimental
 */
export function meanRevertingFactors(settings: FactorSettings): AutoregressiveChain {
  checkFields("meanRevertingFactors", settings, ["times", "meanReversion", "correlation"]);
  const { times, meanReversion: alpha } = settings;
  const d = alpha.length;
  checkWholeNumber("meanRevertingFactors: number of factors", d, 1, MAX_DIMENSION);
  checkTimes("meanRevertingFactors", times);
  alpha.forEach((a, i) => {
    if (!(a >= 0 && a < Infinity))
      throw new SpecError(`meanRevertingFactors: meanReversion[${i}]: got ${a}, expected a number from 0 on, per year`);
  });
  const identity = alpha.map((_, i) => alpha.map((_other, j) => (i === j ? 1 : 0)));
  const correlation = checkedSymmetric("meanRevertingFactors: correlation", settings.correlation ?? identity);
  if (correlation.length !== d * d)
    throw new ShapeError(
      `meanRevertingFactors: correlation: got ${settings.correlation!.length} rows, expected ${d}, one per factor`,
    );
  choleskyOf(correlation, d);
  const integral = (rate: number, span: number): number => (rate === 0 ? span : -Math.expm1(-rate * span) / rate);
  const covarianceOver = (span: number): Float64Array =>
    correlation.map((rho, at) => rho * integral(alpha[Math.floor(at / d)] + alpha[at % d], span));
  const spans = times.slice(1).map((t, k) => t - times[k]);
  return {
    kind: "autoregressive",
    dimension: d,
    times: [...times],
    transitions: spans.map((span) =>
      new Float64Array(d * d).map((_, at) => (at % (d + 1) === 0 ? Math.exp(-alpha[at % d] * span) : 0)),
    ),
    noise: spans.map((span) => choleskyOf(covarianceOver(span), d)),
    covariances: times.map((t) => covarianceOver(t)),
  };
}

/** The settings of `autoregressiveChain`. @experimental */
export interface AutoregressiveSettings {
  /** The times in years, increasing from 0. */
  readonly times: readonly number[];
  /** The transitions Aₖ of each step; one for all steps may be given alone. */
  readonly transitions: readonly Matrix[];
  /** The noise covariances Tₖ·Tₖᵀ of each step; one for all steps may be given alone. */
  readonly noiseCovariances: readonly Matrix[];
}

/**
 * Returns the autoregressive chain with given matrices, X₀ = 0 and Xₖ₊₁ = Aₖ·Xₖ + Tₖ·Z. Its covariances are Cₖ₊₁ =
 * Aₖ·Cₖ·Aₖᵀ + Tₖ·Tₖᵀ.
 *
 * @param settings the times and the matrices.
 * @throws SpecError | ShapeError | NotPositiveDefiniteError
 * @example
 * import { autoregressiveChain } from "feynkac/quantization";
 *
 * const chain = autoregressiveChain({ times: [0, 1, 2], transitions: [[[0.5]]], noiseCovariances: [[[1]]] });
 * console.log(chain.covariances.map(([c]) => c).join(" ")); // 0 1 1.25
 * @experimental
 */
export function autoregressiveChain(settings: AutoregressiveSettings): AutoregressiveChain {
  const { times, transitions, noiseCovariances } = settings;
  checkTimes("autoregressiveChain", times);
  const steps = times.length - 1;
  for (const [name, matrices] of Object.entries({ transitions, noiseCovariances }))
    if (matrices.length !== 1 && matrices.length !== steps)
      throw new ShapeError(
        `autoregressiveChain: ${name}: got ${matrices.length}, expected 1 for all steps or ${steps}, one per step`,
      );
  const d = noiseCovariances[0].length;
  checkWholeNumber("autoregressiveChain: number of factors", d, 1, MAX_DIMENSION);
  const of = (matrices: readonly Matrix[], k: number): Matrix => matrices[matrices.length === 1 ? 0 : k];
  const a: Float64Array[] = [];
  const noise: Float64Array[] = [];
  const covariances = [new Float64Array(d * d)];
  for (let k = 0; k < steps; k++) {
    const rows = of(transitions, k);
    const wrong = rows.length !== d || rows.some((row) => row.length !== d || !row.every(Number.isFinite));
    const variance = checkedSymmetric(`autoregressiveChain: noiseCovariances[${k}]`, of(noiseCovariances, k));
    if (wrong || variance.length !== d * d)
      throw new ShapeError(`autoregressiveChain: step ${k}: expected matrices of ${d} × ${d} finite numbers`);
    a.push(Float64Array.from(rows.flat()));
    noise.push(choleskyOf(variance, d));
    const moved = product(product(a[k], covariances[k], d), transposed(a[k], d), d);
    covariances.push(moved.map((x, at) => x + variance[at]));
  }
  return { kind: "autoregressive", dimension: d, times: [...times], transitions: a, noise, covariances };
}

/** The settings of `steppedChain`. @experimental */
export interface SteppedSettings {
  readonly times: readonly number[];
  /** The state at time 0. */
  readonly initial: readonly number[];
  readonly step: StepFunction;
  /** The run-time numbers of the model that the step function reads; none by default. */
  readonly parameters?: ArrayLike<number>;
}

/**
 * Returns a Markov chain of any law, given by a kernel function of its step.
 *
 * @param settings times, the state at time 0, the step function and its parameters.
 * @throws SpecError
 * @example
 * import { fn } from "feynkac/kernel";
 * import { stepFunctionParams, steppedChain } from "feynkac/quantization";
 *
 * // A spot that moves in steps of ln S, with its volatility and the length of a step as parameters.
 * const step = fn({
 *   params: stepFunctionParams,
 *   body({ state, normals, parameters: p }) {
 *     state[0] = state[0]! * Math.exp(p[0]! * normals[0]! * Math.sqrt(p[1]!) - 0.5 * p[0]! ** 2 * p[1]!);
 *   },
 * });
 * console.log(steppedChain({ times: [0, 0.5, 1], initial: [100], step, parameters: [0.2, 0.5] }).dimension); // 1
 * @experimental
 */
export function steppedChain(settings: SteppedSettings): SteppedChain {
  const { times, initial, step, parameters = [] } = settings;
  checkTimes("steppedChain", times);
  checkWholeNumber("steppedChain: initial: dimension", initial.length, 1, MAX_DIMENSION);
  initial.forEach((x, i) => {
    if (!Number.isFinite(x)) throw new SpecError(`steppedChain: initial[${i}]: got ${x}, expected a finite number`);
  });
  return {
    kind: "stepped",
    dimension: initial.length,
    times: [...times],
    initial: [...initial],
    step,
    parameters: Float64Array.from(parameters),
  };
}

/**
 * Returns the number of reals of one step in the parameters of `standardisedParameters`: the full matrix Ã, then the
 * full matrix T̃.
 */
export const stepReals = (dimension: number): number => 2 * dimension * dimension;

/** Returns the step function of a standardised autoregressive chain, y ← Ã·y + T̃·z. */
export function autoregressiveStep(dimension: number): StepFunction {
  return fn({
    name: "autoregressiveStep",
    params: stepParams,
    env: { D: dimension },
    body({ state, normals, layer, parameters }, gpu, { D }) {
      const at = (layer - 1) * 2 * D * D;
      const before = gpu.privateReal(D);
      for (let a = 0; a < D; a++) before[a] = state[a];
      for (let a = 0; a < D; a++) {
        let sum = gpu.real(0);
        for (let b = 0; b < D; b++) sum += parameters[at + a * D + b] * before[b];
        for (let b = 0; b <= a; b++) sum += parameters[at + D * D + a * D + b] * normals[b];
        state[a] = sum;
      }
    },
  });
}

/**
 * Returns the parameters of a chain in the standardised coordinates Yₖ = Sₖ⁻¹·Xₖ ~ N(0, I), where Sₖ (`roots`) is the
 * Cholesky factor of Cov(Xₖ). All layers then share the grid of N(0, I) and one search table.
 *
 *   Ãₖ = Sₖ₊₁⁻¹·Aₖ·Sₖ,   T̃ₖ = Sₖ₊₁⁻¹·Tₖ
 */
export function standardisedParameters(chain: AutoregressiveChain): {
  readonly roots: readonly Float64Array[];
  readonly parameters: Float64Array;
} {
  const { dimension: d, covariances, transitions, noise } = chain;
  const roots = covariances.map((c, k) => (k === 0 ? new Float64Array(d * d) : choleskyOf(c, d)));
  const parameters = new Float64Array(transitions.length * stepReals(d));
  transitions.forEach((a, k) => {
    parameters.set(solveLower(roots[k + 1], product(a, roots[k], d), d), k * stepReals(d));
    parameters.set(solveLower(roots[k + 1], noise[k], d), k * stepReals(d) + d * d);
  });
  return { roots, parameters };
}
