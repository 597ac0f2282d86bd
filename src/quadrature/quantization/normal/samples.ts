/** Quantizers of what is known by samples only. */
import { type CallOptions, withDevice } from "../../../device/index.ts";
import { SpecError } from "../../../base/errors.ts";
import type { Precision } from "../../../kernel/index.ts";
import { WorkProgress } from "../../../base/event-loop.ts";
import { checkPoints, type Quantizer } from "../quantizer.ts";
import { checkWholeNumber } from "../../../base/argument-checks.ts";
import { MAX_DIMENSION } from "../search/nearest.ts";
import { assignmentOf, type CellSums, learnQuantizer } from "./lloyd.ts";

/** The settings of `sampleQuantizer`. @experimental */
export interface SampleSettings extends CallOptions {
  /** The samples, [count, dimension], row by row: independent draws, or any list of points with equal weights. */
  readonly samples: Float64Array;
  readonly dimension: number;
  /** The number of points of the quantizer. */
  readonly size: number;
  /** The number of Lloyd's iterations, 50 by default. */
  readonly iterations?: number;
  /** The precision, "f64" by default. */
  readonly precision?: Precision;
}

/**
 * Returns a quantizer of a distribution given by samples, such as the states of a model's paths at some time: Lloyd's
 * iteration, from every ⌊M/N⌋-th sample in the order of the first coordinate.
 *
 * The distortion is that of the samples; that of the distribution is larger, since the points were fitted to the
 * samples. Cost: iterations × M × N distances on the device.
 *
 * @param settings the samples, the number of points, and the device, by default the CPU; `onProgress`
 *   counts iterations.
 * @throws SpecError | ShapeError | PrecisionError
 * @example
 * import { openDevice } from "feynkac/device";
 * import { sampleQuantizer } from "feynkac/quantization";
 *
 * using device = await openDevice({ backend: "cpu", threads: 1 });
 * const samples = Float64Array.of(0, 1, 10, 11);
 * const { points, weights } = await sampleQuantizer({ device, samples, dimension: 1, size: 2 });
 * console.log(points.join(" "), weights.join(" ")); // 0.5 10.5 0.5 0.5
 * @experimental
 */
export async function sampleQuantizer(settings: SampleSettings): Promise<Quantizer> {
  const { samples, dimension, size, iterations = 50, precision = "f64" } = settings;
  checkWholeNumber("sampleQuantizer: dimension", dimension, 1, MAX_DIMENSION);
  const count = checkPoints("sampleQuantizer: samples", samples, dimension);
  checkWholeNumber("sampleQuantizer: iterations", iterations, 0, 1_000_000);
  if (!Number.isInteger(size) || size < 1 || size > count)
    throw new SpecError(`sampleQuantizer: size: got ${size}, expected 1 to ${count}, as many as there are samples`);
  const order = Array.from({ length: count }, (_, i) => i).sort(
    (i, j) => samples[i * dimension] - samples[j * dimension] || i - j,
  );
  const guess = new Float64Array(size * dimension).map((_, k) => {
    const rank = Math.floor(((Math.floor(k / dimension) + 0.5) * count) / size);
    return samples[order[rank] * dimension + (k % dimension)];
  });
  return withDevice(settings.device, { backend: "cpu" }, async (device) => {
    using assignment = await assignmentOf(device, dimension, { kind: "given", values: samples }, precision);
    const work = new WorkProgress(settings);
    const points = await learnQuantizer({ assignment, guess, batches: 0, batch: 0, iterations, samples: count, work });
    return quantizerOfSums(points, dimension, await assignment.sums(points, 0, count), count);
  });
}

/** The normal quantile of a two-sided 95 % interval. */
const NORMAL_95 = 1.959963984540054;

/**
 * Returns the quantizer with the given points, with weights and distortion from the sums over the samples of each cell.
 */
export function quantizerOfSums(points: Float64Array, dimension: number, found: CellSums, count: number): Quantizer {
  const { counts, squares, fourths } = found;
  const weights = Float64Array.from(counts, (n) => n / count);
  const mean = (sums: Float64Array): number => sums.reduce((sum, x) => sum + x, 0) / count;
  const distortion = mean(squares);
  const errorEstimate = NORMAL_95 * Math.sqrt(Math.max(mean(fourths) - distortion ** 2, 0) / count);
  return { dimension, size: weights.length, points, weights, distortion, errorEstimate };
}
