/** Upper bounds of Bermudan options: the dual problem with the martingale of an exercise rule. */
import { compileExact, type Device, type DeviceBuffer } from "../../device/index.ts";
import { SpecError } from "../../base/errors.ts";
import { checkFields } from "../../base/argument-checks.ts";
import { hostRealType, type Precision } from "../../kernel/index.ts";
import type { Estimates } from "../estimate.ts";
import { intervalWidth } from "../moments.ts";
import { rowsOf } from "../paths/shape.ts";
import { stepsPerLaunch } from "../paths/simulation.ts";
import { seedWords } from "../../numerics/random/index.ts";
import { innerPathsKernel, OUTER_NUMBERS, outerPathsKernel } from "./policy.ts";
import type { StoppingShape } from "./rule.ts";
import type { WorkProgress } from "../../base/event-loop.ts";

/** The settings of the upper bound: the numbers of its paths. @experimental */
export interface UpperSettings {
  /** The number of outer paths, 256 by default. */
  readonly outer?: number;
  /** The number of inner paths of each outer one at each date, 128 by default; fewer raise the bound. */
  readonly inner?: number;
}

/** An estimate whose expectation lies above the price. @experimental */
export type UpperBound = Estimates;

/** The parts of a computation with an exercise rule that an upper bound needs. */
export interface RuleOnDevice {
  readonly device: Device;
  readonly shape: StoppingShape;
  readonly precision: Precision;
  readonly seed: bigint;
  readonly dates: number;
  readonly instances: number;
  readonly table: DeviceBuffer;
  readonly streams: DeviceBuffer;
  readonly betas: DeviceBuffer;
  readonly scales: DeviceBuffer;
  readonly none: DeviceBuffer;
  readonly work: WorkProgress;
}

/**
 * Computes E maxₖ (hₖ − Mₖ) over outer paths, with the martingale of the rule, all discounted to time 0:
 *
 *   Mₖ = Σ_{j ≤ k} (Lⱼ − Cⱼ₋₁),   Lⱼ = hⱼ where the rule exercises, else Cⱼ,   Cⱼ = E[earned after j | state at j]
 *
 * Cⱼ are means over inner paths, whose noise raises the bound; C₀ is the value of the rule. Source: L. Andersen and M.
 * Broadie, A primal-dual simulation algorithm for pricing multidimensional American options, Management Science 50
 * (2004).
 *
 * @param price value of the rule, [all instances], whose own error is in that of the bound.
 * @param members the instances of this calculation.
 * @throws SpecError
 */
export async function upperBound(
  calculation: RuleOnDevice,
  settings: UpperSettings,
  price: Estimates,
  members: Uint32Array,
): Promise<UpperBound> {
  checkFields("upper", settings, ["outer", "inner"]);
  const { outer: paths = 256, inner = 128 } = settings;
  for (const [name, value] of Object.entries({ outer: paths, inner }))
    if (!Number.isInteger(value) || value < 2 || value > 2 ** 20)
      throw new SpecError(`upper.${name}: got ${value}, expected a whole number from 2 to 2²⁰`);
  const { device, shape, precision, seed, dates, instances, table, streams, betas, scales, none, work } = calculation;
  const { state } = rowsOf(shape);
  const numbers = state + shape.product.running + OUTER_NUMBERS;
  const element = hostRealType(precision);
  const row = paths * instances;
  const outerPaths = await compileExact(device, outerPathsKernel(shape), precision);
  const innerPaths = await compileExact(device, innerPathsKernel(shape), precision);
  using outer = device.createBuffer(element, dates * numbers * row);
  using continued = device.createBuffer(element, (dates - 1) * row);
  const rule = { ...seedWords(seed), dates, paths, instances, table, streams, betas, scales };
  device.launch(outerPaths, { ...rule, none, outer }, { items: row });
  const perLaunch = Math.max(256, Math.floor(stepsPerLaunch(device) / (inner * dates * shape.substeps)));
  for (let firstItem = 0; firstItem < (dates - 1) * row; firstItem += perLaunch) {
    await work.yieldIfDue();
    const items = Math.min(perLaunch, (dates - 1) * row - firstItem);
    device.launch(innerPaths, { ...rule, firstItem, inner, outer, continued }, { items });
    await device.finish();
  }
  const [all, after] = [await device.read(outer), await device.read(continued)];
  const column = (): Float64Array => new Float64Array(instances);
  const bound = { value: column(), standardError: column(), errorEstimate: column() };
  for (let i = 0; i < instances; i++) {
    let [mean, squares] = [0, 0];
    for (let path = 0; path < paths; path++) {
      const at = path * instances + i;
      let [martingale, best, before] = [0, -Infinity, price.value[members[i]]];
      for (let k = 0; k < dates; k++) {
        const paid = all[(k * numbers + numbers - OUTER_NUMBERS) * row + at];
        const isExercised = all[(k * numbers + numbers - 1) * row + at] > 0;
        const next = k < dates - 1 ? after[k * row + at] : 0;
        martingale += (isExercised ? paid : next) - before;
        best = Math.max(best, paid - martingale);
        before = next;
      }
      const difference = best - mean;
      mean += difference / (path + 1);
      squares += difference * (best - mean);
    }
    bound.value[i] = mean;
    bound.standardError[i] = Math.hypot(Math.sqrt(squares / (paths * (paths - 1))), price.standardError[members[i]]);
    bound.errorEstimate[i] = intervalWidth(Infinity) * bound.standardError[i];
  }
  return bound;
}
