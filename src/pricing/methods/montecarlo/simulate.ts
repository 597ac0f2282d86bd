/** Computes the values of requests by the path engine; requests of one shape are simulated together. */
import type { SensitivityFormula } from "../../../base/differences.ts";
import type { Device } from "../../../device/index.ts";
import { type FeynkacError, SpecError } from "../../../base/errors.ts";
import {
  type Basis,
  type Estimates,
  longstaffSchwartz,
  monteCarlo,
  type MonteCarloResult,
  type Variant,
} from "../../../montecarlo/index.ts";
import { payoffAt } from "../../equations/equation.ts";
import { WARNING } from "../../columns/result-columns.ts";
import { type Bias, withBias } from "../../plan/differences.ts";
import { keyOf } from "../../../base/memoize.ts";
import { grouped, type Measured, type Request, type RequestSettings, targetOf, together } from "../../plan/request.ts";
import { isExercisable, type Terms } from "../../terms.ts";
import { datesOf, isEarly, type SimulationInstance } from "./acceptance.ts";
import {
  boundedSteps,
  STEP_GROWTH,
  needsBrownianBridge,
  mostSteps,
  productKey,
  productOf,
  scaleOf,
  stepsOf,
} from "./product.ts";
import { controlKind, type ControlKind, controlOf } from "./control.ts";
import { errorOf, leverageError, reversionError, sensitivityError, stepBias } from "./error.ts";
import { exactEstimate, exactMeasures, outOfTime, type PathEstimate } from "./without-paths.ts";
import { endsOf, findLeverages, hasLeverage, modelKey, modelOf, substepsOf } from "./spot-model.ts";
import { type Shift, shiftOf } from "./shift.ts";
import * as stepping from "./steps.ts";

/** The number of paths to begin with: fewer would do for most values, but not for their second differences. */
const FIRST_PATHS = 2 ** 12;

const pathsOfLevel = (level: number): number => FIRST_PATHS * 2 ** level;

/** Sobol' points in so many scramblings, where a path takes no more numbers than there are dimensions. */
const SCRAMBLINGS = 16;
const MAX_DIMENSIONS = 2 ** 14;
const POINTS = { sampling: "sobol", scramblings: SCRAMBLINGS } as const;

/** The paths from which the rule of early exercise is estimated, and below them those of the price. */
const RULE_PATHS = 2 ** 14;
const PRICE_PATHS = 2 ** 14;

/**
 * Computes the values of requests by Monte Carlo and stores them in the requests. `streamOf` returns the random stream
 * of the trade with an index. @throws the signal's reason; the error of a lost device
 */
export async function simulate(
  device: Device,
  requests: readonly Request<PathEstimate>[],
  streamOf: (trade: number) => number,
  settings: RequestSettings,
): Promise<void> {
  const jobs = requests.flatMap((request) => {
    const { terms, spots, differences, estimate } = request;
    if (estimate?.measures !== undefined) return [];
    const known = exactEstimate(terms, spots[0]);
    if (known === undefined) return [jobOf(request, streamOf(request.trade), estimate?.steps?.fineness)];
    request.estimate = differences === undefined ? known : { ...known, measures: exactMeasures(known, differences) };
    return [];
  });
  for (let open = jobs; open.length > 0; open = open.flatMap((job) => withFinerSteps(job, settings)))
    await simulateJobs(device, open, settings);
}

async function simulateJobs(device: Device, jobs: readonly Job[], settings: RequestSettings): Promise<void> {
  for (const group of grouped(jobs, keyOfJob)) {
    // A leverage that cannot be found fails its own trades.
    for (const job of hasLeverage(group[0].path) ? group : [])
      await together([job], requestOf, settings, () => findLeverages(device, [job.path, ...job.copies], settings));
    const open = group.filter(({ request }) => request.failure === undefined);
    const work = isEarly(group[0].path.terms) ? stop : estimate;
    if (open.length > 0) await together(open, requestOf, settings, (some) => work(device, some, settings));
  }
}

const requestOf = ({ request }: Job): Job["request"] => request;

/** A request with what decides which kernel simulates it. */
interface Job {
  readonly request: Request<PathEstimate>;
  readonly path: SimulationInstance;
  /**
   * Copies on the same random numbers, and what is measured on them: moved ones, if sensitivities are to be found (once
   * the value is as good as it gets, or with a rule), or ones with longer steps, if their error is not known.
   */
  readonly copies: readonly SimulationInstance[];
  readonly measures: readonly SensitivityFormula[];
  /** The fineness of the steps of paths whose scheme is not exact. */
  readonly fineness: number;
  /** The stream of random numbers; paths of one stream have the same random numbers. */
  readonly stream: number;
  readonly substeps: number;
  readonly control: ControlKind;
  /** The shift of each normal number of each step, see `shiftOf`. */
  readonly shifts: Shift | undefined;
}

/** The measures of the error of steps, between paths and coarser ones. */
const STEPS = { double: "steps 2", fourfold: "steps 4" } as const;

/** Returns the job of a request. @param known the fineness of its steps, if their error is known @param trial to try */
function jobOf(request: Request<PathEstimate>, stream: number, known: number | undefined, trial = 0): Job {
  const { terms, spots, differences, estimate, level } = request;
  const dates = datesOf(terms);
  const fineness = known ?? trial;
  const isStepped = stepping.usesLocalDiffusions(terms);
  const substeps = isStepped
    ? Math.max(stepping.stepsBetween(terms, dates), stepsOf(terms)) * 2 ** fineness
    : Math.max(substepsOf(terms, dates.length), stepsOf(terms), boundedSteps(terms, fineness, pathsOfLevel(level)));
  const steps = isStepped ? stepping.stepsOf(terms, dates, substeps) : undefined;
  const path: SimulationInstance = { terms, spots: spots[0], dates, ...(steps && { steps }) };
  const moved = (differences?.copies ?? []).map((copy): SimulationInstance => {
    // No date passes within the step of theta, and paths with as many dates use the same random numbers.
    const years = terms.expiry - copy.terms.expiry;
    if (years === 0) return { ...path, ...copy };
    const later = steps && { steps: stepping.rollSteps(steps, years) };
    return { ...copy, dates: dates.map((date) => date - years), ...later };
  });
  const shifts = shiftOf(path, endsOf(path, substeps));
  const kinds = [path, ...moved].map((one) => controlKind(one, shifts !== undefined));
  const control = kinds.every((kind) => kind === kinds[0]) ? kinds[0] : "none";
  const common = { request, path, stream, substeps, control, shifts, fineness };
  if (steps !== undefined && known === undefined && !stepping.isExactInSteps(terms))
    return onCoarserSteps(common, steps);
  const isFinal = isEarly(terms) || (estimate?.level === level && trial === 0);
  return isFinal ? { ...common, copies: moved, measures: differences?.formulas ?? [] } : { ...common, ...NO_COPIES };
}

const NO_COPIES = { copies: [], measures: [] } as const;

function onCoarserSteps(job: Omit<Job, "copies" | "measures">, steps: stepping.Steps): Job {
  const copies = [2, 4].map((kept) => ({
    ...job.path,
    steps: stepping.withFrozenDiffusion(steps, kept, needsBrownianBridge(job.path.terms)),
  }));
  const measures = [
    { name: STEPS.double, weights: [1, -1, 0] },
    { name: STEPS.fourfold, weights: [0, 1, -1] },
  ];
  return { ...job, copies, measures };
}

/** The share of the accuracy that steps may take of it, and the most steps of a path. */
const SHARE = 1 / 3;
const MOST_STEPS = 1024;

/**
 * Returns the job with more steps if the error of its steps is too large, or if the bounds of its value are further
 * apart than the noise and than a part of the accuracy; else none.
 */
function withFinerSteps(
  { request, path, stream, substeps, fineness, measures }: Job,
  settings: RequestSettings,
): Job[] {
  const { estimate, failure, terms, trade, level } = request;
  const isStepped = stepping.usesLocalDiffusions(terms);
  const isTrial = isStepped ? measures.some(({ name }) => name === STEPS.double) : measures.length === 0;
  if (!isTrial || failure !== undefined || estimate === undefined) return [];
  const { halfWidth = 0, errors, steps } = estimate;
  const target = targetOf(terms, settings.accuracy);
  const isTight = halfWidth <= Math.max(0.5 * (errors[0] - halfWidth), 0.05 * target);
  if (isTight && (steps?.bias ?? 0) <= SHARE * target) return [];
  const most = isStepped ? MOST_STEPS / path.dates.length : mostSteps(pathsOfLevel(level));
  const by = isStepped ? 1 : STEP_GROWTH;
  if (substeps * 2 ** by > most) return [];
  if (settings.budget.allowsTimes(trade, 2 ** by)) return [jobOf(request, stream, undefined, fineness + by)];
  request.estimate = outOfTime(estimate);
  return [];
}

function keyOfJob({
  request: { level },
  path: { terms, dates },
  copies,
  measures,
  control,
  shifts,
  substeps,
}: Job): string {
  const shape = [isEarly(terms), control, shifts !== undefined, dates.length, substeps, level];
  const measured = measures.map(({ name, weights }) => [name, weights.length]);
  const moved = copies.map((copy) => [copy.dates.length, modelKey(copy.terms), productKey(copy.terms)]);
  return keyOf([modelKey(terms), productKey(terms), shape, measured, moved]);
}

/** The settings of a group that both engines take. */
function settingsOf(group: readonly Job[], { precision, seed, signal }: RequestSettings) {
  const [{ substeps, control }] = group;
  const paths = group.map(({ path }) => path);
  return {
    ...pathsOf(paths, substeps, control, paths[0].terms),
    substeps,
    seed,
    streams: group.map(({ stream }) => stream),
    precision,
    ...(signal === undefined ? {} : { signal }),
  };
}

/**
 * The model, product, control variate and dates of paths. A control that is not given is left out: none is recognised.
 */
type PathSettings = Pick<Variant, "model" | "product" | "control"> & { readonly dates: readonly Float64Array[] };

const pathsOf = (
  paths: readonly SimulationInstance[],
  substeps: number,
  kind: ControlKind,
  original: Terms,
): PathSettings => {
  const control = controlOf(paths, substeps, kind);
  return {
    model: modelOf(paths, substeps),
    product: productOf(paths, original),
    dates: paths[0].dates.map((_, k) => Float64Array.from(paths, ({ dates }) => dates[k])),
    ...(control === undefined ? {} : { control }),
  };
};

/** The sums that copies of known value add to each measure, and the variants that are left to simulate. */
interface SimulatedCopies {
  readonly variants: readonly Variant[];
  readonly measures: Readonly<Record<string, readonly Float64Array[]>>;
  readonly added: ReadonlyMap<string, Float64Array>;
}

/** The moved copies of a group's paths, and what their values are multiplied by. */
function copiesOf(group: readonly Job[]): SimulatedCopies | undefined {
  const [{ copies, substeps, control, measures: asked }] = group;
  if (asked.length === 0) return undefined;
  const all = group.map((job) => [job.path, ...job.copies]);
  const known = all.map((paths) => paths.map(({ terms, spots }) => exactEstimate(terms, spots)?.values[0]));
  const scales = all.map((paths, i) => paths.map((path, v) => (known[i][v] === undefined ? scaleOf(path) : 0)));
  const variants = copies.map((_, v) => {
    // Paths of a copy whose value is known are not looked at.
    const paths = all.map((some, i) => (known[i][v + 1] === undefined ? some[v + 1] : some[0]));
    return pathsOf(paths, substeps, control, group[0].path.terms);
  });
  const weightOf = (i: number, m: number, v: number): number => group[i].measures[m].weights[v];
  const measures: Record<string, Float64Array[]> = {};
  const added = new Map<string, Float64Array>();
  asked.forEach(({ name, weights }, m) => {
    measures[name] = weights.map((_, v) => Float64Array.from(group, (_one, i) => weightOf(i, m, v) * scales[i][v]));
    const sums = known.map((values, i) => values.reduce<number>((sum, x, v) => sum + weightOf(i, m, v) * (x ?? 0), 0));
    added.set(name, Float64Array.from(sums));
  });
  return { variants, measures, added };
}

/** What moves leave in the sensitivities of a job; nothing of other measures. */
const biasOf = ({ request: { differences }, measures }: Job): Bias | undefined =>
  measures === differences?.formulas ? differences.bias : undefined;

/** The measures of entry i of a group. */
function measuresOf(
  { added }: SimulatedCopies,
  found: Readonly<Record<string, Estimates & { readonly halfWidth?: Float64Array }>>,
  freedom: number,
  bias: Bias | undefined,
  i: number,
): ReadonlyMap<string, Measured> {
  const sampled = Array.from(added, ([name, sums]): [string, Measured] => {
    const { value, standardError, halfWidth } = found[name];
    const error = sensitivityError(standardError[i], freedom) + (halfWidth?.[i] ?? 0);
    return [name, { value: value[i] + sums[i], error }];
  });
  return withBias(new Map(sampled), bias);
}

/** Estimates values, and then sensitivities, on as many paths as the level says: others of the group do not matter. */
async function estimate(device: Device, group: readonly Job[], common: RequestSettings): Promise<void> {
  const settings = settingsOf(group, common);
  const copies = copiesOf(group);
  const { normals, uniforms } = settings.model;
  const numbers = normals + uniforms + (settings.product.uniforms ?? 0);
  const isSobol = settings.dates.length * settings.substeps * numbers <= MAX_DIMENSIONS;
  const [{ shifts, request: first }] = group;
  const result = await monteCarlo({
    device,
    control: "none",
    ...settings,
    ...(isSobol ? POINTS : {}),
    paths: pathsOfLevel(first.level),
    ...(shifts === undefined ? {} : { shifts: shiftColumns(group) }),
    ...(copies === undefined ? {} : { variants: copies.variants, measures: copies.measures }),
  });
  const freedom = isSobol ? SCRAMBLINGS - 1 : Infinity;
  group.forEach((job, i) => {
    const found = copies && measuresOf(copies, result.sensitivities, freedom, biasOf(job), i);
    job.request.failure = failureOf(result, i);
    job.request.estimate = answerOf(job, estimateOf(job, result, freedom, i), found, common);
  });
}

/** Returns the answer to a request: its estimate, with what is measured, and with the error of steps. */
function answerOf(
  { request, path, substeps, fineness, measures: asked }: Job,
  estimate: PathEstimate,
  measures: ReadonlyMap<string, Measured> | undefined,
  { accuracy }: RequestSettings,
): PathEstimate {
  const { terms, level } = request;
  const target = targetOf(terms, accuracy);
  const isTrial = asked.some(({ name }) => name === STEPS.double);
  const before = request.estimate?.steps;
  const isFiner = fineness > (before?.fineness ?? 0);
  const found = isTrial ? stepBias(terms, measures!.get(STEPS.double)!, measures!.get(STEPS.fourfold)!) : 0;
  const steps = isTrial || isFiner ? { fineness, bias: found, limit: WARNING.stepsLimited } : before;
  const leverage = leverageError(path);
  const reversion = reversionError(path, endsOf(path, substeps));
  // An error that more paths do not reduce, and that is no small part of the accuracy, is not for them to reduce.
  const isSmall = steps === undefined || steps.bias <= 0.5 * target;
  const stepError = steps?.bias ?? 0;
  return {
    ...estimate,
    errors: estimate.errors.map((error) => error + (isSmall ? stepError : 0)),
    bias: leverage + reversion + (isSmall ? 0 : stepError),
    warnings:
      (leverage > target ? WARNING.leverageBias : 0) |
      (reversion > target ? WARNING.stepsLimited : 0) |
      (isSmall ? 0 : steps.limit),
    level,
    ...(steps && { steps }),
    ...(measures === undefined || isTrial ? {} : { measures }),
  };
}

/** Returns why an instance has no value. */
const failureOf = (
  { status, error }: Pick<MonteCarloResult, "status" | "error">,
  i: number,
): FeynkacError | undefined =>
  status[i] === "not-finite"
    ? new SpecError("value: not finite on some path; the volatility may grow without bound")
    : error[i];

/** The shifts of all paths, by step and normal number. */
const shiftColumns = (group: readonly Job[]) =>
  group[0].shifts![0].map((_, j) => ({
    byStep: group[0].shifts!.map((_step, n) => Float64Array.from(group, ({ shifts }) => shifts![n][j])),
  }));

/** How the samples of a job are made, of which their error depends. */
const sampledAs = ({ path, substeps, control }: Job) => ({
  ends: endsOf(path, substeps),
  isControlled: control === "underlyings",
});

function estimateOf(job: Job, result: MonteCarloResult, freedom: number, i: number): PathEstimate {
  const { path } = job;
  const scale = scaleOf(path);
  const value = scale * result.value[i];
  const standardError = scale * result.standardError[i];
  const samples = { value, standardError, paths: result.paths[i], effective: result.effectivePaths[i] };
  const error = errorOf(path, { ...samples, freedom, ...sampledAs(job) });
  const halfWidth = scale * result.halfWidth[i];
  return { values: [value], errors: [error + halfWidth], method: "montecarlo", isSampled: true, halfWidth };
}

/** Early exercise by regression: a lower bound in the mean, which the regression's own value is compared with. */
async function stop(device: Device, group: readonly Job[], common: RequestSettings): Promise<void> {
  const copies = copiesOf(group);
  const result = await longstaffSchwartz({
    device,
    ...settingsOf(group, common),
    ...POINTS,
    basis: basisOf(group[0].path),
    regressionPaths: RULE_PATHS,
    paths: PRICE_PATHS,
    ...(copies === undefined ? {} : { variants: copies.variants, measures: copies.measures }),
  });
  group.forEach((job, i) => {
    const { request, path } = job;
    const now = isExercisable(path.terms) ? payoffAt(path.terms, path.spots) : Number.NEGATIVE_INFINITY;
    const { value, standardError, regression, paths, effectivePaths } = result;
    request.failure = failureOf(result, i);
    // Both are off the price in opposite directions, but for noise.
    const gap = Math.abs(regression.value[i] - value[i]);
    const samples = { value: value[i], standardError: standardError[i], paths, effective: effectivePaths[i] };
    const error = errorOf(path, { ...samples, freedom: SCRAMBLINGS - 1, ...sampledAs(job) });
    const errors = [error + gap];
    const estimate = { values: [Math.max(value[i], now)], errors, method: "montecarlo", isSampled: true } as const;
    const found = copies && measuresOf(copies, result.measures, SCRAMBLINGS - 1, biasOf(job), i);
    request.estimate = answerOf(job, estimate, found, common);
  });
}

/** Payoffs of the largest and the smallest depend on spots by their order. */
const basisOf = ({ terms: { payoff } }: SimulationInstance): Basis => {
  const isOrdered = payoff.kind === "basket" && (payoff.of === "max" || payoff.of === "min");
  return { kind: "auto", order: isOrdered ? "descending" : "as-given" };
};
