/** Computes the values of requests by the path engine; requests of one shape are simulated together. */
import type { Device } from "../../../device/index.ts";
import { type FeynkacError, SpecError } from "../../../base/errors.ts";
import { type Basis, longstaffSchwartz, monteCarlo, type MonteCarloResult } from "../../../montecarlo/index.ts";
import { payoffAt } from "../../equations/equation.ts";
import { WARNING } from "../../columns/result-columns.ts";
import { grouped, type Measured, type Request, type RequestSettings, targetOf, together } from "../../plan/request.ts";
import { isExercisable } from "../../terms.ts";
import { isEarly, type SimulationInstance } from "./acceptance.ts";
import { errorOf, leverageError, reversionError, type SampleStatistics, stepBias, unseenByFew } from "./error.ts";
import { type Job, jobOf, keyOfJob, pathsOfLevel, STEPS } from "./job.ts";
import { measuresOfGroup, measuresOfJob, pathsOf } from "./measures.ts";
import { rightToday, scriptBasis } from "./script-product.ts";
import { mostSteps, scaleOf, STEP_GROWTH } from "./product.ts";
import { endsOf, findLeverages, hasLeverage } from "./spot-model.ts";
import * as stepping from "./steps.ts";
import { exactEstimate, exactMeasures, outOfTime, sensitivitiesOf, type PathEstimate } from "./without-paths.ts";

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
    const { terms, spots, differences, estimate, level } = request;
    if (estimate?.measures !== undefined && estimate.level === level) return [];
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
      await together([job], requestOf, settings, () =>
        findLeverages(device, [job.path, ...job.copies.map(({ path }) => path)], settings),
      );
    const open = group.filter(({ request }) => request.failure === undefined);
    const work = isEarly(group[0].path.terms) ? stop : estimate;
    if (open.length > 0) await together(open, requestOf, settings, (some) => work(device, some, settings));
  }
}

const requestOf = ({ request }: Job): Job["request"] => request;

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

/** The settings of a group that both engines take. */
function settingsOf(group: readonly Job[], { precision, seed, signal }: RequestSettings) {
  const [{ substeps, control }] = group;
  const paths = group.map(({ path }) => path);
  return {
    ...pathsOf(paths, { substeps, kind: control, original: paths[0].terms }),
    substeps,
    seed,
    streams: group.map(({ stream }) => stream),
    precision,
    ...(signal === undefined ? {} : { signal }),
  };
}

/** Estimates values, and then sensitivities, on as many paths as the level says: others of the group do not matter. */
async function estimate(device: Device, group: readonly Job[], common: RequestSettings): Promise<void> {
  const settings = settingsOf(group, common);
  const measures = measuresOfGroup(group, settings);
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
    ...(measures && { variants: measures.variants, measures: measures.weights, directions: measures.directions }),
  });
  const freedom = isSobol ? SCRAMBLINGS - 1 : Infinity;
  const all = { found: result.sensitivities, value: result, paths: result.paths, freedom };
  group.forEach((job, i) => {
    const sample = sampleOf(job, result, freedom, i);
    const unseen = unseenByFew(job.path, sample);
    const found = measures && measuresOfJob(measures, job, i, { ...all, unseen });
    job.request.failure = failureOf(result, i);
    job.request.estimate = answerOf(job, estimateOf(job, result, sample, i), found, common);
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
    ? new SpecError(
        "value: not finite on some path: the volatility may grow without bound, or what is paid has a division by zero, a root or " +
          "a logarithm of a negative number",
      )
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

function sampleOf(job: Job, result: MonteCarloResult, freedom: number, i: number): SampleStatistics {
  const scale = scaleOf(job.path);
  return {
    value: scale * result.value[i],
    standardError: scale * result.standardError[i],
    paths: result.paths[i],
    effective: result.effectivePaths[i],
    freedom,
    ...sampledAs(job),
  };
}

function estimateOf({ path }: Job, result: MonteCarloResult, sample: SampleStatistics, i: number): PathEstimate {
  const error = errorOf(path, sample);
  const halfWidth = scaleOf(path) * result.halfWidth[i];
  return { values: [sample.value], errors: [error + halfWidth], method: "montecarlo", isSampled: true, halfWidth };
}

/** Early exercise by regression: a lower bound in the mean, which the regression's own value is compared with. */
async function stop(device: Device, group: readonly Job[], common: RequestSettings): Promise<void> {
  const settings = settingsOf(group, common);
  const measures = measuresOfGroup(group, settings);
  const result = await longstaffSchwartz({
    device,
    ...settings,
    ...POINTS,
    basis: basisOf(group[0].path),
    regressionPaths: RULE_PATHS,
    paths: PRICE_PATHS,
    ...(measures && { variants: measures.variants, measures: measures.weights }),
  });
  const paths = group.map(() => result.paths);
  const all = { found: result.measures, value: result, paths, freedom: SCRAMBLINGS - 1 };
  group.forEach((job, i) => {
    const { request, path } = job;
    const { value, standardError, regression, effectivePaths } = result;
    request.failure = failureOf(result, i);
    // Both are off the price in opposite directions, but for noise.
    const gap = Math.abs(regression.value[i] - value[i]);
    const sample = {
      value: value[i],
      standardError: standardError[i],
      paths: result.paths,
      effective: effectivePaths[i],
      freedom: SCRAMBLINGS - 1,
      ...sampledAs(job),
    };
    const noise = errorOf(path, sample);
    const errors = [noise + gap];
    const today = worthToday(path);
    const isOver = today !== undefined && today.side * (today.stopped - value[i]) > 0;
    const measured = measures && measuresOfJob(measures, job, i, { ...all, unseen: unseenByFew(path, sample) });
    const found = measured && (isOver ? measuresToday(job, today.stopped) : widened(measured, job, errors[0] / noise));
    const estimate = {
      values: [isOver ? today.stopped : value[i]],
      errors,
      method: "montecarlo",
      isSampled: true,
    } as const;
    request.estimate = answerOf(job, estimate, found, common);
  });
}

/** What ends a trade today, if anything does: exercise of an option, or an early right of a script. */
function worthToday({ terms, spots }: SimulationInstance): ReturnType<typeof rightToday> {
  if (terms.payoff.kind === "script") return rightToday(terms, spots);
  return isExercisable(terms) ? { side: 1, stopped: payoffAt(terms, spots) } : undefined;
}

/**
 * A rule that is not the best one is off in its sensitivities, too: those of scripts, whose rules depend on states, get
 * errors that are larger in the proportion of the value's.
 */
function widened(measures: ReadonlyMap<string, Measured>, { path: { terms } }: Job, by: number) {
  if (terms.payoff.kind !== "script" || !(by > 1 && by < Infinity)) return measures;
  return new Map([...measures].map(([name, one]) => [name, { ...one, error: by * one.error }]));
}

/** The sensitivities of a trade that is ended today, for what it is worth on its paths and their moved copies. */
function measuresToday({ path, copies, measures }: Job, now: number): ReadonlyMap<string, Measured> {
  const moved = copies.map(({ path: copy, factor }) =>
    copy.terms.expiry === path.terms.expiry ? factor * (worthToday(copy)?.stopped ?? Number.NaN) : now,
  );
  return sensitivitiesOf([now, ...moved], measures);
}

/**
 * Payoffs of the largest and the smallest depend on spots by their order. A script's rights also depend on its states;
 * one that orders performances, or compares several underlyings, depends on them.
 */
const basisOf = ({ terms: { payoff, assets } }: SimulationInstance): Basis => {
  if (payoff.kind === "script") return scriptBasis(payoff.program, assets.length);
  const isOrdered = payoff.kind === "basket" && (payoff.of === "max" || payoff.of === "min");
  return { kind: "auto", order: isOrdered ? "descending" : "as-given" };
};
