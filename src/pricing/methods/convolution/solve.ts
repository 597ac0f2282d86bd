/** Values of swings on grids of their factors: those of one model and one fineness together. */
import type { Device } from "../../../device/index.ts";
import { type GaussianSwing, gaussianSwings } from "../../../quantization/index.ts";
import { grouped, type RequestSettings, together } from "../../plan/request.ts";
import { keyOf } from "../../../remembered.ts";
import { chainOf, type FactorChain } from "../../rights/chain.ts";
import type { RightsRequest } from "../../rights/estimator.ts";
import { exactEstimate } from "../../rights/exact-rights.ts";
import { datesOf, discountFactorsOf, forwardsOf, hasRightToday, unitsOf } from "../../rights/factors.ts";
import type { Terms } from "../../terms.ts";

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

/** A request on its way. */
interface Task {
  readonly request: RightsRequest;
  readonly times: readonly number[];
  readonly factors: FactorChain;
  readonly spacing: number;
}

/** Returns the finest level of refinement for a swing option. */
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
  const open: Task[] = [];
  for (const request of requests) {
    const known = exactEstimate(request);
    if (known === undefined) open.push(taskOf(request));
    else request.estimate = known;
  }
  const keyOfTask = ({ factors: { key, sigma }, spacing, request: { terms } }: Task): string =>
    keyOf([key, sigma, spacing, hasRightToday(terms)]);
  for (const group of grouped(open, keyOfTask))
    await together(
      group,
      ({ request }) => request,
      settings,
      (tasks) => solveGroup(device, tasks, settings),
    );
}

function taskOf(request: RightsRequest): Task {
  const { terms, level } = request;
  const dates = datesOf(terms);
  const times = dates[0] === 0 ? dates : [0, ...dates];
  // Where nothing is random there is an exact value.
  const factors = chainOf(terms.assets[0].volatility, times, MIN_SHARE)!;
  const isMany = dates.length * unitsOf(terms).max > MANY;
  const first = factors.sigma.length === 1 ? SPACING.one : isMany ? SPACING.many : SPACING.two;
  return { request, times, factors, spacing: first / RATIO ** level };
}

async function solveGroup(
  device: Device,
  group: readonly Task[],
  { precision, signal }: RequestSettings,
): Promise<void> {
  const [{ factors, spacing, request: first }] = group;
  const startsAtOnce = hasRightToday(first.terms);
  const spec = { device, chain: factors.chain(), sigma: factors.sigma, startsAtOnce, precision, signal };
  const swings = group.map(swingOf);
  const coarse = await gaussianSwings({ ...spec, spacing: RATIO * spacing }, swings);
  const fine = await gaussianSwings({ ...spec, spacing }, swings);
  group.forEach(({ request }, i) => {
    const value = fine.value[i];
    const correction = (value - coarse.value[i]) / (RATIO ** ORDER - 1);
    request.failure = fine.error[i];
    const [[spot]] = request.spots;
    const rounding = (precision === "f32" ? ROUNDING.f32 : ROUNDING.f64) * spot * unitsOf(request.terms).max;
    request.estimate = {
      values: [value + correction],
      errors: [Math.abs(correction) + rounding],
      method: "convolution",
      size: 0,
    };
  });
}

/** A swing as slopes of the relative spot and fixed amounts, discounted. */
function swingOf({ request, times }: Task): GaussianSwing {
  const { terms } = request;
  if (terms.payoff.kind !== "swing") throw new Error(`no swing: ${terms.payoff.kind}`);
  const { right, strike } = terms.payoff;
  const sign = right === "call" ? 1 : -1;
  const factors = discountFactorsOf(terms, times);
  const { min, max } = unitsOf(terms);
  return {
    slopes: forwardsOf(request, times).map((forward, k) => sign * forward * factors[k]),
    fixed: factors.map((factor) => sign * strike * factor),
    least: min,
    most: max,
  };
}
