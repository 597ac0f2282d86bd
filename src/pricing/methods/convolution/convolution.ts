import type { Device } from "../../../device/index.ts";
import { keyOf } from "../../../base/memoize.ts";
import { type GaussianSwing, gaussianSwings } from "../../../quadrature/quantization/index.ts";
import { WARNING } from "../../columns/result-columns.ts";
import {
  type Acceptance,
  type Batch,
  type MethodSession,
  type PricingMethod,
  TARGET_ERRORS,
} from "../../plan/method.ts";
import { ValuationPlan } from "../../plan/plan.ts";
import { type Estimator, targetOf } from "../../plan/request.ts";
import { type ExerciseRightsEstimate, rightsEstimator } from "../../rights/estimator.ts";
import { datesOf, discountFactorsOf, forwardsOf, hasRightToday, refusalOf, unitsOf } from "../../rights/factors.ts";
import { boundsOf, gainOf, isAmerican, type RightsSolver, solveRights, type RightsTask } from "../../rights/solve.ts";
import { type Terms, termsOf } from "../../terms.ts";
import { varianceAt } from "../../variance.ts";

/** The time in microseconds that a case of a trade takes on one core, about: less than a tree would. */
const COST = 2e4;

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

/**
 * The method of convolution: swing options in one or two Gaussian factors, and early exercise under mean-reverting
 * ones, by dynamic programming on a grid of the factors. Transitions between dates are exact in time. Values are
 * extrapolated from two grids, and for American exercise also from two numbers of dates; the error estimate is the
 * amount by which that changes them. Sensitivities are differences of values on the same grids.
 *
 * Cost on one core: 0.1 s in one factor; in two factors 0.1 s for 12 dates, and seconds for a year of days. Source:
 * design/swings.md. Verified: test/pricing/convolution.
 */
export const convolution = {
  name: "convolution",
  minCost: COST,
  accepts,
  open: (device) => ({
    plan: (batch, trades) => Promise.resolve(new ValuationPlan(batch, trades, estimatorOf(device))),
    [Symbol.dispose]() {},
  }),
} as const satisfies PricingMethod & { open(device: Device): MethodSession };

const estimatorOf = (device: Device): Estimator<ExerciseRightsEstimate> => ({
  ...rightsEstimator,
  accuracy: TARGET_ERRORS.convolution,
  limited: WARNING.inaccurate,
  finerLevel: ({ terms, level }) => Math.min(level + 1, maxLevelOf(terms)),
  estimate: (requests, settings) => solveRights(solverOn(device), requests, settings, MIN_SHARE),
});

function accepts({ columns }: Batch, trade: number): Acceptance {
  const { cases } = columns;
  const terms = termsOf(columns.tradeOf(trade), 0, { volatility: 0, rate: 0 })!;
  return refusalOf(terms) ?? cases.count * (1 + cases.spots) * COST;
}

function maxLevelOf({ assets: [{ volatility }] }: Terms): number {
  return volatility.kind === "gaussianFactors" && volatility.alpha.length > 1 ? MAX_LEVEL.two : MAX_LEVEL.one;
}

/** A value on a grid whose nodes are `spacing` apart. */
interface GridTask extends RightsTask {
  readonly spacing: number;
  /** The deviation of the grid for a bumped copy, that of its original. */
  readonly deviation: number | undefined;
}

const solverOn = (device: Device): RightsSolver<GridTask> => ({
  tasksOf({ terms, level, original }, _settings, taskOf) {
    const deviation = original && largestDeviation(original.terms);
    const task = (isFine: boolean, isHalf: boolean): GridTask => {
      const own = taskOf(isHalf);
      const isMany = datesOf(terms, isHalf).length * unitsOf(terms).max > MANY;
      const first = own.factors.sigma.length === 1 ? SPACING.one : isMany ? SPACING.many : SPACING.two;
      return { ...own, spacing: first / RATIO ** (level - (isFine ? 0 : 1)), deviation };
    };
    const half = isAmerican(terms) ? task(false, true) : undefined;
    return { fine: task(true, false), coarse: task(false, false), half };
  },
  keyOf: ({ factors: { key, sigma }, spacing, request: { terms }, deviation = 0 }) =>
    keyOf([key, sigma, spacing, hasRightToday(terms), deviation]),
  valuesOf(tasks, { precision, signal }) {
    const [{ factors, spacing, request, deviation }] = tasks;
    const startsAtOnce = hasRightToday(request.terms);
    const settings = { device, startsAtOnce, precision, signal, spacing, deviation };
    const spec = { ...settings, chain: factors.chain(), sigma: factors.sigma };
    return gaussianSwings(spec, tasks.map(swingOf));
  },
  // Extrapolated in the spacing, and in the number of dates, to which errors are of first order.
  estimateOf({ terms, spots: [[spot]], level }, { fine, coarse }, inDates, { precision, accuracy }) {
    const correction = (fine.value - coarse.value) / (RATIO ** ORDER - 1);
    const rounding = precision === "f32" ? ROUNDING.f32 : ROUNDING.f64;
    const kinks = KINKS / RATIO ** (ORDER * level);
    const unit = spot * unitsOf(terms).max;
    return {
      values: [fine.value + correction + inDates],
      errors: [1.5 * Math.abs(correction) + (rounding + kinks) * unit],
      // Finer grids do not reduce what dates leave.
      bias: Math.abs(inDates),
      warnings: Math.abs(inDates) > targetOf(terms, accuracy) ? WARNING.inaccurate : 0,
      method: "convolution",
      size: 0,
      // What is beyond the grid cancels in differences; the rounding of f32 does not.
      noise: { parts: [1.5 * correction, inDates], rounding: ((precision === "f32" ? rounding : 0) + kinks) * unit },
    };
  },
});

/** Returns the largest standard deviation of the log-spot on the dates of decisions. */
const largestDeviation = (terms: Terms): number =>
  Math.sqrt(Math.max(...datesOf(terms).map((time) => varianceAt(terms.assets[0].volatility, time))));

/** Rights as slopes of the relative spot and fixed amounts, discounted. */
function swingOf(task: GridTask): GaussianSwing {
  const { request, times } = task;
  const { terms } = request;
  const [fixed, slope] = [gainOf(terms, 0), gainOf(terms, 1) - gainOf(terms, 0)];
  const factors = discountFactorsOf(terms, times);
  return {
    slopes: forwardsOf(request, times).map((forward, k) => slope * forward * factors[k]),
    fixed: factors.map((factor) => -fixed * factor),
    ...boundsOf(task),
  };
}
