/** Optimal stopping on a quantization tree. */
import { compileExact, type DeviceBuffer, createBufferOf } from "../../../device/index.ts";
import { SpecError } from "../../../base/errors.ts";
import { checkFields } from "../../../base/argument-checks.ts";
import { EventLoopYielder, type WorkOptions } from "../../../base/event-loop.ts";
import { bool, hostRealType, i32, kernel, read, real, write } from "../../../kernel/index.ts";
import type { QuantizationTree } from "../tree/quantization-tree.ts";
import {
  checkPayoff,
  type Discounting,
  DISCOUNTING,
  discountedPayoff,
  discountFactors,
  type NodePayoff,
} from "./nodes.ts";

/**
 * The kernel that computes one layer of Vₖ = max(hₖ, P·Vₖ₊₁), with one work item for each point. `values` has the
 * values of all points but the first.
 *
 * Bytes: 12 per transition, and a value for each that is read.
 */
export const rollbackKernel = kernel({
  name: "rollback",
  params: {
    /** Before the layer, and before the next one. */
    firstRow: i32,
    nextRow: i32,
    totalRows: i32,
    slots: i32,
    isExercised: bool,
    columns: read(i32),
    probabilities: read(real),
    payoff: read(real),
    values: write(real),
  },
  body({ firstRow, nextRow, totalRows, slots, isExercised, columns, probabilities, payoff, values }, gpu) {
    const row = firstRow + gpu.globalId();
    let sum = gpu.real(0);
    for (let s = 0; s < slots; s++) {
      const at = s * totalRows + row;
      sum += probabilities[at] * values[nextRow + columns[at]];
    }
    values[row] = isExercised ? Math.max(payoff[row], sum) : sum;
  },
});

/** The settings of `optimalStopping`. @experimental */
export type StoppingSettings = Discounting &
  Pick<WorkOptions, "signal"> & {
    /** The payoff received on exercise, not discounted. −Infinity where exercise is not allowed. */
    readonly payoff: NodePayoff;
    /** Tells whether exercise is allowed at a layer; at all layers by default, and always at the last one. */
    readonly exercise?: (time: number, layer: number) => boolean;
  };

/**
 * The result of `optimalStopping`. One tree does not know its error: compare the values of two sizes.
 * @experimental
 */
export interface StoppingResult {
  /** The value at time 0. */
  readonly value: number;
  /**
   * The value with exercise at the last layer only, for comparison with a closed form; its error may have the other
   * sign.
   */
  readonly european: number;
  /** The values of all points, layer by layer, discounted to time 0: [rows]. */
  readonly values: Float64Array;
}

/**
 * Computes the value of an option that may be exercised at the times of a tree, in any number of dimensions, by
 * backward dynamic programming (all values discounted to time 0):
 *
 *   V_K(i) = h_K(xᵢ),   Vₖ(i) = max(hₖ(xᵢ), Σⱼ p[k][i, j]·Vₖ₊₁(j))
 *
 * Accuracy: with exact transitions, in one dimension, of second order in 1/N, so that two sizes extrapolate; in the
 * plane of first order. Paths add the noise of frequencies, which biases the value upwards. An American option is the
 * limit of many times.
 * Cost: two passes over the tree's transitions on its device.
 * Source: V. Bally, G. Pagès, J. Printems, Mathematical Finance 15 (2005) 119–168. Verified:
 * test/quadrature/quantization/stopping.test.ts, against reference values and binomial trees.
 *
 * @param tree of the chain that the payoff is a function of.
 * @param settings the payoff, discounting, when exercise is allowed, and a signal that ends the work.
 * @throws SpecError | ShapeError | DisposedError | the signal's reason
 * @example
 * import { openDevice } from "feynkac/device";
 * import { meanRevertingFactors, optimalStopping, QuantizationTree } from "feynkac/quantization";
 *
 * using device = await openDevice({ backend: "cpu", threads: 1 });
 * // A Bermudan put on a spot of 36, volatility 0.2, with four dates in a year.
 * const chain = meanRevertingFactors({ times: [0, 0.25, 0.5, 0.75, 1], meanReversion: [0] });
 * using tree = await QuantizationTree.create(device, { chain, size: 200 });
 * const spot = (w: number, t: number) => 36 * Math.exp((0.06 - 0.02) * t + 0.2 * w);
 * const { value } = await optimalStopping(tree, {
 *   payoff: ([w], t) => Math.max(40 - spot(w!, t), 0),
 *   rate: 0.06,
 * });
 * console.log(value.toFixed(1)); // 4.4
 * @experimental
 */
export async function optimalStopping(tree: QuantizationTree, settings: StoppingSettings): Promise<StoppingResult> {
  checkFields("optimalStopping", settings, ["payoff", "exercise", ...DISCOUNTING, "signal"]);
  checkPayoff("optimalStopping", settings.payoff);
  const { payoff, exercise = () => true, signal } = settings;
  const yielder = new EventLoopYielder(signal);
  const factors = discountFactors("optimalStopping", tree.times, settings);
  const host = await discountedPayoff("optimalStopping", tree, payoff, factors, yielder);
  const last = tree.sizes.length - 1;
  const forbidden = host.subarray(tree.offsets[last]).findIndex((x) => x === -Infinity);
  if (forbidden >= 0)
    throw new SpecError(
      `optimalStopping: payoff at the last time, point ${forbidden}: got -Infinity, expected a finite number; ` +
        `an option that expires worthless pays 0`,
    );
  const { device, rows } = tree;
  const precision = tree.settings.precision ?? "f64";
  const element = hostRealType(precision);
  const compiled = await compileExact(device, rollbackKernel, precision);
  using payoffs = createBufferOf(device, element, host.subarray(1));
  using values = createBufferOf(device, element, host.subarray(1));
  const isExercised = (layer: number): boolean => exercise(tree.times[layer], layer);
  const { columns, probabilities, slots, rows: totalRows } = rows;
  const shared = { totalRows, slots, columns, probabilities, payoff: payoffs, values };
  const roll = async (isAllowed: (layer: number) => boolean): Promise<void> => {
    for (let k = last - 1; k > 0; k--) {
      const place = { firstRow: tree.offsets[k] - 1, nextRow: tree.offsets[k + 1] - 1 };
      device.launch(compiled, { ...shared, ...place, isExercised: isAllowed(k) }, { items: tree.sizes[k] });
      if (yielder.isDue) await yielder.finishAndYield(device);
    }
  };
  await roll(() => false);
  const european = await rootMean(tree, values);
  await roll(isExercised);
  const continued = await rootMean(tree, values);
  const value = isExercised(0) ? Math.max(host[0], continued) : continued;
  return { value, european, values: Float64Array.of(value, ...(await device.read(values))) };
}

/**
 * Returns the expected value at the first date, Σⱼ P(X₁ ∈ Cⱼ)·V₁(j). X₁ is the state at that date, Cⱼ the j-th cell of
 * its quantizer, and V₁(j) = `values`[j] the value there, which is discounted already.
 */
async function rootMean(tree: QuantizationTree, values: DeviceBuffer): Promise<number> {
  const first = await tree.device.read(values, 0, tree.sizes[1]);
  return tree.root.reduce((sum, p, j) => sum + p * first[j], 0);
}
