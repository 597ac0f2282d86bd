/** Values of swings on grids of their factors: those of one model and one fineness together. */
import type { Device } from "../../../device/index.ts";
import { DeviceLostError } from "../../../errors.ts";
import { type GaussianSwing, gaussianSwings } from "../../../quantization/index.ts";
import type { Terms } from "../../terms.ts";
import { chainOf, type FactorChain } from "../quantization/chain.ts";
import { exactValue } from "../quantization/exact.ts";
import { datesOf, unitsOf } from "../quantization/factors.ts";
import type { Common } from "../quantization/solve.ts";
import { discountFactorsOf, exactly, forwardsOf, hasRightToday, type Instance } from "../quantization/solve.ts";

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

/** An instance on its way. */
interface Task {
  readonly instance: Instance;
  readonly times: readonly number[];
  readonly factors: FactorChain;
  readonly spacing: number;
}

/** The finest level of a swing. */
export function maxLevelOf(terms: Terms): number {
  const { volatility } = terms.assets[0];
  return volatility.kind === "gaussianFactors" && volatility.alpha.length > 1 ? MAX_LEVEL.two : MAX_LEVEL.one;
}

/** Finds the estimates that are missing. @throws the signal's reason; what the device throws when it is lost */
export async function solve(device: Device, instances: readonly Instance[], common: Common): Promise<void> {
  const groups = new Map<string, Task[]>();
  for (const instance of instances) {
    if (instance.estimate !== undefined || instance.failure !== undefined) continue;
    const known = exactValue(instance.terms, instance.spot);
    if (known !== undefined) {
      instance.estimate = exactly(known);
      continue;
    }
    const task = taskOf(instance);
    const { key, sigma } = task.factors;
    const name = `${key} ${sigma.join(" ")} ${task.spacing} ${hasRightToday(instance.terms)}`;
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [task]);
    else group.push(task);
  }
  for (const group of groups.values()) {
    common.signal?.throwIfAborted();
    await solveGroup(device, group, common);
  }
}

function taskOf(instance: Instance): Task {
  const { terms, level } = instance;
  const dates = datesOf(terms);
  const times = dates[0] === 0 ? dates : [0, ...dates];
  // Where nothing is random there is an exact value.
  const factors = chainOf(terms.assets[0].volatility, times, MIN_SHARE)!;
  const isMany = dates.length * unitsOf(terms).max > MANY;
  const first = factors.sigma.length === 1 ? SPACING.one : isMany ? SPACING.many : SPACING.two;
  return { instance, times, factors, spacing: first / RATIO ** level };
}

async function solveGroup(device: Device, group: readonly Task[], { precision, signal }: Common): Promise<void> {
  const [{ factors, spacing, instance }] = group;
  const chain = factors.chain();
  const swings = group.map(swingOf);
  const values = (by: number): Promise<Float64Array> =>
    gaussianSwings(
      {
        device,
        chain,
        sigma: factors.sigma,
        startsAtOnce: hasRightToday(instance.terms),
        spacing: by,
        precision,
        signal,
      },
      swings,
    );
  try {
    const [coarse, fine] = [await values(RATIO * spacing), await values(spacing)];
    group.forEach((task, i) => {
      const { terms, spot } = task.instance;
      const correction = (fine[i] - coarse[i]) / (RATIO ** ORDER - 1);
      const rounding = (precision === "f32" ? ROUNDING.f32 : ROUNDING.f64) * spot * unitsOf(terms).max;
      task.instance.estimate = {
        value: fine[i] + correction,
        error: Math.abs(correction) + rounding,
        method: "convolution",
        size: 0,
        isSampled: false,
        memory: 1,
      };
    });
  } catch (error) {
    if (error instanceof DeviceLostError || signal?.aborted === true) throw error;
    for (const task of group) task.instance.failure ??= error;
  }
}

/** A swing as slopes of the relative spot and fixed amounts, discounted. */
function swingOf(task: Task): GaussianSwing {
  const { terms } = task.instance;
  if (terms.payoff.kind !== "swing") throw new Error(`no swing: ${terms.payoff.kind}`);
  const { right, strike } = terms.payoff;
  const sign = right === "call" ? 1 : -1;
  const factors = discountFactorsOf(task);
  const { min, max } = unitsOf(terms);
  return {
    slopes: forwardsOf(task).map((forward, k) => sign * forward * factors[k]),
    fixed: factors.map((factor) => sign * strike * factor),
    least: min,
    most: max,
  };
}
