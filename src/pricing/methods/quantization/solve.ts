/** Values on quantization trees: those of one tree together, whichever trades they belong to. */
import type { Precision } from "../../../kernel/index.ts";
import type { Device } from "../../../device/index.ts";
import { DeviceLostError } from "../../../base/errors.ts";
import {
  type NodePayoff,
  optimalStopping,
  QuantizationTree,
  type WholeSwing,
  wholeSwings,
} from "../../../quadrature/quantization/index.ts";
import { WARNING } from "../../columns/result-columns.ts";
import { grouped, type RequestSettings, together } from "../../plan/request.ts";
import { chainOf, type FactorChain } from "../../rights/chain.ts";
import { keyOf } from "../../../base/memoize.ts";
import type { RightsEstimate, RightsRequest } from "../../rights/estimator.ts";
import { exactEstimate } from "../../rights/exact-rights.ts";
import { datesOf, discountFactorsOf, forwardsOf, hasRightToday, unitsOf } from "../../rights/factors.ts";
import { isExercisable, type Terms } from "../../terms.ts";
import type { Trees } from "./trees.ts";

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

/** A tree, as far as it is known before it is made. */
interface TreeSpec {
  readonly factors: FactorChain;
  readonly size: number;
  readonly paths: number;
  readonly seed: number;
}

/** A value of a request on one tree. */
interface Task {
  readonly request: RightsRequest;
  /** The times of its chain. */
  readonly times: readonly number[];
  readonly tree: TreeSpec;
  value: number;
  /** See `QuantizationTree.memory`; 1 in one factor, where errors of second order extrapolate. */
  memory: number;
}

/** The values that an estimate is made of. */
interface Tasks {
  readonly fine: Task;
  readonly coarse: Task;
  /** The task with other paths; undefined where there are none. */
  readonly resampled: Task | undefined;
  /** The task with half of the dates of American exercise. */
  readonly half: Task | undefined;
}

/**
 * Computes the values of requests on quantization trees and stores them in the requests. @throws the signal's reason;
 * the error of a lost device
 */
export async function solve(
  trees: Trees,
  device: Device,
  requests: readonly RightsRequest[],
  settings: RequestSettings,
): Promise<void> {
  const open: { readonly request: RightsRequest; readonly tasks: Tasks }[] = [];
  for (const request of requests) {
    if (request.failure !== undefined) continue;
    const known = exactEstimate(request);
    if (known === undefined) open.push({ request, tasks: tasksOf(request, settings.seed) });
    else request.estimate = known;
  }
  const all = open.flatMap(({ tasks }) => Object.values(tasks).filter((task: Task | undefined) => task !== undefined));
  const keyOfTask = ({ tree, request }: Task): string => keyOf([treeKey(tree), hasRightToday(request.terms)]);
  for (const group of grouped(all, keyOfTask))
    await together(
      group,
      ({ request }) => request,
      settings,
      (tasks) => solveGroup(trees, device, tasks, settings),
    );
  for (const { request, tasks } of open)
    if (request.failure === undefined) request.estimate = estimateOf(request, tasks, settings);
}

function tasksOf(request: RightsRequest, seed: number): Tasks {
  const { terms, level, original } = request;
  const task = (isFine: boolean, isHalf: boolean, other = 0): Task => {
    const dates = datesOf(terms, isHalf);
    const times = dates[0] === 0 ? dates : [0, ...dates];
    // Where nothing is random there is an exact value.
    const factors = chainOf(terms.assets[0].volatility, times)!;
    const size = (isFine ? FIRST_SIZE : FIRST_SIZE / 2) * 2 ** level;
    const paths = Math.min(FIRST_PATHS * 4 ** level, Math.max(FIRST_PATHS, Math.floor(MAX_STEPS / times.length)));
    // Seeds of trees are 32 bits.
    const tree = { factors, size, paths, seed: (seed + other) % 2 ** 32 };
    return { request, tree, times, value: Number.NaN, memory: 1 };
  };
  const fine = task(true, false);
  const isSampled = fine.tree.factors.sigma.length > 1;
  const isAmerican = terms.payoff.kind !== "swing" && terms.exercise.kind === "american";
  return {
    fine,
    coarse: task(false, false),
    // Of a copy only differences with others of its level matter: its error is not estimated in full.
    resampled: isSampled && original === undefined ? task(false, false, 1) : undefined,
    half: isAmerican ? task(false, true) : undefined,
  };
}

/**
 * Extrapolated in the number of points, to which errors of one factor are of second order and those of two of first,
 * and in that of dates of American exercise.
 */
function estimateOf(
  { terms, spots: [[spot]] }: RightsRequest,
  tasks: Tasks,
  { precision }: { readonly precision: Precision },
): RightsEstimate {
  const { fine, coarse, resampled, half } = tasks;
  const isSampled = fine.tree.factors.sigma.length > 1;
  const inPoints = (isSampled ? 1 : 1 / 3) * (fine.value - coarse.value);
  const inDates = half === undefined ? 0 : coarse.value - half.value;
  const noise = resampled === undefined ? 0 : Math.abs(resampled.value - coarse.value);
  const rounding = (precision === "f32" ? ROUNDING.f32 : ROUNDING.f64) * spot * unitsOf(terms).max;
  const held = fine.value + inPoints + inDates;
  return {
    values: [isExercisable(terms) ? Math.max(held, payoffOf(terms, spot)) : held],
    errors: [Math.abs(inPoints) + Math.abs(inDates) + noise + rounding],
    method: "quantization",
    warnings: fine.memory < MIN_MEMORY ? WARNING.treeForgets : 0,
    isSampled,
    size: fine.tree.size,
  };
}

/** The payoff of one unit of a swing, or on exercise of an option. */
function payoffOf({ payoff }: Terms, spot: number): number {
  if (payoff.kind !== "swing" && payoff.kind !== "vanilla") throw new Error(`no tree of ${payoff.kind}`);
  const gain = payoff.right === "call" ? spot - payoff.strike : payoff.strike - spot;
  return payoff.kind === "swing" ? gain : Math.max(gain, 0);
}

async function solveGroup(
  trees: Trees,
  device: Device,
  group: readonly Task[],
  { precision, signal }: RequestSettings,
): Promise<void> {
  const [{ tree: spec }] = group;
  const { factors, size, paths, seed } = spec;
  const make = (): Promise<QuantizationTree> =>
    QuantizationTree.create(device, { chain: factors.chain(), size, paths, seed, precision });
  try {
    await trees.use(keyOf([treeKey(spec), precision]), make, async (tree) => {
      const memory = factors.sigma.length > 1 ? await tree.memory() : 1;
      await valueSwings(tree, group.filter(isSwing), signal);
      for (const task of group) {
        signal?.throwIfAborted();
        task.memory = memory;
        if (!isSwing(task)) task.value = await valueOption(tree, task, signal);
      }
    });
  } catch (error) {
    if (error instanceof DeviceLostError) trees.clear();
    throw error;
  }
}

/** Trees of one key are the same. */
const treeKey = ({ factors: { key }, ...sizes }: TreeSpec): string => keyOf([key, sizes]);

const isSwing = ({ request }: Task): boolean => request.terms.payoff.kind === "swing";

/** exp(Σ σᵢ·xᵢ) at a point of a tree. */
const growthAt = (sigma: readonly number[], x: Float64Array): number =>
  Math.exp(sigma.reduce((sum, one, i) => sum + one * x[i], 0));

/** Spots over their forwards at all points. The tree's own mean is the forward: a strip of forwards is exact. */
async function relativeSpots(tree: QuantizationTree, sigma: readonly number[]): Promise<Float64Array> {
  const { offsets, points, dimension: d, sizes } = tree;
  const means = await tree.means((x) => growthAt(sigma, x));
  const spots = new Float64Array(points.length / d);
  for (let k = 0; k < sizes.length; k++)
    for (let row = offsets[k]; row < offsets[k + 1]; row++)
      spots[row] = growthAt(sigma, points.subarray(row * d, (row + 1) * d)) / means[k];
  return spots;
}

/** All swings of a tree by one backward pass: they have its dates in common. */
async function valueSwings(
  tree: QuantizationTree,
  tasks: readonly Task[],
  signal: AbortSignal | undefined,
): Promise<void> {
  if (tasks.length === 0) return;
  const { offsets, sizes } = tree;
  const bySigma = new Map<string, Float64Array>();
  const swings: WholeSwing[] = [];
  for (const task of tasks) {
    const { terms } = task.request;
    if (terms.payoff.kind !== "swing") throw new Error(`no swing: ${terms.payoff.kind}`);
    const { right, strike } = terms.payoff;
    const { sigma } = task.tree.factors;
    const key = keyOf(sigma);
    const relative = bySigma.get(key) ?? (await relativeSpots(tree, sigma));
    bySigma.set(key, relative);
    const sign = right === "call" ? 1 : -1;
    const [forwards, factors] = [forwardsOf(task.request, task.times), discountFactorsOf(terms, task.times)];
    const payoff = new Float64Array(relative.length);
    for (let k = 0; k < sizes.length; k++)
      for (let row = offsets[k]; row < offsets[k + 1]; row++)
        payoff[row] = factors[k] * sign * (forwards[k] * relative[row] - strike);
    const { min, max } = unitsOf(terms);
    swings.push({ payoff, least: min, most: max });
  }
  const isFirstADate = hasRightToday(tasks[0].request.terms);
  const { value, error } = await wholeSwings(
    tree,
    swings,
    tree.times.map((_, layer) => layer > 0 || isFirstADate),
    { signal },
  );
  tasks.forEach((task, i) => {
    task.value = value[i];
    task.request.failure ??= error[i];
  });
}

async function valueOption(tree: QuantizationTree, task: Task, signal: AbortSignal | undefined): Promise<number> {
  const { terms } = task.request;
  const { sigma } = task.tree.factors;
  const means = await tree.means((x) => growthAt(sigma, x));
  const forwards = forwardsOf(task.request, task.times);
  const payoff: NodePayoff = (x, _t, k) => payoffOf(terms, (forwards[k] * growthAt(sigma, x)) / means[k]);
  const exercise = (_t: number, layer: number): boolean => layer > 0;
  const discountFactors = discountFactorsOf(terms, task.times);
  return (await optimalStopping(tree, { payoff, discountFactors, exercise, signal })).value;
}
