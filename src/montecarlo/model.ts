/** The interface of models for the path engine: a state, how it starts, and a step of it, as kernel functions. */
import { bool, i32, type KernelFunction, read, real, record, type RecordDeclaration, write } from "../kernel/index.ts";
import type { ParameterFailure, Parameters } from "./parameters.ts";

const tableFields = { values: read(real), first: i32, stride: i32 } as const;

/**
 * The coefficients of a step that are not copied into `c`, for models that read a few of many numbers: number j is
 * `values[first + j * stride]`.
 */
export const Tables: RecordDeclaration<typeof tableFields> = record(tableFields);

/** The name of the parameter of a model that sets the time at which each step ends. */
export const END_OF_STEP = "end of step";

const coefficientParams = { p: read(real), t: real, dt: real, c: write(real) } as const;
const startParams = { p: read(real), state: write(real) } as const;
const stepParams = {
  state: write(real),
  normals: read(real),
  uniforms: read(real),
  c: read(real),
  t: real,
  dt: real,
  tables: Tables,
} as const;
const observeParams = { state: read(real), spots: write(real) } as const;
const logParams = { state: read(real), logs: write(real) } as const;
const hiddenParams = { state: read(real), hidden: write(real) } as const;
const discountParams = { state: read(real) } as const;
const varianceParams = { state: read(real), c: read(real), dt: real, variances: write(real), tables: Tables } as const;
const scoreParams = {
  scores: write(real),
  normals: read(real),
  c: read(real),
  dt: real,
  isFirst: bool,
  initial: read(real),
} as const;

/**
 * The parameters of the kernel functions of a model, for `fn`.
 *
 * @example
 * import { modelParams } from "feynkac/montecarlo";
 *
 * console.log(Object.keys(modelParams.step).join(" ")); // state normals uniforms c t dt tables
 * @experimental
 */
export const modelParams: {
  readonly coefficients: typeof coefficientParams;
  readonly start: typeof startParams;
  readonly step: typeof stepParams;
  readonly observe: typeof observeParams;
  readonly logs: typeof logParams;
  readonly hidden: typeof hiddenParams;
  readonly discount: typeof discountParams;
  readonly variances: typeof varianceParams;
  readonly score: typeof scoreParams;
} = {
  coefficients: coefficientParams,
  start: startParams,
  step: stepParams,
  observe: observeParams,
  logs: logParams,
  hidden: hiddenParams,
  discount: discountParams,
  variances: varianceParams,
  score: scoreParams,
};

/**
 * A model of the path engine: plain data and kernel functions. `t` is the time at which a step begins and `dt` its
 * length, in years.
 * @experimental
 */
export interface PathModel {
  readonly name: string;
  /** The number of spots that products observe. */
  readonly assets: number;
  /** The number of reals of the state. */
  readonly state: number;
  /** The number of independent standard normal numbers of a step. */
  readonly normals: number;
  /** The number of independent uniform numbers of a step, in (0, 1). */
  readonly uniforms: number;
  /**
   * The parameters, read by `start` and `coefficients` as `p`. The one named "rate" discounts: exp(−∫ rate dt); without
   * it the discount factor is 1. The one named `END_OF_STEP` sets the time at which each step ends, by step; without it
   * steps between two dates are equal.
   */
  readonly parameters: Parameters;
  /** The numbers out of bounds in columns of parameters: simulations leave their instances out. None by default. */
  readonly failures?: readonly ParameterFailure[];
  /** The coefficients of a step that do not depend on the path, computed once for all paths; p itself by default. */
  readonly coefficients?: {
    readonly count: number;
    readonly function: KernelFunction<typeof coefficientParams, void>;
    /** The number of coefficients that are copied into `c`, all by default; the others are read from `tables`. */
    readonly copied?: number;
  };
  /** Sets the state at time 0. */
  readonly start: KernelFunction<typeof startParams, void>;
  /** Replaces the state by the one after a step. */
  readonly step: KernelFunction<typeof stepParams, void>;
  /** Computes the spots of a state. */
  readonly observe: KernelFunction<typeof observeParams, void>;
  /** Computes the logarithms of the spots, where the state contains them, for products that need them. */
  readonly logs?: KernelFunction<typeof logParams, void>;
  /**
   * The part of the state that the spots do not determine: variances, factors. Continuation values are regressed on it,
   * too.
   */
  readonly hidden?: { readonly count: number; readonly function: KernelFunction<typeof hiddenParams, void> };
  /** Returns a discount factor of the path, besides that of "rate". */
  readonly discount?: KernelFunction<typeof discountParams, number>;
  /**
   * Computes the variance of ln S of each asset over a step, given the state before it; for Brownian bridges of
   * products.
   */
  readonly variances?: KernelFunction<typeof varianceParams, void>;
  /** True where `variances` is given the state after the step, which then contains what it needs; false by default. */
  readonly variancesAfterStep?: boolean;
  /** True where ln S is exactly a Brownian motion with drift within a step, so that bridges have no bias. */
  readonly exactBridge?: boolean;
  /**
   * The scores ∂ ln(density)/∂θ for Greeks by likelihood ratio; of second order for gamma. Each step adds its part; the
   * first one also those of the spot at time 0.
   */
  readonly score?: {
    readonly names: readonly string[];
    readonly function: KernelFunction<typeof scoreParams, void>;
  };
  /**
   * The parameters with which steps jump, as where a scheme changes from one distribution to another. Sensitivities to
   * them are differences, because derivatives along paths would leave out the jumps. Of a model that does not say it,
   * all sensitivities are differences; `[]` says that none jumps.
   */
  readonly jumpsWith?: readonly string[];
  /** The parameters by sensitivity: delta and gamma of spots, vega of volatilities, rho of the rate. */
  readonly sensitivities?: Readonly<Record<string, readonly string[]>>;
}
