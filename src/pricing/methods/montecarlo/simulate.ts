/** Instances by the path engine: those of one shape together. */
import type { Estimate } from "./measured.ts";
import type { Measured } from "./measured.ts";
import type { Device } from "../../../device/index.ts";
import { DeviceLostError, SpecError } from "../../../errors.ts";
import type { Precision } from "../../../kernel/index.ts";
import {
  type Basis,
  longstaffSchwartz,
  monteCarlo,
  type MonteCarloResult,
  type Variant,
} from "../../../montecarlo/index.ts";
import type { Terms } from "../../terms.ts";
import type { TimeBudget } from "../../time-budget.ts";
import { payoffAt } from "../several/payoff.ts";
import type { Path } from "./acceptance.ts";
import { controlKind, type ControlKind, controlOf } from "./control.ts";
import { errorOf, sensitivityError } from "./error.ts";
import { exactly } from "./exact.ts";
import { productKey, productOf, scaleOf, stepsOf } from "./product.ts";
import { biasOf, type Sensitivities } from "./sensitivities.ts";
import { shiftOf } from "./shift.ts";
import { endsOf, modelKey, modelOf, substepsOf } from "./spot-model.ts";

/** A value to be estimated: terms, spots, random numbers. */
export interface Instance extends Path {
  /** The trade's place in the batch. */
  readonly trade: number;
  /** The stream of random numbers; instances of one stream have the same random numbers. */
  readonly stream: number;
  /** The error to be reached, in the currency. */
  readonly accuracy: number;
  readonly sensitivities: Sensitivities | undefined;
  estimate: Estimate | undefined;
  failure: unknown;
  isOutOfTime: boolean;
}

interface Common {
  readonly precision: Precision;
  readonly seed: number;
  readonly signal: AbortSignal | undefined;
  readonly budget: TimeBudget;
}

/** The number of paths to begin with: fewer would do for most values, but not for their second differences. */
const FIRST_PATHS = 2 ** 12;
const MAX_PATHS = 2 ** 23;

/** Sobol' points in so many scramblings, where a path takes no more numbers than there are dimensions. */
const SCRAMBLINGS = 16;
const MAX_DIMENSIONS = 2 ** 14;
const POINTS = { sampling: "sobol", scramblings: SCRAMBLINGS } as const;

/** The paths from which the rule of early exercise is estimated, and below them those of the price. */
const RULE_PATHS = 2 ** 14;
const PRICE_PATHS = 2 ** 14;

/** Estimates those that are not known yet. @throws the signal's reason; what the device throws */
export async function simulate(device: Device, instances: readonly Instance[], common: Common): Promise<void> {
  for (const group of groupsOf(instances)) {
    common.signal?.throwIfAborted();
    try {
      await (isEarly(group[0].instance) ? stop : estimate)(device, group, common);
    } catch (error) {
      if (error instanceof DeviceLostError || common.signal?.aborted === true) throw error;
      for (const { instance } of group) instance.failure = error;
    }
  }
}

/** An instance with what decides which kernel simulates it. */
interface Job {
  readonly instance: Instance;
  readonly substeps: number;
  readonly control: ControlKind;
  /** The shift of each normal number of each step, see `shiftOf`. */
  readonly shifts: readonly (readonly number[])[] | undefined;
}

/** Exercise at expiry alone is that of a European option. */
const isEarly = ({ terms, dates }: Path): boolean => terms.exercise.kind !== "european" && dates.length > 1;

function jobOf(instance: Instance): Job {
  const { terms, dates, sensitivities } = instance;
  const substeps = Math.max(substepsOf(terms, dates.length), stepsOf(terms));
  const shifts = shiftOf(instance, endsOf(dates, substeps));
  const kinds = [instance, ...(sensitivities?.paths ?? [])].map((path) => controlKind(path, shifts !== undefined));
  const control = kinds.every((kind) => kind === kinds[0]) ? kinds[0] : "none";
  return { instance, substeps, control, shifts };
}

function groupsOf(instances: readonly Instance[]): Iterable<readonly Job[]> {
  const groups = new Map<string, Job[]>();
  for (const instance of instances) {
    if (instance.estimate !== undefined || instance.failure !== undefined) continue;
    const job = jobOf(instance);
    const { terms, dates, sensitivities } = instance;
    const shape = [isEarly(instance), job.control, job.shifts !== undefined, dates.length, job.substeps].join(" ");
    const measures = sensitivities?.measures.map(({ name }) => name).join(",") ?? "";
    const key = `${modelKey(terms)} ${productKey(terms)} ${shape} ${measures}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [job]);
    else group.push(job);
  }
  return groups.values();
}

/** The settings of a group that both engines take. */
function settingsOf(group: readonly Job[], { precision, seed, signal }: Common) {
  const [{ substeps, control }] = group;
  const paths = group.map(({ instance }) => instance);
  return {
    ...pathsOf(paths, substeps, control),
    substeps,
    seed,
    streams: paths.map(({ stream }) => stream),
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
interface Copies {
  readonly variants: readonly Variant[];
  readonly measures: Readonly<Record<string, readonly Float64Array[]>>;
  readonly added: ReadonlyMap<string, Float64Array>;
}

/** The moved copies of a group's instances, and what their values are multiplied by. */
function copiesOf(group: readonly Job[]): Copies | undefined {
  const [{ instance: first, substeps, control }] = group;
  if (first.sensitivities === undefined) return undefined;
  const all = group.map(({ instance }) => [instance, ...instance.sensitivities!.paths]);
  const known = all.map((paths) => paths.map(({ terms, spots }) => exactly(terms, spots)?.value));
  const scales = all.map((paths, i) => paths.map((path, v) => (known[i][v] === undefined ? scaleOf(path) : 0)));
  const variants = first.sensitivities.paths.map((_, v) => {
    // Paths of a copy whose value is known are not looked at.
    const paths = all.map((some, i) => (known[i][v + 1] === undefined ? some[v + 1] : some[0]));
    return pathsOf(paths, substeps, control);
  });
  const weightOf = (i: number, m: number, v: number): number => group[i].instance.sensitivities!.measures[m].weights[v];
  const measures: Record<string, Float64Array[]> = {};
  const added = new Map<string, Float64Array>();
  first.sensitivities.measures.forEach(({ name, weights }, m) => {
    measures[name] = weights.map((_, v) => Float64Array.from(group, (_one, i) => weightOf(i, m, v) * scales[i][v]));
    const sums = known.map((values, i) => values.reduce<number>((sum, x, v) => sum + weightOf(i, m, v) * (x ?? 0), 0));
    added.set(name, Float64Array.from(sums));
  });
  return { variants, measures, added };
}

/** The measures of an instance of a group. */
const measuresOf = (
  { added }: Copies,
  found: Readonly<Record<string, { readonly value: Float64Array; readonly standardError: Float64Array }>>,
  freedom: number,
  path: Path,
  i: number,
): ReadonlyMap<string, Measured> =>
  new Map(
    [...added].map(([name, sums]) => {
      const { value, standardError } = found[name];
      const whole = value[i] + sums[i];
      const error = sensitivityError(standardError[i], freedom) + biasOf(name, path) * Math.abs(whole);
      return [name, { value: whole, error }];
    }),
  );

/**
 * Doubles the paths of each instance until its own error is small enough or its time is over, then takes its
 * sensitivities on as many. How many it takes, and so its value, does not depend on which others are in the group.
 */
async function estimate(device: Device, group: readonly Job[], common: Common): Promise<void> {
  const [{ instance: first }] = group;
  // Twice the paths take as long as all before them.
  const times = 1 + (first.sensitivities === undefined ? 0 : 1 + first.sensitivities.paths.length);
  let open = group;
  for (let paths = FIRST_PATHS; open.length > 0; paths *= 2) {
    const isLast = 2 * paths > MAX_PATHS;
    const trades = open.map(({ instance }) => instance.trade);
    await common.budget.spend(trades, () => estimateBy(paths, device, open, common, undefined));
    const inaccurate = open.filter(({ instance }) => instance.failure === undefined && instance.estimate!.isLimited);
    for (const { instance } of inaccurate)
      instance.isOutOfTime = !isLast && !common.budget.allowsTimes(instance.trade, times);
    const left = inaccurate.filter(({ instance }) => !instance.isOutOfTime);
    if (first.sensitivities !== undefined) {
      const done = open.filter((job) => job.instance.failure === undefined && (isLast || !left.includes(job)));
      if (done.length > 0) await estimateBy(paths, device, done, common, copiesOf(done));
    }
    if (isLast) return;
    open = left;
  }
}

async function estimateBy(
  paths: number,
  device: Device,
  group: readonly Job[],
  common: Common,
  copies: Copies | undefined,
): Promise<void> {
  const settings = settingsOf(group, common);
  const { normals, uniforms } = settings.model;
  const numbers = normals + uniforms + (settings.product.uniforms ?? 0);
  const isSobol = settings.dates.length * settings.substeps * numbers <= MAX_DIMENSIONS;
  const [{ shifts }] = group;
  const result = await monteCarlo({
    device,
    control: "none",
    ...settings,
    ...(isSobol ? POINTS : {}),
    paths,
    ...(shifts === undefined ? {} : { shifts: shiftColumns(group) }),
    ...(copies === undefined ? {} : { variants: copies.variants, measures: copies.measures }),
  });
  const freedom = isSobol ? SCRAMBLINGS - 1 : Infinity;
  group.forEach((job, i) => {
    const { instance } = job;
    const estimated = estimateOf(job, result, freedom, i);
    instance.estimate =
      copies === undefined
        ? estimated
        : { ...estimated, measures: measuresOf(copies, result.greeks, freedom, instance, i) };
    if (result.status[i] === "not-finite")
      instance.failure = new SpecError("value: not finite on some path; the volatility may grow without bound");
  });
}

/** The shifts of all instances, by step and normal number. */
const shiftColumns = (group: readonly Job[]) =>
  group[0].shifts![0].map((_, j) => ({
    byStep: group[0].shifts!.map((_step, n) => Float64Array.from(group, ({ shifts }) => shifts![n][j])),
  }));

function estimateOf(
  { instance, shifts, control }: Job,
  result: MonteCarloResult,
  freedom: number,
  i: number,
): Estimate {
  const scale = scaleOf(instance);
  const value = scale * result.value[i];
  const standardError = scale * result.standardError[i];
  const paths = result.paths[i];
  const sample = { value, standardError, freedom, paths, effective: result.effectivePaths[i] };
  const how = { isShifted: shifts !== undefined, isControlled: control === "underlyings" };
  const error = errorOf(instance, { ...sample, ...how });
  return { value, error, paths, isLimited: !(error <= instance.accuracy), method: "montecarlo" };
}

/** Early exercise by regression: a lower bound in the mean, which the regression's own value is compared with. */
async function stop(device: Device, group: readonly Job[], common: Common): Promise<void> {
  const copies = copiesOf(group);
  const result = await longstaffSchwartz({
    device,
    ...settingsOf(group, common),
    ...POINTS,
    basis: basisOf(group[0].instance),
    regressionPaths: RULE_PATHS,
    paths: PRICE_PATHS,
    ...(copies === undefined ? {} : { variants: copies.variants, measures: copies.measures }),
  });
  group.forEach(({ instance }, i) => {
    const { terms, spots } = instance;
    const now = isExercisable(terms) ? payoffAt(terms, spots) : Number.NEGATIVE_INFINITY;
    const { value, standardError, regression } = result;
    // Both are off the price in opposite directions, but for noise.
    const gap = Math.abs(regression.value[i] - value[i]);
    const error = sensitivityError(standardError[i], SCRAMBLINGS - 1) + gap;
    instance.estimate = {
      value: Math.max(value[i], now),
      error,
      paths: result.paths,
      isLimited: !(error <= instance.accuracy),
      method: "montecarlo",
      ...(copies === undefined ? {} : { measures: measuresOf(copies, result.measures, SCRAMBLINGS - 1, instance, i) }),
    };
  });
}

/** Payoffs of the largest and the smallest depend on spots by their order. */
const basisOf = ({ terms: { payoff } }: Instance): Basis => {
  const isOrdered = payoff.kind === "basket" && (payoff.of === "max" || payoff.of === "min");
  return { kind: "auto", order: isOrdered ? "descending" : "as-given" };
};

/** Tells whether a trade may be exercised today. */
const isExercisable = ({ exercise }: Terms): boolean =>
  exercise.kind === "american" || (exercise.kind === "bermudan" && exercise.times.some((time) => time <= 0));
