/** Values on quantization trees: those of one tree together, whichever trades they belong to. */
import type { Precision } from "../../../kernel/index.ts";
import type { Device } from "../../../device/index.ts";
import { DeviceLostError } from "../../../errors.ts";
import { integrate } from "../../../market/index.ts";
import {
  type NodePayoff,
  optimalStopping,
  QuantizationTree,
  type WholeSwing,
  wholeSwings,
} from "../../../quantization/index.ts";
import type { ResultMethod } from "../../columns/result-columns.ts";
import type { Terms } from "../../terms.ts";
import { chainOf, type FactorChain } from "./chain.ts";
import { type ExactValue, exactValue } from "./exact.ts";
import { datesOf, unitsOf } from "./factors.ts";
import type { Trees } from "./trees.ts";

/** The estimates of an instance. */
export interface Estimate {
  readonly value: number;
  /** The size of the corrections, so that it is on the safe side. */
  readonly error: number;
  readonly method: ResultMethod;
  /** The number of points of the finer tree; 0 without one. */
  readonly size: number;
  /** True where the tree's probabilities are frequencies of paths. */
  readonly isSampled: boolean;
  /** See `QuantizationTree.memory`; 1 in one factor, where errors of second order extrapolate. */
  readonly memory: number;
}

/** A value to be found: terms, a spot, and how fine the trees are. */
export interface Instance {
  readonly terms: Terms;
  readonly spot: number;
  level: number;
  /** True where only differences with others of the level matter: the error is then not estimated in full. */
  readonly isBump: boolean;
  estimate: Estimate | undefined;
  failure: unknown;
}

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

/** An instance, and the times of its chain. */
interface Dated {
  readonly instance: Instance;
  readonly times: readonly number[];
}

/** A value of an instance on one tree. */
interface Task extends Dated {
  readonly tree: TreeSpec;
  value: number;
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

/** Finds the estimates that are missing. @throws the signal's reason; what the device throws when it is lost */
export async function solve(
  trees: Trees,
  device: Device,
  instances: readonly Instance[],
  common: Common,
): Promise<void> {
  const open: { readonly instance: Instance; readonly tasks: Tasks }[] = [];
  for (const instance of instances) {
    if (instance.estimate !== undefined || instance.failure !== undefined) continue;
    const { terms, spot } = instance;
    const known = exactValue(terms, spot);
    if (known === undefined) open.push({ instance, tasks: tasksOf(instance, common.seed) });
    else instance.estimate = exactly(known);
  }
  const groups = new Map<string, Task[]>();
  for (const { tasks } of open)
    for (const task of [tasks.fine, tasks.coarse, tasks.resampled, tasks.half]) {
      if (task === undefined) continue;
      const key = `${keyOf(task.tree)} ${hasRightToday(task.instance.terms)}`;
      const group = groups.get(key);
      if (group === undefined) groups.set(key, [task]);
      else group.push(task);
    }
  for (const group of groups.values()) {
    common.signal?.throwIfAborted();
    await solveGroup(trees, device, group, common);
  }
  for (const { instance, tasks } of open)
    if (instance.failure === undefined) instance.estimate = estimateOf(instance, tasks, common);
}

/** An estimate of what has a formula. */
export const exactly = ({ value, method }: ExactValue): Estimate => ({
  value,
  error: 1e-13 * Math.abs(value),
  method,
  size: 0,
  isSampled: false,
  memory: 1,
});

function tasksOf(instance: Instance, seed: number): Tasks {
  const { terms, level, isBump } = instance;
  const task = (isFine: boolean, isHalf: boolean, other = 0): Task => {
    const dates = datesOf(terms, isHalf);
    const times = dates[0] === 0 ? dates : [0, ...dates];
    // Where nothing is random there is an exact value.
    const factors = chainOf(terms.assets[0].volatility, times)!;
    const size = (isFine ? FIRST_SIZE : FIRST_SIZE / 2) * 2 ** level;
    const paths = Math.min(FIRST_PATHS * 4 ** level, Math.max(FIRST_PATHS, Math.floor(MAX_STEPS / times.length)));
    // Seeds of trees are 32 bits.
    const tree = { factors, size, paths, seed: (seed + other) % 2 ** 32 };
    return { instance, tree, times, value: Number.NaN, memory: 1 };
  };
  const fine = task(true, false);
  const isSampled = fine.tree.factors.sigma.length > 1;
  const isAmerican = terms.payoff.kind !== "swing" && terms.exercise.kind === "american";
  return {
    fine,
    coarse: task(false, false),
    resampled: isSampled && !isBump ? task(false, false, 1) : undefined,
    half: isAmerican ? task(false, true) : undefined,
  };
}

/**
 * Extrapolated in the number of points, to which errors of one factor are of second order and those of two of first,
 * and in that of dates of American exercise.
 */
function estimateOf({ terms, spot }: Instance, tasks: Tasks, { precision }: Common): Estimate {
  const { fine, coarse, resampled, half } = tasks;
  const isSampled = fine.tree.factors.sigma.length > 1;
  const inPoints = (isSampled ? 1 : 1 / 3) * (fine.value - coarse.value);
  const inDates = half === undefined ? 0 : coarse.value - half.value;
  const noise = resampled === undefined ? 0 : Math.abs(resampled.value - coarse.value);
  const rounding = (precision === "f32" ? ROUNDING.f32 : ROUNDING.f64) * spot * unitsOf(terms).max;
  const held = fine.value + inPoints + inDates;
  return {
    value: isExercisable(terms) ? Math.max(held, payoffOf(terms, spot)) : held,
    error: Math.abs(inPoints) + Math.abs(inDates) + noise + rounding,
    method: "quantization",
    size: fine.tree.size,
    isSampled,
    memory: fine.memory,
  };
}

/** Tells whether an option may be exercised today. Swings have today among their dates. */
const isExercisable = ({ payoff, exercise }: Terms): boolean =>
  payoff.kind !== "swing" &&
  (exercise.kind === "american" || (exercise.kind === "bermudan" && exercise.times.some((time) => time <= 0)));

/** The payoff of one unit of a swing, or on exercise of an option. */
function payoffOf({ payoff }: Terms, spot: number): number {
  if (payoff.kind !== "swing" && payoff.kind !== "vanilla") throw new Error(`no tree of ${payoff.kind}`);
  const gain = payoff.right === "call" ? spot - payoff.strike : payoff.strike - spot;
  return payoff.kind === "swing" ? gain : Math.max(gain, 0);
}

async function solveGroup(trees: Trees, device: Device, group: readonly Task[], common: Common): Promise<void> {
  const [{ tree: spec }] = group;
  const { factors, size, paths, seed } = spec;
  const { precision, signal } = common;
  const make = (): Promise<QuantizationTree> =>
    QuantizationTree.create(device, { chain: factors.chain(), size, paths, seed, precision });
  try {
    await trees.use(`${keyOf(spec)} ${precision}`, make, async (tree) => {
      const memory = factors.sigma.length > 1 ? await tree.memory() : 1;
      await valueSwings(tree, group.filter(isSwing));
      for (const task of group) {
        signal?.throwIfAborted();
        task.memory = memory;
        if (!isSwing(task)) task.value = await valueOption(tree, task);
      }
    });
  } catch (error) {
    if (error instanceof DeviceLostError) trees.clear();
    if (error instanceof DeviceLostError || signal?.aborted === true) throw error;
    for (const { instance } of group) instance.failure ??= error;
  }
}

/** Trees of one key are the same. */
const keyOf = ({ factors, size, paths, seed }: TreeSpec): string => `${size} ${paths} ${seed} ${factors.key}`;

const isSwing = ({ instance }: Task): boolean => instance.terms.payoff.kind === "swing";

/** Tells whether a unit may be taken today. */
export const hasRightToday = ({ payoff }: Terms): boolean => payoff.kind === "swing" && payoff.times[0] === 0;

/** exp(Σ σᵢ·xᵢ) at a point of a tree. */
const growthAt = (sigma: readonly number[], x: Float64Array): number =>
  Math.exp(sigma.reduce((sum, one, i) => sum + one * x[i], 0));

/** Forwards of the spot at the times. */
export const forwardsOf = ({ instance: { terms, spot }, times }: Dated): readonly number[] =>
  times.map((t) => spot * Math.exp(integrate(terms.rates, t) - terms.assets[0].underlying.dividends.yield * t));

/** Returns the discount factors to the times. */
export const discountFactorsOf = ({ instance: { terms }, times }: Dated): readonly number[] =>
  times.map((t) => Math.exp(-integrate(terms.rates, t)));

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
async function valueSwings(tree: QuantizationTree, tasks: readonly Task[]): Promise<void> {
  if (tasks.length === 0) return;
  const { offsets, sizes } = tree;
  const bySigma = new Map<string, Float64Array>();
  const swings: WholeSwing[] = [];
  for (const task of tasks) {
    const { terms } = task.instance;
    if (terms.payoff.kind !== "swing") throw new Error(`no swing: ${terms.payoff.kind}`);
    const { right, strike } = terms.payoff;
    const { sigma } = task.tree.factors;
    const key = sigma.join(" ");
    const relative = bySigma.get(key) ?? (await relativeSpots(tree, sigma));
    bySigma.set(key, relative);
    const sign = right === "call" ? 1 : -1;
    const [forwards, factors] = [forwardsOf(task), discountFactorsOf(task)];
    const payoff = new Float64Array(relative.length);
    for (let k = 0; k < sizes.length; k++)
      for (let row = offsets[k]; row < offsets[k + 1]; row++)
        payoff[row] = factors[k] * sign * (forwards[k] * relative[row] - strike);
    const { min, max } = unitsOf(terms);
    swings.push({ payoff, least: min, most: max });
  }
  const isFirstADate = hasRightToday(tasks[0].instance.terms);
  const values = await wholeSwings(
    tree,
    swings,
    tree.times.map((_, layer) => layer > 0 || isFirstADate),
  );
  tasks.forEach((task, i) => (task.value = values[i]));
}

async function valueOption(tree: QuantizationTree, task: Task): Promise<number> {
  const { terms } = task.instance;
  const { sigma } = task.tree.factors;
  const means = await tree.means((x) => growthAt(sigma, x));
  const forwards = forwardsOf(task);
  const payoff: NodePayoff = (x, _t, k) => payoffOf(terms, (forwards[k] * growthAt(sigma, x)) / means[k]);
  const exercise = (_t: number, layer: number): boolean => layer > 0;
  return (await optimalStopping(tree, { payoff, discountFactors: discountFactorsOf(task), exercise })).value;
}

/** The settings that instances of a batch have in common. */
export interface Common {
  readonly precision: Precision;
  readonly seed: number;
  readonly signal: AbortSignal | undefined;
}
