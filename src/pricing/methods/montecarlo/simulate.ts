/** Requests by the path engine: those of one shape together. */
import type { Device } from "../../../device/index.ts";
import { type FeynkacError, SpecError } from "../../../errors.ts";
import {
  type Basis,
  longstaffSchwartz,
  monteCarlo,
  type MonteCarloResult,
  type Variant,
} from "../../../montecarlo/index.ts";
import { payoffAt } from "../../equations/payoff.ts";
import { type Differences, withBias } from "../../plan/differences.ts";
import { keyOf } from "../../../remembered.ts";
import { grouped, type Measured, type Request, type RequestSettings, together } from "../../plan/request.ts";
import { isExercisable } from "../../terms.ts";
import { datesOf, isEarly, type Path } from "./acceptance.ts";
import { controlKind, type ControlKind, controlOf } from "./control.ts";
import { errorOf, leverageError, sensitivityError } from "./error.ts";
import { exactly, exactMeasures } from "./without-paths.ts";
import type { PathEstimate } from "./path-estimate.ts";
import { findLeverages, hasLeverage } from "./leverage.ts";
import { productKey, productOf, scaleOf, stepsOf } from "./product.ts";
import { shiftOf } from "./shift.ts";
import { endsOf, modelKey, modelOf, substepsOf } from "./spot-model.ts";

/** The number of paths to begin with: fewer would do for most values, but not for their second differences. */
const FIRST_PATHS = 2 ** 12;

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
    const known = exactly(terms, spots[0]);
    if (known === undefined) return [jobOf(request, streamOf(request.trade))];
    request.estimate = differences === undefined ? known : { ...known, measures: exactMeasures(known, differences) };
    return [];
  });
  for (const group of grouped(jobs, keyOfJob)) {
    // A leverage that cannot be found fails its own trades.
    for (const job of hasLeverage(group[0].path) ? group : [])
      await together([job], requestOf, settings, () =>
        findLeverages(device, [job.path, ...(job.copies ?? [])], settings),
      );
    const open = group.filter(({ request }) => request.failure === undefined);
    const work = isEarly(group[0].path.terms) ? stop : estimate;
    if (open.length > 0) await together(open, requestOf, settings, (some) => work(device, some, settings));
  }
}

const requestOf = ({ request }: Job): Job["request"] => request;

/** A request with what decides which kernel simulates it. */
interface Job {
  readonly request: Request<PathEstimate>;
  readonly path: Path;
  /** The moved copies, if sensitivities are to be found: once the value is as good as it gets, or with a rule. */
  readonly copies: readonly Path[] | undefined;
  /** The stream of random numbers; paths of one stream have the same random numbers. */
  readonly stream: number;
  readonly substeps: number;
  readonly control: ControlKind;
  /** The shift of each normal number of each step, see `shiftOf`. */
  readonly shifts: readonly (readonly number[])[] | undefined;
}

function jobOf(request: Request<PathEstimate>, stream: number): Job {
  const { terms, spots, differences, estimate, level } = request;
  const dates = datesOf(terms);
  const path = { terms, spots: spots[0], dates };
  // No date passes within the step of theta, and paths with as many dates use the same random numbers.
  const copies = differences?.copies.map((copy): Path => ({
    ...copy,
    dates: dates.map((date) => date - (terms.expiry - copy.terms.expiry)),
  }));
  const substeps = Math.max(substepsOf(terms, dates.length), stepsOf(terms));
  const shifts = shiftOf(path, endsOf(dates, substeps));
  const kinds = [path, ...(copies ?? [])].map((one) => controlKind(one, shifts !== undefined));
  const control = kinds.every((kind) => kind === kinds[0]) ? kinds[0] : "none";
  const isFinal = isEarly(terms) || estimate?.level === level;
  return { request, path, copies: isFinal ? copies : undefined, stream, substeps, control, shifts };
}

function keyOfJob({
  request: { level, differences },
  path: { terms, dates },
  copies,
  control,
  shifts,
  substeps,
}: Job): string {
  const shape = [isEarly(terms), control, shifts !== undefined, dates.length, substeps, level];
  const measures = differences?.measures.map(({ name, weights }) => [name, weights.length]);
  const moved = copies?.map((copy) => [copy.dates.length, modelKey(copy.terms), productKey(copy.terms)]);
  return keyOf([modelKey(terms), productKey(terms), shape, moved && measures, moved]);
}

/** The settings of a group that both engines take. */
function settingsOf(group: readonly Job[], { precision, seed, signal }: RequestSettings) {
  const [{ substeps, control }] = group;
  const paths = group.map(({ path }) => path);
  return {
    ...pathsOf(paths, substeps, control),
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

const pathsOf = (paths: readonly Path[], substeps: number, kind: ControlKind): PathSettings => {
  const control = controlOf(paths, substeps, kind);
  return {
    model: modelOf(paths, substeps),
    product: productOf(paths),
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
  const [{ copies, request, substeps, control }] = group;
  if (copies === undefined) return undefined;
  const all = group.map((job) => [job.path, ...job.copies!]);
  const known = all.map((paths) => paths.map(({ terms, spots }) => exactly(terms, spots)?.values[0]));
  const scales = all.map((paths, i) => paths.map((path, v) => (known[i][v] === undefined ? scaleOf(path) : 0)));
  const variants = copies.map((_, v) => {
    // Paths of a copy whose value is known are not looked at.
    const paths = all.map((some, i) => (known[i][v + 1] === undefined ? some[v + 1] : some[0]));
    return pathsOf(paths, substeps, control);
  });
  const weightOf = (i: number, m: number, v: number): number => group[i].request.differences!.measures[m].weights[v];
  const measures: Record<string, Float64Array[]> = {};
  const added = new Map<string, Float64Array>();
  request.differences!.measures.forEach(({ name, weights }, m) => {
    measures[name] = weights.map((_, v) => Float64Array.from(group, (_one, i) => weightOf(i, m, v) * scales[i][v]));
    const sums = known.map((values, i) => values.reduce<number>((sum, x, v) => sum + weightOf(i, m, v) * (x ?? 0), 0));
    added.set(name, Float64Array.from(sums));
  });
  return { variants, measures, added };
}

/** The measures of entry i of a group, whose differences it has. */
function measuresOf(
  { added }: SimulatedCopies,
  found: Readonly<Record<string, { readonly value: Float64Array; readonly standardError: Float64Array }>>,
  freedom: number,
  { bias }: Differences,
  i: number,
): ReadonlyMap<string, Measured> {
  const sampled = Array.from(added, ([name, sums]): [string, Measured] => {
    const { value, standardError } = found[name];
    return [name, { value: value[i] + sums[i], error: sensitivityError(standardError[i], freedom) }];
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
    paths: FIRST_PATHS * 2 ** first.level,
    ...(shifts === undefined ? {} : { shifts: shiftColumns(group) }),
    ...(copies === undefined ? {} : { variants: copies.variants, measures: copies.measures }),
  });
  const freedom = isSobol ? SCRAMBLINGS - 1 : Infinity;
  group.forEach((job, i) => {
    const { request } = job;
    request.estimate = {
      ...estimateOf(job, result, freedom, i),
      ...(copies === undefined
        ? {}
        : { measures: measuresOf(copies, result.sensitivities, freedom, request.differences!, i) }),
    };
    request.failure = failureOf(result, i);
  });
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

function estimateOf(
  { request, path, shifts, control }: Job,
  result: MonteCarloResult,
  freedom: number,
  i: number,
): PathEstimate {
  const scale = scaleOf(path);
  const value = scale * result.value[i];
  const standardError = scale * result.standardError[i];
  const sample = { value, standardError, freedom, paths: result.paths[i], effective: result.effectivePaths[i] };
  const how = { isShifted: shifts !== undefined, isControlled: control === "underlyings" };
  const error = errorOf(path, { ...sample, ...how });
  const bias = scale * leverageError(path);
  return { values: [value], errors: [error], bias, method: "montecarlo", isSampled: true, level: request.level };
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
  group.forEach(({ request, path }, i) => {
    const now = isExercisable(path.terms) ? payoffAt(path.terms, path.spots) : Number.NEGATIVE_INFINITY;
    const { value, standardError, regression } = result;
    request.failure = failureOf(result, i);
    // Both are off the price in opposite directions, but for noise.
    const gap = Math.abs(regression.value[i] - value[i]);
    request.estimate = {
      values: [Math.max(value[i], now)],
      errors: [sensitivityError(standardError[i], SCRAMBLINGS - 1) + gap],
      bias: leverageError(path),
      method: "montecarlo",
      isSampled: true,
      level: request.level,
      ...(copies === undefined
        ? {}
        : { measures: measuresOf(copies, result.measures, SCRAMBLINGS - 1, request.differences!, i) }),
    };
  });
}

/** Payoffs of the largest and the smallest depend on spots by their order. */
const basisOf = ({ terms: { payoff } }: Path): Basis => {
  const isOrdered = payoff.kind === "basket" && (payoff.of === "max" || payoff.of === "min");
  return { kind: "auto", order: isOrdered ? "descending" : "as-given" };
};
