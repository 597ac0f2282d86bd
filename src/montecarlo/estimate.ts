/** Estimates of a batch by Monte Carlo: the public call. */
import { type CallOptions, type Device, withDevice } from "../device/index.ts";
import type { Accuracy } from "../base/accuracy.ts";
import { type FeynkacError, SpecError } from "../base/errors.ts";
import { checkObject, checkKeys } from "../base/argument-checks.ts";
import type { Precision } from "../kernel/index.ts";
import { type Control, recognisedControl } from "./controls.ts";
import { bumpedVariants, bumpsOf, givenVariants, type SensitivityMethod, type Paths } from "./sensitivities.ts";
import { firstStatus, type Instances, instancesIn, type Status } from "./instances.ts";
import type { PathModel } from "./model.ts";
import { type ControlMean, controlMeanOf, halfWidthOf, Moments } from "./moments.ts";
import { type Column, columnAt, type Parameter } from "./parameters.ts";
import { BLOCK, type Sampling } from "./paths/shape.ts";
import { type Batch, instancesPerPart, Simulation, stepEnds } from "./paths/simulation.ts";
import { measuresOf, momentsOf, type WalkShape } from "./paths/walk.ts";
import type { PathProduct } from "./product.ts";
import { seedOf } from "../numerics/random/index.ts";
import { allowedOf, checkPaths, checkSettings } from "./settings.ts";
import { WorkProgress } from "../base/event-loop.ts";
import { copiesOf, type Variant } from "./variants.ts";

/** The settings of `monteCarlo`. @experimental */
export interface MonteCarloSettings extends CallOptions {
  readonly model: PathModel;
  readonly product: PathProduct;
  /**
   * The dates in years, increasing; numbers, or columns with one for each instance. The payoff is paid on the last one.
   */
  readonly dates: readonly Column[];
  /** The number of model steps between dates, 1 by default; models that are not exact need more. */
  readonly substeps?: number;
  /**
   * The number of paths of each instance, 2¹⁶ by default, rounded up to whole blocks; with `accuracy` the initial
   * number.
   */
  readonly paths?: number;
  /** The error that the value may have: paths are added until `errorEstimate` is no larger. */
  readonly accuracy?: Accuracy<Column>;
  /** The maximum number of paths per instance with `accuracy`; 2²⁴ by default. */
  readonly maxPaths?: number;
  /** The seed, a whole number below 2⁶⁴; 1 by default. The same seed gives the same numbers on every device. */
  readonly seed?: number | bigint;
  /**
   * The source of random numbers: "philox", the default; "sobol": Sobol' points with Brownian bridge, in independent
   * scramblings by Owen.
   */
  readonly sampling?: Sampling;
  /**
   * The number of independent scramblings of Sobol' points, 32 by default, from whose scatter the standard error is
   * computed.
   */
  readonly scramblings?: number;
  /** True for antithetic paths: each path has a reflection; false by default. */
  readonly antithetic?: boolean;
  /** The control variate. "auto", the default, recognises geometric averages under Black and Scholes. */
  readonly control?: Control | "auto" | "none";
  /** The sensitivities by name: delta, gamma, vega, rho of the model, or names of parameters. */
  readonly sensitivities?: readonly string[];
  /** The method for sensitivities, "bump" by default. */
  readonly sensitivityMethod?: SensitivityMethod;
  /** Copies with other parameters, on the same random numbers. */
  readonly variants?: readonly Variant[];
  /**
   * The measures by name, reported among the sensitivities: linear combinations, with weights of the value and of the
   * value of each variant.
   */
  readonly measures?: Readonly<Record<string, readonly Column[]>>;
  /**
   * The shifts of importance sampling, added to the normal numbers of each step, one for each normal number of the
   * model. Each path is weighted by the ratio of the densities, so that no mean changes.
   */
  readonly shifts?: readonly Parameter[];
  /** The stream of random numbers of each instance, 0, 1, 2 … by default; equal streams are common random numbers. */
  readonly streams?: ArrayLike<number>;
  /** The precision, "f64" by default; WebGPU has "f32". */
  readonly precision?: Precision;
}

/** The estimates of all instances. @experimental */
export interface Estimates {
  /** The values, [instances]. */
  readonly value: Float64Array;
  /** The standard errors, [instances]. */
  readonly standardError: Float64Array;
  /**
   * The error estimates, [instances]: half widths of 95 % confidence intervals, Student's with Sobol' points, normal
   * otherwise. They cover the sampling error; the steps of a model that is not exact, and of differences for Greeks,
   * come on top.
   */
  readonly errorEstimate: Float64Array;
}

/** A sensitivity of all instances, and the method that computed it. @experimental */
export interface SensitivityEstimates extends Estimates {
  /** Half the distance of the sensitivities of the bounds, [instances]; `errorEstimate` contains it. */
  readonly halfWidth: Float64Array;
  readonly method: SensitivityMethod;
}

/** The result of `monteCarlo`. @experimental */
export interface MonteCarloResult extends Estimates {
  /**
   * Half the distance of the bounds between which paths leave the value, [instances]: see `withBarriers`; 0 for most
   * products. `errorEstimate` contains it, and more steps make it smaller.
   */
  readonly halfWidth: Float64Array;
  /** The number of paths of each instance, including reflections. */
  readonly paths: Float64Array;
  /**
   * The effective number of paths of each instance, (Σ y)²/Σ y² over the payoffs y. A value that rests on few paths has
   * a larger error than its standard error. 0 means that no path pays: value and `errorEstimate` are then 0, too, also
   * where the price is a small positive number; only who knows the payoff can bound it.
   */
  readonly effectivePaths: Float64Array;
  /** The outcome of each instance. */
  readonly status: readonly Status[];
  /** The errors of the instances whose status is "error", undefined of all others. */
  readonly error: readonly (FeynkacError | undefined)[];
  readonly sensitivities: Readonly<Record<string, SensitivityEstimates>>;
  readonly sampling: Sampling;
  readonly antithetic: boolean;
  /** The name of the control variate, if there is one. */
  readonly control: string | undefined;
  readonly seed: bigint;
}

/**
 * Computes the discounted mean of a payoff over paths of a model, with its standard error, for one instance or a batch:
 *
 *   value = E[D(T)·payoff(path)],   standard error = √(Var/n)
 *
 * One kernel simulates paths from date to date; it is compiled once for all parameters of a shape. Random numbers
 * depend on instance, path and step only, and sums are formed by blocks in a fixed order: a seed gives the same bits on
 * any number of threads, and on every device that rounds equally (all but WebGPU).
 *
 * Shapes: parameters are numbers or columns [instances]; so are the results. A number out of bounds in a column fails
 * its instance, by `status` and `error`, and changes no other; one that stands for all instances is thrown.
 * Cost: about 30 ns per step of one asset of Black and Scholes on a core. Source: P. Glasserman, Monte Carlo Methods in
 * Financial Engineering (2004). Verified: test/montecarlo.
 *
 * @param settings model, product, dates, sampling, and the device; `onProgress` counts paths of instances.
 * @throws SpecError | ShapeError | PrecisionError | KernelError | NotPositiveDefiniteError | OutOfMemoryError; the
 *   signal's reason
 * @example
 * import { openDevice } from "feynkac/device";
 * import { asian, blackScholes, monteCarlo } from "feynkac/montecarlo";
 *
 * using device = await openDevice({ backend: "cpu", threads: 1 });
 * const model = blackScholes({ spot: 100, rate: 0.05, volatility: 0.2 });
 * const product = asian({ payoff: "call", strike: [95, 100, 105] });
 * const dates = Array.from({ length: 12 }, (_, k) => (k + 1) / 12);
 * const { value, errorEstimate } = await monteCarlo({ device, model, product, dates, accuracy: { absolute: 0.01 } });
 * console.log([...value].map((x) => x.toFixed(1)).join(" "), errorEstimate[0]! <= 0.01); // 9.2 6.2 3.9 true
 * @experimental
 */
export async function monteCarlo(settings: MonteCarloSettings): Promise<MonteCarloResult> {
  checkObject("monteCarlo", settings, "an object with model, product and dates");
  checkKeys("", settings, Object.keys(KNOWN));
  return withDevice(settings.device, settings, (device) => estimate(device, settings));
}

const KNOWN: Readonly<Record<keyof MonteCarloSettings, true>> = {
  device: true,
  model: true,
  product: true,
  dates: true,
  substeps: true,
  paths: true,
  accuracy: true,
  maxPaths: true,
  seed: true,
  sampling: true,
  scramblings: true,
  antithetic: true,
  control: true,
  sensitivities: true,
  sensitivityMethod: true,
  variants: true,
  measures: true,
  shifts: true,
  streams: true,
  precision: true,
  signal: true,
  onProgress: true,
};

async function estimate(device: Device, settings: MonteCarloSettings): Promise<MonteCarloResult> {
  const plan = planOf(settings);
  const { batch } = plan;
  const { valid } = plan.instances;
  const result = emptyResult(plan, settings);
  const accuracy = settings.accuracy;
  const limit = checkPaths("maxPaths", settings.maxPaths ?? 2 ** 24);
  const perBlock = pathsPerBlock(batch.shape);
  const first = Math.ceil(
    checkPaths("paths", settings.paths ?? (accuracy === undefined ? 2 ** 16 : 2 ** 12)) / perBlock,
  );
  const size = instancesPerPart(device, batch, first);
  const work = new WorkProgress(settings);
  work.expect(first * perBlock * valid.length);
  for (let from = 0; from < valid.length; from += size) {
    const members = valid.subarray(from, from + size);
    const count = members.length;
    using simulation = await Simulation.create(device, batch, members);
    const moments = new Moments(measuresOf(batch.shape), count * batch.shape.scramblings, momentsOf(batch.shape));
    let blocks = 0;
    let wanted = first;
    while (wanted > blocks) {
      await simulation.run(moments, blocks, wanted - blocks, (done) => work.done(done * perBlock * count));
      blocks = wanted;
      read(result, plan, moments, members);
      if (accuracy !== undefined) wanted = neededBlocks(result, accuracy, { members, blocks, perBlock, limit });
      work.expect(Math.max(wanted - blocks, 0) * perBlock * count);
    }
    for (const i of members) {
      result.paths[i] = blocks * perBlock;
      if (accuracy !== undefined)
        result.status[i] = result.errorEstimate[i] <= allowedOf(accuracy, i, result.value[i]) ? "reached" : "limit";
      if (!Number.isFinite(result.value[i] + result.standardError[i])) result.status[i] = "not-finite";
    }
  }
  return result;
}

/** The number of samples of all scramblings and reflections in a block. */
const pathsPerBlock = ({ scramblings, antithetic }: WalkShape): number => BLOCK * scramblings * (antithetic ? 2 : 1);

interface SimulationPlan {
  readonly instances: Instances;
  readonly batch: Batch;
  /** The names of the measures after the value. */
  readonly names: readonly string[];
  readonly scores: readonly string[];
  readonly method: SensitivityMethod;
  readonly control: Control | undefined;
  readonly controlMean: (variant: number, instance: number) => number;
}

function planOf(settings: MonteCarloSettings): SimulationPlan {
  const { model, product, dates, substeps = 1, sampling = "philox", antithetic = false } = settings;
  const failures = checkSettings(settings);
  const method = settings.sensitivityMethod ?? "bump";
  const sensitivities = settings.sensitivities ?? [];
  const scores = method === "likelihood-ratio" ? scoresOf(model, sensitivities) : [];
  const bumps = method === "likelihood-ratio" ? [] : bumpsOf(model, product, sensitivities, method);
  const control = controlOf(settings);
  const own: Paths = { model, product, control: control?.product, dates };
  const copies = copiesOf(settings, own);
  const measures = Object.entries(settings.measures ?? {});
  const variants =
    copies.length > 0
      ? givenVariants(
          [own, ...copies],
          measures.map(([, weights]) => weights),
        )
      : bumpedVariants(own, bumps, method);
  const instances = instancesIn(settings, [own, ...copies], variants, failures);
  const shape: WalkShape = {
    model,
    product,
    control: control?.product,
    substeps,
    sampling,
    isShifted: settings.shifts !== undefined,
    antithetic,
    variants: variants.model.length,
    measures: variants.weights.length,
    scores: scores.length === 0 ? 0 : (model.score?.names.length ?? 0),
    scramblings: sampling === "sobol" ? (settings.scramblings ?? 32) : 1,
    single: instances.valid.length === 1,
  };
  const batch: Batch = {
    shape,
    precision: settings.precision ?? "f64",
    seed: seedOf(settings.seed ?? 1),
    dates,
    variants,
    streams: Uint32Array.from({ length: instances.count }, (_, i) => settings.streams?.[i] ?? i),
    shifts: settings.shifts,
  };
  if (control !== undefined && typeof control.mean !== "function" && bumps.length > 0)
    throw new SpecError(
      `control.mean: got a column beside sensitivities by bumps, expected a function of the parameters: shifted ` +
        `ones have another mean; or ask for control: "none"`,
    );
  const means = [control, ...(settings.variants ?? []).map((one) => one.control)].map((one) => one?.mean ?? 0);
  const controlMean = (variant: number, i: number): number => {
    const mean = means[copies.length > 0 ? variant : 0];
    return typeof mean === "function" ? mean(variants.model[variant], variants.control[variant], i) : columnAt(mean, i);
  };
  const names = [...bumps.map(({ name }) => name), ...measures.map(([name]) => name)];
  return { instances, batch, names, scores, method, control, controlMean };
}

function controlOf({ control = "auto", model, product, dates, substeps = 1 }: MonteCarloSettings): Control | undefined {
  if (control === "none") return undefined;
  return control === "auto" ? recognisedControl(model, product, stepEnds(dates, substeps), dates) : control;
}

function scoresOf(model: PathModel, sensitivities: readonly string[]): readonly string[] {
  const known = model.score?.names ?? [];
  const unknown = sensitivities.find((name) => !known.includes(name));
  if (unknown !== undefined)
    throw new SpecError(
      `sensitivities: got "${unknown}" by likelihood ratio of the model "${model.name}", expected one of ` +
        (known.join(", ") || "none: it has no scores; use bumps"),
    );
  return sensitivities;
}

type Writable = { -readonly [K in keyof MonteCarloResult]: MonteCarloResult[K] } & {
  status: Status[];
};

function emptyResult(
  { instances, names: measures, scores, method, batch, control }: SimulationPlan,
  settings: MonteCarloSettings,
): Writable {
  const column = (): Float64Array => new Float64Array(instances.count);
  const unknown = (): Float64Array => column().fill(Number.NaN);
  const estimates = () => ({
    value: unknown(),
    standardError: unknown(),
    errorEstimate: unknown(),
    halfWidth: column(),
  });
  const names = [...measures, ...scores];
  return {
    ...estimates(),
    paths: column(),
    effectivePaths: column(),
    status: firstStatus(instances),
    error: instances.error,
    sensitivities: Object.fromEntries(names.map((name) => [name, { ...estimates(), method }])),
    sampling: batch.shape.sampling,
    antithetic: settings.antithetic ?? false,
    control: control?.name,
    seed: batch.seed,
  };
}

/** Estimates of some instances from their moments. */
function read(result: Writable, plan: SimulationPlan, moments: Moments, members: Uint32Array): void {
  const { batch, names, scores, controlMean } = plan;
  const { scramblings, measures, scores: scoreCount, product } = batch.shape;
  const { weights } = batch.variants;
  const meanOf = (measure: number, i: number): ControlMean =>
    controlMeanOf(
      (measure < measures ? weights[measure] : [1]).map((weight) => columnAt(weight, i)),
      (v) => controlMean(v, i),
    );
  const all = batch.shape.model.score?.names ?? [];
  const outputs: (readonly [SensitivityEstimates | MonteCarloResult, number])[] = [
    [result, 0],
    ...names.map((name, k) => [result.sensitivities[name], 1 + k] as const),
    ...scores.map((name) => [result.sensitivities[name], measures + all.indexOf(name)] as const),
  ];
  for (const [k, i] of members.entries()) {
    for (const [output, measure] of outputs) {
      const estimate = moments.estimate(measure, k, scramblings, meanOf(measure, i));
      output.value[i] = estimate.value;
      output.standardError[i] = estimate.standardError;
      output.errorEstimate[i] = estimate.errorEstimate;
      if (product.halfWidth !== undefined && measure < measures) {
        output.halfWidth[i] = halfWidthOf(moments, measures + scoreCount + measure, k, scramblings);
        output.errorEstimate[i] += output.halfWidth[i];
      }
      if (measure === 0) result.effectivePaths[i] = estimate.effective;
    }
  }
}

interface Round {
  readonly members: Uint32Array;
  readonly blocks: number;
  readonly perBlock: number;
  readonly limit: number;
}

/**
 * The number of blocks for which the errors of these instances would reach the accuracy, at least half as many again as
 * there are; twice as many with Sobol' points, which are best in powers of two.
 */
function neededBlocks(
  result: Writable,
  accuracy: Accuracy<Column>,
  { members, blocks, perBlock, limit }: Round,
): number {
  let factor = 1;
  for (const i of members) {
    const ratio = (result.errorEstimate[i] / allowedOf(accuracy, i, result.value[i])) ** 2;
    if (ratio < Infinity) factor = Math.max(factor, ratio);
  }
  if (factor <= 1) return blocks;
  const growth = result.sampling === "sobol" ? 2 : Math.max(1.5, 1.1 * factor);
  return Math.min(Math.ceil(blocks * growth), Math.max(blocks, Math.floor(limit / perBlock)));
}
