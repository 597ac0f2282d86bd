/** Values on quantization trees: those of one tree together, whichever trades they belong to. */
import type { Device } from "../../../device/index.ts";
import { DeviceLostError } from "../../../errors.ts";
import type { Precision } from "../../../kernel/index.ts";
import { integrate } from "../../../market/index.ts";
import { type NodePayoff, optimalStopping, QuantizationTree, swingOption } from "../../../quantization/index.ts";
import type { ResultMethod } from "../../columns/result-columns.ts";
import type { Terms } from "../../terms.ts";
import { chainOf, type FactorChain } from "./chain.ts";
import { type ExactValue, exactValue } from "./exact.ts";
import { datesOf, unitsOf } from "./factors.ts";

/** What is known of an instance. */
export interface Estimate {
  readonly value: number;
  /** The size of the corrections, so that it is on the safe side. */
  readonly error: number;
  readonly method: ResultMethod;
  /** Points of the finer tree; 0 without one. */
  readonly size: number;
  /** Whether the tree's probabilities are frequencies of paths. */
  readonly isSampled: boolean;
  /** See `QuantizationTree.memory`; 1 in one factor, where errors of second order extrapolate. */
  readonly memory: number;
}

/** A value to be found: terms, a spot, and how fine the trees are. */
export interface Instance {
  readonly terms: Terms;
  readonly spot: number;
  level: number;
  /** Whether only differences with others of the level matter: the error is then not estimated in full. */
  readonly isBump: boolean;
  estimate: Estimate | undefined;
  failure: unknown;
}

interface Common {
  readonly precision: Precision;
  readonly seed: number;
  readonly signal: AbortSignal | undefined;
}

/** Points of the finer of two trees on the first level; each level has twice the points and four times the paths. */
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

/** A value of an instance on one tree. */
interface Task {
  readonly instance: Instance;
  readonly tree: TreeSpec;
  readonly times: readonly number[];
  value: number;
  memory: number;
}

/** The values that an estimate is made of. */
interface Tasks {
  readonly fine: Task;
  readonly coarse: Task;
  /** With other paths; undefined where there are none. */
  readonly resampled: Task | undefined;
  /** With half of the dates of American exercise. */
  readonly half: Task | undefined;
}

/** Finds the estimates that are missing. @throws the signal's reason; what the device throws when it is lost */
export async function solve(device: Device, instances: readonly Instance[], common: Common): Promise<void> {
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
      const { factors, size, paths, seed } = task.tree;
      const key = `${size} ${paths} ${seed} ${factors.key}`;
      const group = groups.get(key);
      if (group === undefined) groups.set(key, [task]);
      else group.push(task);
    }
  for (const group of groups.values()) {
    common.signal?.throwIfAborted();
    await solveGroup(device, group, common);
  }
  for (const { instance, tasks } of open)
    if (instance.failure === undefined) instance.estimate = estimateOf(instance, tasks, common);
}

const exactly = ({ value, method }: ExactValue): Estimate => ({
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

/** Whether an option may be exercised today. Swings have today among their dates. */
const isExercisable = ({ payoff, exercise }: Terms): boolean =>
  payoff.kind !== "swing" &&
  (exercise.kind === "american" || (exercise.kind === "bermudan" && exercise.times.some((time) => time <= 0)));

/** Of one unit, or on exercise. */
function payoffOf({ payoff }: Terms, spot: number): number {
  if (payoff.kind !== "swing" && payoff.kind !== "vanilla") throw new Error(`no tree of ${payoff.kind}`);
  const gain = payoff.right === "call" ? spot - payoff.strike : payoff.strike - spot;
  return payoff.kind === "swing" ? gain : Math.max(gain, 0);
}

async function solveGroup(device: Device, group: readonly Task[], { precision, signal }: Common): Promise<void> {
  const [{ tree: spec }] = group;
  const { factors, size, paths, seed } = spec;
  try {
    using tree = await QuantizationTree.create(device, { chain: factors.chain(), size, paths, seed, precision });
    const memory = factors.sigma.length > 1 ? await tree.memory() : 1;
    for (const task of group) {
      signal?.throwIfAborted();
      task.memory = memory;
      task.value = await valueOf(tree, task);
    }
  } catch (error) {
    if (error instanceof DeviceLostError || signal?.aborted === true) throw error;
    for (const { instance } of group) instance.failure ??= error;
  }
}

async function valueOf(tree: QuantizationTree, task: Task): Promise<number> {
  const { instance, times, tree: spec } = task;
  const { terms, spot } = instance;
  const { rates, assets } = terms;
  const { sigma } = spec.factors;
  const { yield: carry } = assets[0].underlying.dividends;
  const growth = (x: Float64Array): number => Math.exp(sigma.reduce((sum, one, i) => sum + one * x[i], 0));
  const means = await tree.means(growth);
  const forwards = times.map((t) => spot * Math.exp(integrate(rates, t) - carry * t));
  // The tree's own mean of the spot is the forward, so that a strip of forwards has no error.
  const payoff: NodePayoff = (x, _t, k) => payoffOf(terms, (forwards[k] * growth(x)) / means[k]);
  const discountFactors = times.map((t) => Math.exp(-integrate(rates, t)));
  if (terms.payoff.kind !== "swing") {
    const exercise = (_t: number, layer: number): boolean => layer > 0;
    return (await optimalStopping(tree, { payoff, discountFactors, exercise })).value;
  }
  const { min, max } = unitsOf(terms);
  const isFirstADate = terms.payoff.times[0] === 0;
  const dates = (_t: number, layer: number): boolean => layer > 0 || isFirstADate;
  return (await swingOption(tree, { payoff, discountFactors, dates, global: [min, max] })).value;
}
