/** Bermudan and American options by regression: the public call. */
import {
  type CallOptions,
  compileExact,
  type Device,
  type DeviceBuffer,
  createBufferOf,
  withDevice,
} from "../../device/index.ts";
import { type FeynkacError, ShapeError, SpecError } from "../../base/errors.ts";
import { checkObject, checkKeys } from "../../base/argument-checks.ts";
import { hostRealType, type Precision } from "../../kernel/index.ts";
import type { Control } from "../controls.ts";
import type { Estimates } from "../estimate.ts";
import { givenVariants, type Paths } from "../sensitivities.ts";
import { firstStatus, instancesIn, type Status } from "../instances.ts";
import type { PathModel } from "../model.ts";
import { type ControlMean, controlMeanOf, halfWidthOf, Moments } from "../moments.ts";
import { type Column, columnAt } from "../parameters.ts";
import { BLOCK, type Sampling } from "../paths/shape.ts";
import { Simulation } from "../paths/simulation.ts";
import { type Batch, preparedTable } from "../paths/table.ts";
import { BLOCKS_MERGED, mergeKernel } from "../paths/walk.ts";
import { measuresOf, momentsOf, type WalkShape } from "../paths/walk-shape.ts";
import type { PathProduct } from "../product.ts";
import { seedOf, seedWords } from "../../numerics/random/index.ts";
import { checkPaths, checkSettings } from "../settings.ts";
import { WorkProgress } from "../../base/event-loop.ts";
import { copiesOf, type Variant } from "../variants.ts";
import { type Basis, basisOf } from "./basis.ts";
import {
  BLOCKS_ADDED,
  addKernel,
  cashKernel,
  dueNumbers,
  recordKernel,
  scaleKernel,
  solveKernel,
  sumsOf,
  sweepKernel,
} from "./regression.ts";
import type { StoppingShape } from "./rule.ts";
import { type RuleOnDevice, type UpperBound, type UpperSettings, upperBound } from "./upper.ts";

/** The settings of `longstaffSchwartz`. @experimental */
export interface LongstaffSchwartzSettings extends CallOptions {
  readonly model: PathModel;
  /** The product, whose payoff is the exercise value at each date, unless it has early rights of its own. */
  readonly product: PathProduct;
  /** The exercise dates in years, increasing, without time 0. */
  readonly dates: readonly Column[];
  /** The number of model steps between dates, 1 by default. */
  readonly substeps?: number;
  /** The basis of the regression, "auto" by default: monomials and powers of the payoff, fewer with more variables. */
  readonly basis?: Basis;
  /**
   * The number of paths of the regression, 2¹⁴ by default, which are stored: 8·dates·(variables + 1) bytes each in f64.
   */
  readonly regressionPaths?: number;
  /**
   * The number of paths of the price, 2¹⁶ by default, independent of those of the regression; with 0 the regression's
   * paths price, too.
   */
  readonly paths?: number;
  /** True for antithetic paths of the price; false by default. */
  readonly antithetic?: boolean;
  /** The sampling of paths of the price: "philox", the default, or "sobol", in `scramblings` randomisations. */
  readonly sampling?: Sampling;
  /** The number of scramblings, 32 by default. */
  readonly scramblings?: number;
  /**
   * A control variate of the price: a discounted martingale, whose mean, a column, is its value today wherever the rule
   * ends a path.
   */
  readonly control?: Control;
  /**
   * Copies with other parameters, on the paths of the price. They are exercised where the first is, which is correct to
   * first order in their difference.
   */
  readonly variants?: readonly Variant[];
  /** The measures by name: linear combinations with weights of the value and of the value of each variant. */
  readonly measures?: Readonly<Record<string, readonly Column[]>>;
  /** Requests an upper bound by the method of Andersen and Broadie. */
  readonly upper?: UpperSettings | boolean;
  /** The seed, as in `monteCarlo`. */
  readonly seed?: number | bigint;
  readonly streams?: ArrayLike<number>;
  readonly precision?: Precision;
}

/**
 * The result of `longstaffSchwartz`. `errorEstimate` covers sampling only. What the rule loses against the best one
 * cannot be estimated from its own paths: `upper` bounds it.
 * @experimental
 */
export interface LongstaffSchwartzResult extends Estimates {
  /** True where `value` is computed on independent paths, so that its expectation lies below the price. */
  readonly isLowerBound: boolean;
  /** The effective number of paths of each instance, as in `monteCarlo`; 0 means that no path pays. */
  readonly effectivePaths: Float64Array;
  /** The outcome of each instance, as in `monteCarlo`: "fixed", "not-finite" or "error". */
  readonly status: readonly Status[];
  /** The errors of the instances whose status is "error", undefined of all others. */
  readonly error: readonly (FeynkacError | undefined)[];
  /** The estimates on the paths of the regression, biased upwards by foresight and downwards by the suboptimal rule. */
  readonly regression: Estimates;
  /** The number of paths of the price, including reflections. */
  readonly paths: number;
  readonly regressionPaths: number;
  /**
   * The condition numbers, [instances]: the largest bound over all dates of the condition number of the scaled normal
   * equations; that of the regression itself is its square root.
   */
  readonly condition: Float64Array;
  readonly upper: UpperBound | undefined;
  /** The measures by name. */
  readonly measures: Readonly<Record<string, Estimates>>;
  readonly seed: bigint;
}

const KNOWN: Readonly<Record<keyof LongstaffSchwartzSettings, true>> = {
  device: true,
  model: true,
  product: true,
  dates: true,
  substeps: true,
  basis: true,
  regressionPaths: true,
  paths: true,
  antithetic: true,
  sampling: true,
  scramblings: true,
  control: true,
  variants: true,
  measures: true,
  upper: true,
  seed: true,
  streams: true,
  precision: true,
  signal: true,
  onProgress: true,
};

/** The number of bytes of stored paths, at most. */
const RECORD_BYTES = 2 ** 28;

/**
 * Prices Bermudan options on any model and number of assets by the regression of Longstaff and Schwartz: at each date,
 * backwards, continuation values are least-squares fits of later cash flows by functions of the state, over paths in
 * the money; the holder exercises where the payoff is not below them.
 *
 *   β = argmin Σ (cash − Σ βⱼ·φⱼ(x))²,   by normal equations in variables standardised date by date
 *
 * The value applies the rule to independent paths, so that its expectation is a lower bound, whose bias vanishes as the
 * basis and the paths of the regression grow. `upper` brackets the price. American options are the limit of many dates.
 * Exercise at time 0 is not considered: compare with the payoff.
 *
 * Shapes: parameters are numbers or columns [instances]; so are the results. A number out of bounds in a column fails
 * its instance, as in `monteCarlo`. Cost: paths·dates·30 ns on a core for one asset. Source: F. A. Longstaff and E. S.
 * Schwartz, Review of Financial Studies 14 (2001); L. Andersen and M. Broadie, Management Science 50 (2004). Verified:
 * test/montecarlo/stopping.test.ts.
 *
 * @param settings model, product, dates, basis, numbers of paths, and the device; `onProgress` counts paths of
 * instances.
 * @throws SpecError | ShapeError | PrecisionError | KernelError | OutOfMemoryError; the signal's reason
 * @example
 * import { openDevice } from "feynkac/device";
 * import { blackScholes, european, longstaffSchwartz } from "feynkac/montecarlo";
 *
 * using device = await openDevice({ backend: "cpu", threads: 1 });
 * const model = blackScholes({ spot: 36, rate: 0.06, volatility: 0.2 });
 * const product = european({ payoff: "put", strike: 40 });
 * const dates = Array.from({ length: 50 }, (_, k) => (k + 1) / 50);
 * const { value } = await longstaffSchwartz({ device, model, product, dates });
 * console.log(value[0]!.toFixed(1)); // 4.5
 * @experimental
 */
export async function longstaffSchwartz(settings: LongstaffSchwartzSettings): Promise<LongstaffSchwartzResult> {
  checkObject("longstaffSchwartz", settings, "an object with model, product and dates");
  checkKeys("", settings, Object.keys(KNOWN));
  return withDevice(settings.device, settings, (device) => estimate(device, settings));
}

async function estimate(device: Device, settings: LongstaffSchwartzSettings): Promise<LongstaffSchwartzResult> {
  const { model, product, dates, paths: wanted = 2 ** 16, antithetic = false, sampling = "philox" } = settings;
  const failures = checkSettings(settings);
  if (typeof settings.control?.mean === "function")
    throw new SpecError("control.mean: got a function, expected a number or a column, of the value today");
  if (dates.length < 2)
    throw new ShapeError(`dates: got ${dates.length}, expected at least two: one date is a European option`);
  if (product.right !== undefined && settings.upper !== undefined && settings.upper !== false)
    throw new SpecError("upper: expected none for a product with early rights of its own, whose bound is not known");
  const basis = basisOf(settings.basis ?? { kind: "auto" }, model, product);
  const own: Paths = { model, product, control: settings.control?.product, dates };
  const weights = Object.entries(settings.measures ?? {});
  const all = [own, ...copiesOf(settings, own)];
  const variants = givenVariants(
    all,
    weights.map(([, each]) => each),
  );
  const instances = instancesIn(settings, all, variants, failures);
  const { valid } = instances;
  const regressionPaths = BLOCK * Math.ceil(checkPaths("regressionPaths", settings.regressionPaths ?? 2 ** 14) / BLOCK);
  if (wanted !== 0) checkPaths("paths", wanted);
  const scramblings = sampling === "sobol" ? (settings.scramblings ?? 32) : 1;
  const perBlock = BLOCK * scramblings * (antithetic ? 2 : 1);
  const blocks = Math.ceil(wanted / perBlock);
  const precision = settings.precision ?? "f64";
  const seed = seedOf(settings.seed ?? 1);
  const common = { model, product, substeps: settings.substeps ?? 1, single: valid.length === 1 };
  const shape: StoppingShape = { ...common, control: undefined, sampling: "philox", basis };
  const streams = Uint32Array.from({ length: instances.count }, (_, i) => settings.streams?.[i] ?? i);
  const price: Batch = {
    shape: {
      ...common,
      control: own.control,
      sampling,
      basis,
      antithetic,
      scramblings,
      variants: variants.model.length,
      sharing: variants.sharing,
      measures: variants.weights.length,
      slopes: 0,
      scores: 0,
    },
    precision,
    seed,
    dates,
    variants,
    streams,
  };
  const column = (): Float64Array => new Float64Array(instances.count).fill(Number.NaN);
  const estimates = () => ({ value: column(), standardError: column(), errorEstimate: column() });
  const [regression, upper, condition, effectivePaths] = [estimates(), estimates(), column(), column()];
  const measures = [undefined, ...weights].map(estimates);
  const base = givenVariants([{ ...own, control: undefined }], []);
  const means = [settings.control, ...(settings.variants ?? []).map((one) => one.control)].map((one) => one?.mean ?? 0);
  const meanOf = (measure: number, i: number): ControlMean =>
    controlMeanOf(
      variants.weights[measure].map((weight) => columnAt(weight, i)),
      (v) => columnAt(means[v] as Column, i),
    );
  const perInstance = 8 * regressionPaths * dates.length * (basis.variables + dueNumbers({ product }));
  const size = Math.max(1, Math.floor(RECORD_BYTES / perInstance));
  const work = new WorkProgress(settings);
  const status = firstStatus(instances);
  work.expect(valid.length * (regressionPaths + blocks * perBlock));
  for (let from = 0; from < valid.length; from += size) {
    const members = valid.subarray(from, from + size);
    const count = members.length;
    const element = hostRealType(precision);
    using table = await preparedTable(device, { shape, precision, dates, variants: base }, members);
    using ofEach = createBufferOf(
      device,
      "u32",
      members.map((i) => streams[i]),
    );
    using betas = device.createBuffer(element, dates.length * basis.count * count);
    using scales = device.createBuffer(element, 2 * dates.length * basis.variables * count);
    using none = device.createBuffer(element, 1);
    const sizes = { device, shape, precision, seed, dates: dates.length, instances: count };
    const calculation: RuleOnDevice = { ...sizes, table, streams: ofEach, betas, scales, none, work };
    const fitted = await regress(calculation, regressionPaths);
    members.forEach((i, k) => (condition[i] = fitted.condition[k]));
    await work.done(regressionPaths * count);
    store([regression], fitted.moments, { series: 1, members });
    const moments = blocks === 0 ? fitted.moments : await follow(calculation, price, blocks, perBlock, members);
    const series = blocks === 0 ? 1 : scramblings;
    if (blocks === 0) store(measures.slice(0, 1), moments, { series, members });
    else store(measures, moments, { series, members, meanOf, widthsFrom: widthsOf(price.shape) });
    members.forEach((i, k) => (effectivePaths[i] = moments.estimate(0, k, series).effective));
    if (settings.upper !== undefined && settings.upper !== false) {
      const bound = await upperBound(calculation, settings.upper === true ? {} : settings.upper, measures[0], members);
      for (const name of ["value", "standardError", "errorEstimate"] as const)
        members.forEach((i, k) => (upper[name][i] = bound[name][k]));
    }
    const { value, standardError } = measures[0];
    for (const i of members) if (!Number.isFinite(value[i] + standardError[i])) status[i] = "not-finite";
  }
  return {
    ...measures[0],
    isLowerBound: blocks > 0,
    effectivePaths,
    status,
    error: instances.error,
    regression,
    paths: blocks * perBlock,
    regressionPaths,
    condition,
    upper: settings.upper === undefined || settings.upper === false ? undefined : upper,
    measures: Object.fromEntries(weights.map(([name], m) => [name, measures[m + 1]])),
    seed,
  };
}

/** Instances of a part, whose moments are in their order. */
interface Part {
  /** The number of randomisations of each instance. */
  readonly series: number;
  readonly members: Uint32Array;
  /** The known mean of the control. */
  readonly meanOf?: (measure: number, instance: number) => ControlMean;
  /** The first of the measures of half widths, if the product has them. */
  readonly widthsFrom?: number | undefined;
}

const widthsOf = ({ product, measures, scores }: WalkShape): number | undefined =>
  product.halfWidth === undefined ? undefined : measures + scores;

function store(to: readonly Estimates[], moments: Moments, { series, members, meanOf, widthsFrom }: Part): void {
  to.forEach((one, measure) => {
    for (const [k, i] of members.entries()) {
      const { value, standardError, errorEstimate } = moments.estimate(measure, k, series, meanOf?.(measure, i));
      one.value[i] = value;
      one.standardError[i] = standardError;
      const width = widthsFrom === undefined ? 0 : halfWidthOf(moments, widthsFrom + measure, k, series);
      one.errorEstimate[i] = errorEstimate + width;
    }
  });
}

/** Stores paths, and goes back through the dates: coefficients and scales are left on the device. */
async function regress(calculation: RuleOnDevice, paths: number) {
  const { device, shape, precision, seed, dates, instances, table, streams, betas, scales, none, work } = calculation;
  const { basis } = shape;
  const element = hostRealType(precision);
  const blocks = paths / BLOCK;
  const groups = Math.ceil(blocks / BLOCKS_ADDED);
  const sumCount = sumsOf(basis.count);
  const [record, scale, sweep, add, solve] = [
    await compileExact(device, recordKernel(shape), precision),
    await compileExact(device, scaleKernel(basis.variables, dueNumbers(shape), basis.standardised), precision),
    await compileExact(device, sweepKernel(shape), precision),
    await compileExact(device, addKernel, precision),
    await compileExact(device, solveKernel(basis.count), precision),
  ];
  using stored = device.createBuffer(element, dates * (basis.variables + dueNumbers(shape)) * paths * instances);
  using cash = device.createBuffer(element, paths * instances);
  using sums = device.createBuffer(element, sumCount * blocks * instances);
  using added = device.createBuffer(element, sumCount * groups * instances);
  using conditions = device.createBuffer(element, dates * instances);
  const words = { ...seedWords(seed), purpose: 1 };
  const sizes = { dates, paths, instances };
  device.launch(record, { ...words, ...sizes, table, streams, none, record: stored }, { items: paths * instances });
  device.launch(scale, { paths, instances, record: stored, scales }, { items: dates * instances });
  const tiny = precision === "f32" ? 1e-5 : 1e-11;
  for (let date = dates - 1; date >= 0; date--) {
    const place = { date, isLast: date === dates - 1, isFirst: date === 0, blocks, instances };
    device.launch(sweep, { ...place, record: stored, betas, scales, cash, sums }, { items: blocks * instances });
    if (date === 0) break;
    device.launch(add, { blocks, groups, instances, sums, added }, { items: sumCount * groups * instances });
    device.launch(solve, { date: date - 1, groups, instances, tiny, added, betas, conditions }, { items: instances });
    await device.finish();
    await work.yieldIfDue();
  }
  const moments = new Moments(1, instances, 2);
  const cashMoments = await compileExact(device, cashKernel, precision);
  using each = device.createBuffer(element, 2 * blocks * instances);
  const itemCount = blocks * instances;
  device.launch(cashMoments, { cash, itemCount, moments: each }, { items: itemCount });
  await mergeInto(calculation, moments, each, blocks);
  const all = await device.read(conditions);
  const condition = new Float64Array(instances);
  all.forEach((x, at) => (condition[at % instances] = Math.max(condition[at % instances], x)));
  return { moments, condition };
}

/** Merges moments of blocks on the device, reads them, and merges the rest. */
async function mergeInto(
  { device, precision, instances }: RuleOnDevice,
  moments: Moments,
  from: DeviceBuffer,
  blocks: number,
): Promise<void> {
  const merge = await compileExact(device, mergeKernel(2, 1, BLOCKS_MERGED), precision);
  const groups = Math.ceil(blocks / BLOCKS_MERGED);
  const mergedCount = groups * instances;
  using merged = device.createBuffer(hostRealType(precision), 2 * mergedCount);
  const sizes = { series: instances, blocks, itemCount: blocks * instances, mergedCount };
  device.launch(merge, { ...sizes, from, merged }, { items: mergedCount });
  const values = await device.read(merged);
  for (let g = 0; g < groups; g++)
    moments.merge(values, g * instances, mergedCount, BLOCK * Math.min(BLOCKS_MERGED, blocks - g * BLOCKS_MERGED));
}

/** Estimates what the rule earns on paths of its own. */
async function follow(
  { device, betas, scales, instances, work }: RuleOnDevice,
  batch: Batch,
  blocks: number,
  perBlock: number,
  members: Uint32Array,
): Promise<Moments> {
  const { shape } = batch;
  const moments = new Moments(measuresOf(shape), instances * shape.scramblings, momentsOf(shape));
  using simulation = await Simulation.create(device, batch, members, { betas, scales });
  await simulation.run({ value: moments }, 0, blocks, (done) => work.done(done * perBlock * instances));
  return moments;
}
