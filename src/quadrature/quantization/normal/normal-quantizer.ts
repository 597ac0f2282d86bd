/** Quantizers of N(0, I) in one to ten dimensions: the best way for each. */
import { type CallOptions, withDevice } from "../../../device/index.ts";
import type { Precision } from "../../../kernel/index.ts";
import { seedOf } from "../../../numerics/random/index.ts";
import { WorkProgress } from "../../../base/event-loop.ts";
import { type Quantizer } from "../quantizer.ts";
import { checkFields, checkWholeNumber } from "../../../base/argument-checks.ts";
import { MAX_DIMENSION } from "../search/nearest.ts";
import { cachedQuantizer, storeQuantizer } from "./cache.ts";
import { randomGuess, splitGuess } from "./guess.ts";
import { optimalNormalLine } from "./line.ts";
import { assignmentOf, learnQuantizer } from "./lloyd.ts";
import { planeSizes, unpackPlane } from "./plane-ladder.ts";
import { optimalPlaneQuantizer } from "./plane.ts";
import { quantizerOfSums } from "./samples.ts";

/** The settings of `normalQuantizer`. @experimental */
export interface NormalSettings extends CallOptions {
  /** The number of points, N. */
  readonly size: number;
  /** The dimension d, 1 to 10; 1 by default. */
  readonly dimension?: number;
  /** The seed of the samples and of the first guess, from three dimensions on; 1 by default. */
  readonly seed?: number | bigint;
  /** The number of samples of a Lloyd iteration, from three dimensions on; 500·N by default, at least 2¹⁶. */
  readonly samples?: number;
  /** The precision of the samples, from three dimensions on; "f64" by default. */
  readonly precision?: Precision;
  /** True to read and fill the cache on disk; true by default. */
  readonly cache?: boolean;
}

const FIELDS: Readonly<Record<keyof NormalSettings, true>> = {
  size: true,
  dimension: true,
  seed: true,
  samples: true,
  precision: true,
  cache: true,
  device: true,
  signal: true,
  onProgress: true,
};

/** Largest N that is made in the plane, and beyond: a matter of minutes. */
const MAX_SIZE = 5000;
const BATCHES = 300;
const ITERATIONS = 100;

/**
 * Returns an optimal quadratic quantizer of N(0, I) in d dimensions, or a very good one:
 *
 *   d = 1   Newton's method (`optimalNormalLine`): the optimum, which is unique, at once
 *   d = 2   Newton's method on exactly integrated Voronoi cells: a local optimum to rounding. The best of many searches
 *           are part of the package, N = 1 … 100, by tens to 200, by twenties to 300, 350, 400, 450, 500; another N
 *           starts from the next smaller one of these
 *   d ≥ 3   CLVQ, then Lloyd's iteration, on samples: near a local optimum, within the error of sampling
 *
 * Results that take longer than loading are cached on disk (`FEYNKAC_CACHE` names the directory, or turns it `off`;
 * browsers have none). The same seed gives the same points on any number of threads, and on CUDA. Cost for N = 500:
 * milliseconds on the line, 50 ms in the plane, seconds for a size that is not shipped; d ≥ 3: about 200·samples·N
 * distances. Source: G. Pagès and J. Printems (2003), Pagès (2015). Verified: test/quadrature/quantization, against
 * reference values, exact optima for small N, stationarity, and Zador's limit.
 *
 * @param settings N, d, the search, and the device, by default the CPU; `onProgress` counts
 *   iterations.
 * @throws SpecError | PrecisionError
 * @example
 * import { normalQuantizer } from "feynkac/quantization";
 *
 * const { distortion } = await normalQuantizer({ size: 10, dimension: 2 });
 * console.log(distortion.toFixed(6)); // 0.328990
 * @experimental
 */
export async function normalQuantizer(settings: NormalSettings): Promise<Quantizer> {
  checkFields("normalQuantizer", settings, Object.keys(FIELDS));
  const { size, dimension = 1, precision = "f64", cache = true } = settings;
  checkWholeNumber("normalQuantizer: dimension", dimension, 1, MAX_DIMENSION);
  if (dimension === 1) return optimalNormalLine(size);
  checkWholeNumber("normalQuantizer: size", size, 1, MAX_SIZE);
  const seed = seedOf(settings.seed ?? 1);
  const samples = settings.samples ?? Math.max(2 ** 16, 500 * size);
  checkWholeNumber("normalQuantizer: samples", samples, size, 2 ** 30);
  if (dimension === 2 && planeSizes().includes(size)) return shippedPlane(size);
  const key = dimension === 2 ? { dimension, size } : { dimension, size, seed, samples, precision };
  const known = cache ? await cachedQuantizer(key) : undefined;
  if (known !== undefined) return known;
  const made = dimension === 2 ? await planeFromShipped(size) : await sampled(settings, dimension, seed, samples);
  if (cache) await storeQuantizer(key, made);
  return made;
}

/** Reads the quantizer that the package holds, to 2⁻¹²; Newton's method finds the other digits. */
async function shippedPlane(size: number): Promise<Quantizer> {
  const { planeData } = await import("./plane-data.ts");
  return optimalPlaneQuantizer(unpackPlane(planeData, size), 0);
}

async function planeFromShipped(size: number): Promise<Quantizer> {
  const from = await shippedPlane(planeSizes().findLast((other) => other < size)!);
  return optimalPlaneQuantizer(splitGuess(from.points, from.weights, 2, size), 100);
}

function sampled(settings: NormalSettings, d: number, seed: bigint, samples: number): Promise<Quantizer> {
  const { size } = settings;
  return withDevice(settings.device, { backend: "cpu" }, async (device) => {
    using assignment = await assignmentOf(device, d, { kind: "normal", seed }, settings.precision ?? "f64");
    const guess = randomGuess(size, d, seed, 0xffffffff);
    const batch = Math.min(samples, Math.max(1024, 20 * size));
    const work = new WorkProgress(settings);
    const learnt = { assignment, guess, batches: BATCHES, batch, iterations: ITERATIONS, samples, work };
    const points = await learnQuantizer(learnt);
    // Weights and distortion from samples that the points have not seen.
    const unseen = samples + BATCHES * batch;
    return quantizerOfSums(points, d, await assignment.sums(points, unseen, samples), samples);
  });
}
