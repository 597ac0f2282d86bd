import type { Device } from "../../../device/index.ts";
import { DeviceLostError } from "../../../base/errors.ts";
import { keyOf } from "../../../base/memoize.ts";
import { QuantizationTree, type WholeSwing, wholeSwings } from "../../../quadrature/quantization/index.ts";
import { WARNING } from "../../columns/result-columns.ts";
import {
  type Acceptance,
  type Batch,
  type MethodSession,
  type PricingMethod,
  TARGET_ERRORS,
} from "../../plan/method.ts";
import { ValuationPlan } from "../../plan/plan.ts";
import type { Estimator } from "../../plan/request.ts";
import { type ExerciseRightsEstimate, rightsEstimator } from "../../rights/estimator.ts";
import { discountFactorsOf, forwardsOf, hasRightToday, refusalOf, unitsOf } from "../../rights/factors.ts";
import { boundsOf, gainOf, isAmerican, type RightsSolver, solveRights, type RightsTask } from "../../rights/solve.ts";
import { termsOf } from "../../terms.ts";
import { Trees } from "./trees.ts";

/** The time in microseconds that a case of a trade takes on one core, about: less than paths would. */
const COST = 3e5;

/** The number of times that points may be doubled for accuracy. */
const MAX_LEVEL = 2;

/** The memory that trees of two factors need for their errors to fall with the number of points. */
const MIN_MEMORY = 0.75;

/**
 * The number of points of the finer of two trees on the first level; each level has twice the points and four times the
 * paths.
 */
const FIRST_SIZE = 100;
const FIRST_PATHS = 100_000;
/** Paths × dates of one tree at most, beyond the paths of the first level. */
const MAX_STEPS = 2e7;

/** Rounding errors, relative to the spot and the units. */
const ROUNDING = { f32: 1e-5, f64: 1e-12 } as const;

/**
 * The method of quantization trees: swing options, and early exercise under mean-reverting factors. Values are
 * extrapolated from two numbers of points, and for American exercise also from two numbers of dates. The error estimate
 * is the amount by which that changes them. In one factor transition probabilities are exact; in two they are
 * frequencies of simulated paths, which depend on the seed. Sensitivities are differences of values on the same trees.
 *
 * Cost on one core: 0.2 s for a tree of 12 dates, 1 to 3 s for a year of days; trades with the same dates and factors
 * share their trees. Source: docs/quantization.md. Verified: test/pricing/quantization.
 */
export const quantization = {
  name: "quantization",
  minCost: COST,
  accuracy: TARGET_ERRORS.quantization,
  accepts,
  open: (device) => {
    const trees = Trees.open(device);
    return {
      plan: (batch, trades) => Promise.resolve(new ValuationPlan(batch, trades, estimatorOf(trees, device))),
      [Symbol.dispose]: () => {
        trees.close();
      },
    };
  },
} as const satisfies PricingMethod & { open(device: Device): MethodSession };

function accepts({ columns }: Batch, trade: number): Acceptance {
  const { cases } = columns;
  const reason = refusalOf(termsOf(columns.tradeOf(trade), 0, { volatility: 0, rate: 0 })!);
  return reason ?? cases.count * (1 + cases.spots) * COST;
}

const estimatorOf = (trees: Trees, device: Device): Estimator<ExerciseRightsEstimate> => ({
  ...rightsEstimator,
  accuracy: TARGET_ERRORS.quantization,
  limited: WARNING.treeLimited,
  finerLevel: ({ level }) => Math.min(level + 1, MAX_LEVEL),
  estimate: (requests, settings) => solveRights(solverOn(trees, device), requests, settings),
});

/** A value on a tree of so many points and paths. */
interface TreeTask extends RightsTask {
  readonly sizes: { readonly size: number; readonly paths: number; readonly seed: number };
  /** See `QuantizationTree.memory`; 1 in one factor, where errors of second order extrapolate. */
  memory: number;
}

const isSampled = ({ factors }: RightsTask): boolean => factors.sigma.length > 1;

const solverOn = (trees: Trees, device: Device): RightsSolver<TreeTask> => ({
  tasksOf({ terms, level, original }, { seed }, taskOf) {
    const task = (isFine: boolean, isHalf: boolean, other = 0): TreeTask => {
      const own = taskOf(isHalf);
      const size = (isFine ? FIRST_SIZE : FIRST_SIZE / 2) * 2 ** level;
      const paths = Math.min(FIRST_PATHS * 4 ** level, Math.max(FIRST_PATHS, Math.floor(MAX_STEPS / own.times.length)));
      // Seeds of trees are 32 bits.
      return { ...own, sizes: { size, paths, seed: (seed + other) % 2 ** 32 }, memory: 1 };
    };
    const fine = task(true, false);
    return {
      fine,
      coarse: task(false, false),
      half: isAmerican(terms) ? task(false, true) : undefined,
      // Of a copy only differences with others of its level matter: its error is not estimated in full.
      resampled: isSampled(fine) && original === undefined ? task(false, false, 1) : undefined,
    };
  },
  keyOf: (task) => keyOf([treeKey(task), hasRightToday(task.request.terms)]),
  async valuesOf(tasks, { precision, signal }) {
    const [first] = tasks;
    const make = (): Promise<QuantizationTree> =>
      QuantizationTree.create(device, { chain: first.factors.chain(), ...first.sizes, precision });
    try {
      return await trees.use(keyOf([treeKey(first), precision]), make, async (tree) => {
        const memory = isSampled(first) ? await tree.memory() : 1;
        for (const task of tasks) task.memory = memory;
        const isFirstADate = hasRightToday(first.request.terms);
        const isDate = tree.times.map((_, layer) => layer > 0 || isFirstADate);
        return wholeSwings(tree, await swingsOf(tree, tasks), isDate, { signal });
      });
    } catch (error) {
      if (error instanceof DeviceLostError) trees.clear();
      throw error;
    }
  },
  // Extrapolated in the number of points, to which errors of one factor are of second order and those of two of first.
  estimateOf({ terms, spots: [[spot]] }, { fine, coarse, resampled }, inDates, { precision }) {
    const inPoints = (isSampled(fine) ? 1 : 1 / 3) * (fine.value - coarse.value);
    const noise = resampled === undefined ? 0 : Math.abs(resampled.value - coarse.value);
    const rounding = (precision === "f32" ? ROUNDING.f32 : ROUNDING.f64) * spot * unitsOf(terms).max;
    return {
      values: [fine.value + inPoints + inDates],
      errors: [Math.abs(inPoints) + Math.abs(inDates) + noise + rounding],
      method: "quantization",
      warnings: fine.memory < MIN_MEMORY ? WARNING.treeForgets : 0,
      isSampled: isSampled(fine),
      size: fine.sizes.size,
    };
  },
});

/** Trees of one key are the same. */
const treeKey = ({ factors: { key }, sizes }: TreeTask): string => keyOf([key, sizes]);

/** Rights as swings on the points of a tree. */
async function swingsOf(tree: QuantizationTree, tasks: readonly TreeTask[]): Promise<readonly WholeSwing[]> {
  const { offsets, sizes } = tree;
  const bySigma = new Map<string, Float64Array>();
  const swings: WholeSwing[] = [];
  for (const task of tasks) {
    const { terms } = task.request;
    const { sigma } = task.factors;
    const key = keyOf(sigma);
    const relative = bySigma.get(key) ?? (await relativeSpots(tree, sigma));
    bySigma.set(key, relative);
    const [forwards, factors] = [forwardsOf(task.request, task.times), discountFactorsOf(terms, task.times)];
    const payoff = new Float64Array(relative.length);
    for (let k = 0; k < sizes.length; k++)
      for (let row = offsets[k]; row < offsets[k + 1]; row++)
        payoff[row] = factors[k] * gainOf(terms, forwards[k] * relative[row]);
    swings.push({ payoff, ...boundsOf(task) });
  }
  return swings;
}

/** Spots over their forwards at all points. The tree's own mean is the forward: a strip of forwards is exact. */
async function relativeSpots(tree: QuantizationTree, sigma: readonly number[]): Promise<Float64Array> {
  const { offsets, points, dimension: d, sizes } = tree;
  const growthAt = (x: Float64Array): number => Math.exp(sigma.reduce((sum, one, i) => sum + one * x[i], 0));
  const means = await tree.means(growthAt);
  const spots = new Float64Array(points.length / d);
  for (let k = 0; k < sizes.length; k++)
    for (let row = offsets[k]; row < offsets[k + 1]; row++)
      spots[row] = growthAt(points.subarray(row * d, (row + 1) * d)) / means[k];
  return spots;
}
