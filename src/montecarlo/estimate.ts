/** Estimates of a batch by Monte Carlo: the public call. */
import { type Device, withDevice } from "../device/index.ts";
import type { Accuracy } from "../base/accuracy.ts";
import { type FeynkacError, KernelError } from "../base/errors.ts";
import { checkObject, checkKeys } from "../base/argument-checks.ts";
import type { SensitivityMethod } from "./sensitivities.ts";
import { firstStatus, type Status } from "./instances.ts";
import { halfWidthOf, intervalWidth, Moments, unseenJumps } from "./moments.ts";
import type { Column } from "./parameters.ts";
import type { AdjointMoments } from "./paths/adjoint.ts";
import { BLOCK, type Sampling } from "./paths/shape.ts";
import { instancesPerPart, Simulation } from "./paths/simulation.ts";
import { measuresOf, momentsOf, type WalkShape } from "./paths/walk-shape.ts";
import { type MonteCarloSettings, planOf, type SimulationPlan } from "./plan.ts";
import { allowedOf, checkPaths } from "./settings.ts";
import { WorkProgress } from "../base/event-loop.ts";

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
  directions: true,
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
  if (!plan.isAdjoint) return estimateByTangents(device, settings, plan);
  try {
    return await estimateBy(device, settings, plan, { done: 0, total: 0 });
  } catch (error) {
    // Some functions have tangents alone, such as those whose loops end where the path says.
    if (!(error instanceof KernelError)) throw error;

    return estimateByTangents(device, settings, planOf(settings, "forward"));
  }
}

/** Estimates values and derivatives in forward mode, in several simulations if there are many derivatives. */
async function estimateByTangents(
  device: Device,
  settings: MonteCarloSettings,
  plan: SimulationPlan,
): Promise<MonteCarloResult> {
  const counted = { done: 0, total: 0 };
  if (plan.parts.length === 0) return estimateBy(device, settings, plan, counted);
  const results: MonteCarloResult[] = [];
  for (const part of plan.parts) results.push(await estimateBy(device, part, planOf(part, "forward"), counted));
  const all: MonteCarloResult["sensitivities"] = Object.assign({}, ...results.map((one) => one.sensitivities));
  return { ...results[0], sensitivities: all };
}

async function estimateBy(
  device: Device,
  settings: MonteCarloSettings,
  plan: SimulationPlan,
  counted: { done: number; total: number },
): Promise<MonteCarloResult> {
  const { batch, isAdjoint } = plan;
  const { valid } = plan.instances;
  const result = emptyResult(plan, settings);
  const accuracy = settings.accuracy;
  const limit = checkPaths("maxPaths", settings.maxPaths ?? 2 ** 24);
  const perBlock = pathsPerBlock(batch.shape);
  const first = Math.ceil(
    checkPaths("paths", settings.paths ?? (accuracy === undefined ? 2 ** 16 : 2 ** 12)) / perBlock,
  );
  const size = isAdjoint ? 1 : instancesPerPart(device, batch, first);
  const work = new WorkProgress(settings, counted);
  work.expect(first * perBlock * valid.length);
  for (let from = 0; from < valid.length; from += size) {
    const members = valid.subarray(from, from + size);
    const count = members.length;
    using simulation = isAdjoint
      ? await (await import("./paths/adjoint.ts")).AdjointSimulation.create(device, batch, members[0])
      : await Simulation.create(device, batch, members);
    const value = new Moments(measuresOf(batch.shape), count * batch.shape.scramblings, momentsOf(batch.shape));
    const moments = { value, slopes: isAdjoint ? new Moments(batch.variants.directions.length, 1, 2) : value };
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

type Writable = { -readonly [K in keyof MonteCarloResult]: MonteCarloResult[K] } & {
  status: Status[];
};

function emptyResult({ instances, measures, batch, control }: SimulationPlan, settings: MonteCarloSettings): Writable {
  const column = (): Float64Array => new Float64Array(instances.count);
  const unknown = (): Float64Array => column().fill(Number.NaN);
  const estimates = () => ({
    value: unknown(),
    standardError: unknown(),
    errorEstimate: unknown(),
    halfWidth: column(),
  });
  return {
    ...estimates(),
    paths: column(),
    effectivePaths: column(),
    status: firstStatus(instances),
    error: instances.error,
    sensitivities: Object.fromEntries(measures.map(({ name, method }) => [name, { ...estimates(), method }])),
    sampling: batch.shape.sampling,
    antithetic: settings.antithetic ?? false,
    control: control?.name,
    seed: batch.seed,
  };
}

/** Estimates of some instances from their moments. */
function read(result: Writable, plan: SimulationPlan, { value, slopes }: AdjointMoments, members: Uint32Array): void {
  const { scramblings, product } = plan.batch.shape;
  const outputs = [
    { ...plan.value, moments: value, output: result, jumps: false },
    // Derivatives along paths jump where payoffs have kinks.
    ...plan.measures.map((one) => ({
      ...one,
      moments: slopes,
      output: result.sensitivities[one.name],
      jumps: one.method === "pathwise",
    })),
  ];
  for (const [k, i] of members.entries()) {
    for (const { output, moments, at, widthAt, controlMean, jumps } of outputs) {
      const estimate = moments.estimate(at, k, scramblings, controlMean(i));
      output.value[i] = estimate.value;
      output.standardError[i] = estimate.standardError;
      output.errorEstimate[i] = estimate.errorEstimate;
      // Means of blocks are few samples.
      if (moments !== value) output.errorEstimate[i] = intervalWidth(moments.counts[k] - 1) * estimate.standardError;
      if (jumps && scramblings > 1) {
        const samples = scramblings * moments.counts[k * scramblings];
        output.errorEstimate[i] = Math.hypot(estimate.errorEstimate, unseenJumps(estimate, samples));
      }
      if (product.halfWidth !== undefined && widthAt !== undefined) {
        output.halfWidth[i] = halfWidthOf(moments, widthAt, k, scramblings);
        output.errorEstimate[i] += output.halfWidth[i];
      }
      if (at === 0) result.effectivePaths[i] = estimate.effective;
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
