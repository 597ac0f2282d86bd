/** Values of rights on grids of their factors: those of one model and one fineness together. */
import type { Device } from "../../../device/index.ts";
import { type GaussianSwing, gaussianSwings } from "../../../quadrature/quantization/index.ts";
import { WARNING } from "../../columns/result-columns.ts";
import { grouped, type RequestSettings, targetOf, together } from "../../plan/request.ts";
import { keyOf } from "../../../base/memoize.ts";
import { chainOf, type FactorChain } from "../../rights/chain.ts";
import type { RightsEstimate, RightsRequest } from "../../rights/estimator.ts";
import { exactEstimate } from "../../rights/exact-rights.ts";
import { datesOf, discountFactorsOf, forwardsOf, hasRightToday, unitsOf } from "../../rights/factors.ts";
import { isExercisable, type Terms } from "../../terms.ts";

/** Distances of nodes on the first level, in standard deviations: one factor, two, two with a year of days. */
const SPACING = { one: 0.0875, two: 0.175, many: 0.35 } as const;
/** Dates × units beyond which a first value is found on fewer nodes. */
const MANY = 2_000;

/** The ratio of spacings from level to level, and between the two grids of a value. */
const RATIO = Math.SQRT2;
/** Errors are of fourth order. */
const ORDER = 4;

const MAX_LEVEL = { one: 6, two: 3 } as const;

/** Below this share of the variance a step is taken to be as large. */
const MIN_SHARE = 1e-14;

/** Rounding errors and the tails beyond the grid, relative to the spot and the units. */
const ROUNDING = { f32: 1e-5, f64: 3e-9 } as const;

/**
 * What a boundary of exercise between nodes leaves on the first level, relative to the spot and the units: two grids
 * may agree by chance.
 */
const KINKS = 1e-7;

/** A value of a request on one grid. */
interface Task {
  readonly request: RightsRequest;
  readonly times: readonly number[];
  readonly factors: FactorChain;
  readonly spacing: number;
  value: number;
}

/** The values that an estimate is made of. */
interface Tasks {
  readonly fine: Task;
  readonly coarse: Task;
  /** The coarse task with half of the dates of American exercise. */
  readonly half: Task | undefined;
}

/** Returns the finest level of refinement for rights. */
export function maxLevelOf(terms: Terms): number {
  const { volatility } = terms.assets[0];
  return volatility.kind === "gaussianFactors" && volatility.alpha.length > 1 ? MAX_LEVEL.two : MAX_LEVEL.one;
}

/**
 * Computes the values of requests and stores them in the requests. @throws the signal's reason; the error of a lost
 * device
 */
export async function solve(
  device: Device,
  requests: readonly RightsRequest[],
  settings: RequestSettings,
): Promise<void> {
  const open: { readonly request: RightsRequest; readonly tasks: Tasks }[] = [];
  for (const request of requests) {
    const known = exactEstimate(request);
    if (known === undefined) open.push({ request, tasks: tasksOf(request) });
    else request.estimate = known;
  }
  const all = open.flatMap(({ tasks }) => Object.values(tasks).filter((task: Task | undefined) => task !== undefined));
  const keyOfTask = ({ factors: { key, sigma }, spacing, request: { terms } }: Task): string =>
    keyOf([key, sigma, spacing, hasRightToday(terms)]);
  for (const group of grouped(all, keyOfTask))
    await together(
      group,
      ({ request }) => request,
      settings,
      (tasks) => solveGroup(device, tasks, settings),
    );
  for (const { request, tasks } of open)
    if (request.failure === undefined) request.estimate = estimateOf(request, tasks, settings);
}

function tasksOf(request: RightsRequest): Tasks {
  const { terms, level } = request;
  const { payoff, exercise } = terms;
  const task = (isFine: boolean, isHalf: boolean): Task => {
    const dates = datesOf(terms, isHalf);
    const times = dates[0] === 0 ? dates : [0, ...dates];
    // Where nothing is random there is an exact value.
    const factors = chainOf(terms.assets[0].volatility, times, MIN_SHARE)!;
    const isMany = dates.length * unitsOf(terms).max > MANY;
    const first = factors.sigma.length === 1 ? SPACING.one : isMany ? SPACING.many : SPACING.two;
    return { request, times, factors, spacing: first / RATIO ** (level - (isFine ? 0 : 1)), value: Number.NaN };
  };
  const isAmerican = payoff.kind !== "swing" && exercise.kind === "american";
  return { fine: task(true, false), coarse: task(false, false), half: isAmerican ? task(false, true) : undefined };
}

async function solveGroup(
  device: Device,
  group: readonly Task[],
  { precision, signal }: RequestSettings,
): Promise<void> {
  const [{ factors, spacing, request: first }] = group;
  const startsAtOnce = hasRightToday(first.terms);
  const spec = { device, chain: factors.chain(), sigma: factors.sigma, startsAtOnce, precision, signal, spacing };
  const { value, error } = await gaussianSwings(spec, group.map(swingOf));
  group.forEach((task, i) => {
    task.value = value[i];
    task.request.failure ??= error[i];
  });
}

/** Extrapolated in the spacing and in the number of dates of American exercise, to which errors are of first order. */
function estimateOf(
  { terms, spots: [[spot]], level }: RightsRequest,
  { fine, coarse, half }: Tasks,
  { precision, accuracy }: RequestSettings,
): RightsEstimate {
  const correction = (fine.value - coarse.value) / (RATIO ** ORDER - 1);
  const inDates = half === undefined ? 0 : coarse.value - half.value;
  const least = (precision === "f32" ? ROUNDING.f32 : ROUNDING.f64) + KINKS / RATIO ** (ORDER * level);
  const held = fine.value + correction + inDates;
  return {
    values: [isExercisable(terms) ? Math.max(held, gainOf(terms, spot)) : held],
    errors: [1.5 * Math.abs(correction) + least * spot * unitsOf(terms).max],
    // Finer grids do not reduce what dates leave.
    bias: Math.abs(inDates),
    warnings: Math.abs(inDates) > targetOf(terms, accuracy) ? WARNING.inaccurate : 0,
    method: "convolution",
    size: 0,
  };
}

/** What a unit of a swing pays, or an option on exercise. */
function gainOf({ payoff }: Terms, spot: number): number {
  if (payoff.kind !== "swing" && payoff.kind !== "vanilla") throw new Error(`no rights: ${payoff.kind}`);
  return payoff.right === "call" ? spot - payoff.strike : payoff.strike - spot;
}

/** Rights as slopes of the relative spot and fixed amounts, discounted: early exercise is a swing of one unit. */
function swingOf({ request, times }: Task): GaussianSwing {
  const { terms } = request;
  const [fixed, slope] = [gainOf(terms, 0), gainOf(terms, 1) - gainOf(terms, 0)];
  const factors = discountFactorsOf(terms, times);
  const { min, max } = unitsOf(terms);
  return {
    slopes: forwardsOf(request, times).map((forward, k) => slope * forward * factors[k]),
    fixed: factors.map((factor) => -fixed * factor),
    least: min,
    most: max,
  };
}
