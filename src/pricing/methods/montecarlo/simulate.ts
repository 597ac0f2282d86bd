/** Instances by the path engine: those of one shape together. */
import type { Device } from "../../../device/index.ts";
import { DeviceLostError, SpecError } from "../../../errors.ts";
import type { Precision } from "../../../kernel/index.ts";
import { longstaffSchwartz, monteCarlo } from "../../../montecarlo/index.ts";
import type { ResultMethod } from "../../columns/result-columns.ts";
import type { Terms } from "../../terms.ts";
import { payoffAt } from "../several/payoff.ts";
import type { Path } from "./acceptance.ts";
import { controlOf, hasControl } from "./control.ts";
import { productKey, productOf, scaleOf, stepsOf } from "./product.ts";
import { modelKey, modelOf, substepsOf } from "./spot-model.ts";

/** What is known of an instance. */
export interface Estimate {
  readonly value: number;
  /** Half a 95 % interval, with what else may be wrong. */
  readonly error: number;
  /** Paths it took. */
  readonly paths: number;
  /** Whether there would have to be more paths than there may be. */
  readonly isLimited: boolean;
  readonly method: ResultMethod;
}

/** A value to be estimated: terms, spots, random numbers. */
export interface Instance extends Path {
  /** Instances of one stream have the same random numbers. */
  readonly stream: number;
  /** To be reached; undefined where the number of paths is given. */
  readonly standardError: number | undefined;
  readonly paths: number | undefined;
  estimate: Estimate | undefined;
  failure: unknown;
}

interface Common {
  readonly precision: Precision;
  readonly seed: number;
  readonly signal: AbortSignal | undefined;
}

/** Paths to begin with: fewer would do for most values, but not for their second differences. */
const FIRST_PATHS = 2 ** 12;
const MAX_PATHS = 2 ** 23;

/** Sobol' points in so many scramblings, where a path takes few enough numbers for its points to be stored. */
const SCRAMBLINGS = 16;
const MAX_DIMENSIONS = 2048;

/** Of early exercise: paths of the rule, and of the price. */
const RULE_PATHS = 2 ** 14;
const PRICE_PATHS = 2 ** 16;

/** Estimates those that are not known yet. @throws the signal's reason; what the device throws */
export async function simulate(device: Device, instances: readonly Instance[], common: Common): Promise<void> {
  const groups = new Map<string, Instance[]>();
  for (const instance of instances) {
    if (instance.estimate !== undefined) continue;
    const { terms, dates, paths } = instance;
    const substeps = Math.max(substepsOf(terms, dates.length), stepsOf(terms));
    const kind = isEarly(instance) ? "early" : hasControl(instance) ? "control" : "";
    const key = `${modelKey(terms)} ${productKey(terms)} ${dates.length} ${substeps} ${paths} ${kind}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [instance]);
    else group.push(instance);
  }
  for (const group of groups.values()) {
    common.signal?.throwIfAborted();
    try {
      await (isEarly(group[0]) ? stop : estimate)(device, group, common);
    } catch (error) {
      if (error instanceof DeviceLostError || common.signal?.aborted === true) throw error;
      for (const instance of group) instance.failure = error;
    }
  }
}

/** Exercise at expiry alone is that of a European option. */
const isEarly = ({ terms, dates }: Instance): boolean => terms.exercise.kind !== "european" && dates.length > 1;

/** What both engines take of a group. */
function settingsOf(group: readonly Instance[], { precision, seed, signal }: Common) {
  const [{ terms, dates }] = group;
  const substeps = Math.max(substepsOf(terms, dates.length), stepsOf(terms));
  return {
    model: modelOf(group, substeps),
    product: productOf(group),
    dates: dates.map((_, k) => Float64Array.from(group, (one) => one.dates[k])),
    substeps,
    seed,
    streams: group.map(({ stream }) => stream),
    precision,
    ...(signal === undefined ? {} : { signal }),
  };
}

/**
 * Doubles the paths of each instance until its own error is small enough: how many it takes, and so its value, does not
 * depend on which others are in the group.
 */
async function estimate(device: Device, group: readonly Instance[], common: Common): Promise<void> {
  const [{ paths: given }] = group;
  let open = group;
  for (let paths = given ?? FIRST_PATHS; open.length > 0; paths *= 2) {
    await estimateBy(paths, device, open, common);
    if (given !== undefined || 2 * paths > MAX_PATHS) return;
    open = open.filter(({ estimate, failure }) => failure === undefined && estimate!.isLimited);
  }
}

async function estimateBy(paths: number, device: Device, group: readonly Instance[], common: Common): Promise<void> {
  const settings = settingsOf(group, common);
  const { normals, uniforms } = settings.model;
  const dimensions =
    settings.dates.length * settings.substeps * (normals + uniforms + (settings.product.uniforms ?? 0));
  const points = dimensions > MAX_DIMENSIONS ? {} : ({ sampling: "sobol", scramblings: SCRAMBLINGS } as const);
  const control = hasControl(group[0]) ? controlOf(group, settings.substeps) : "none";
  const result = await monteCarlo(device, { ...settings, ...points, paths, control });
  group.forEach((instance, i) => {
    const scale = scaleOf(instance);
    const { standardError } = instance;
    instance.estimate = {
      value: scale * result.value[i],
      error: scale * result.halfWidth[i],
      paths,
      isLimited: standardError !== undefined && !(scale * result.standardError[i] <= standardError),
      method: "montecarlo",
    };
    if (result.status[i] === "not-finite")
      instance.failure = new SpecError("value: not finite on some path; the volatility may grow without bound");
  });
}

/** Early exercise by regression: a lower bound in the mean, which the regression's own value is compared with. */
async function stop(device: Device, group: readonly Instance[], common: Common): Promise<void> {
  const settings = settingsOf(group, common);
  const result = await longstaffSchwartz(device, { ...settings, regressionPaths: RULE_PATHS, paths: PRICE_PATHS });
  group.forEach((instance, i) => {
    const { terms, spots } = instance;
    const now = isExercisable(terms) ? payoffAt(terms, spots) : Number.NEGATIVE_INFINITY;
    const { value, standardError, regression } = result;
    // Both are off the price in opposite directions, but for noise.
    const gap = Math.abs(regression.value[i] - value[i]);
    instance.estimate = {
      value: Math.max(value[i], now),
      error: 1.96 * standardError[i] + gap,
      paths: result.paths,
      isLimited: instance.standardError !== undefined && 1.96 * standardError[i] > 2 * instance.standardError,
      method: "montecarlo",
    };
  });
}

/** Whether it may be exercised today. */
const isExercisable = ({ exercise }: Terms): boolean =>
  exercise.kind === "american" || (exercise.kind === "bermudan" && exercise.times.some((time) => time <= 0));
