/** The plan of a tree before anything is simulated: grids of all layers, tables to search them, places of counters. */
import { type Device, type WorkOptions, compileExact, createBufferOf } from "../../../device/index.ts";
import { ShapeError, SpecError } from "../../../base/errors.ts";
import { type Precision, hostRealType } from "../../../kernel/index.ts";
import { seedOf, seedWords } from "../../../numerics/random/index.ts";
import { normalQuantizer } from "../normal/normal-quantizer.ts";
import { checkFields, checkOneOf, checkWholeNumber } from "../../../base/argument-checks.ts";
import type { Quantizer } from "../quantizer.ts";
import { type Searcher, searcherOf, type SearchMethod } from "../search/nearest.ts";
import {
  type AutoregressiveChain,
  autoregressiveStep,
  type MarkovChain,
  standardisedParameters,
  type StepFunction,
  type SteppedChain,
} from "./chain.ts";
import { LAYER_HEADER, advanceKernel } from "./walk.ts";
import { sampleQuantizer } from "../normal/samples.ts";

/** The method that computes transition probabilities. @experimental */
export type TransitionMethod = "exact" | "serial" | "paths" | "layers";

/** The settings of a tree. @experimental */
export interface TreeSettings extends WorkOptions {
  readonly chain: MarkovChain;
  /** The number of points of each layer but the first, which has one: N. */
  readonly size?: number;
  /** The quantizer of N(0, I), for an autoregressive chain, instead of a size. */
  readonly quantizer?: Quantizer;
  /**
   * The method of transition probabilities. "exact": by quadrature, for autoregressive chains in one dimension, the
   * default there. By paths: "serial" is Algorithm I, "paths" Algorithm II (the default), "layers" Algorithm III, for
   * autoregressive chains.
   */
  readonly transitions?: TransitionMethod;
  /** The number of paths, 100,000 by default. */
  readonly paths?: number;
  /** The seed of the paths, and of samples: a whole number below 2⁶⁴; 1 by default. */
  readonly seed?: number | bigint;
  /** The method that finds nearest points. */
  readonly search?: SearchMethod;
  /** The precision of paths, probabilities and values; "f64" by default. */
  readonly precision?: Precision;
}

/** The completed settings of a tree: grids, tables, and positions of counters. @experimental */
export interface QuantizationTreePlan {
  readonly method: TransitionMethod;
  readonly dimension: number;
  /** The number of points of each layer. */
  readonly sizes: Int32Array;
  /** The number of rows before each layer, and their number at the end. */
  readonly offsets: Int32Array;
  /** The points of all layers as states of the chain, [rows, d]. */
  readonly states: Float64Array;
  /**
   * The quantizer of N(0, I), whose weights are the points' probabilities; undefined where they are known from paths
   * only.
   */
  readonly quantizer: Quantizer | undefined;
  readonly paths: number;
  readonly seed: bigint;
  readonly precision: Precision;
  readonly searcher: Searcher;
  readonly step: StepFunction;
  readonly initial: Float64Array;
  readonly parameters: Float64Array;
  /** The layout of layers, [layers, 5]; see `LAYER_HEADER`. */
  readonly layout: Int32Array;
  /** The points for the search of nearest points. */
  readonly points: Float64Array;
  readonly table: Int32Array;
  readonly geometry: Float64Array;
  readonly countersLength: number;
}

const FIELDS: Readonly<Record<keyof TreeSettings, true>> = {
  chain: true,
  size: true,
  quantizer: true,
  transitions: true,
  paths: true,
  seed: true,
  search: true,
  precision: true,
  signal: true,
  onProgress: true,
};

const MAX_PATHS = 2 ** 30;
const MAX_COUNTERS = 2 ** 31 - 1;

/** Makes the plan of a tree. @throws SpecError | ShapeError */
export async function quantizationTreePlan(device: Device, settings: TreeSettings): Promise<QuantizationTreePlan> {
  checkFields("QuantizationTree", settings, Object.keys(FIELDS));
  const { chain, paths = 100_000, precision = "f64", signal } = settings;
  const seed = seedOf(settings.seed ?? 1);
  checkWholeNumber("QuantizationTree: paths", paths, 1, MAX_PATHS);
  const method = methodOf(settings);
  const searcher = searcherOf(settings.search, chain.dimension);
  const common = { method, paths, seed, precision, searcher, dimension: chain.dimension };
  if (chain.kind === "autoregressive") {
    const quantizer = await quantizerOf(device, settings);
    return { ...common, ...ofOneGrid(chain, quantizer, searcher) };
  }
  const { size } = settings;
  if (size === undefined || settings.quantizer !== undefined)
    throw new SpecError(
      "QuantizationTree: a stepped chain takes a size, and its grids from paths; a quantizer is for autoregressive ones",
    );
  checkWholeNumber("QuantizationTree: size", size, 1, 100_000);
  const grids = await gridsOfPaths(device, { chain, size, seed, precision, paths, signal });
  const { step, parameters } = chain;
  return {
    ...common,
    ...ofGrids([Float64Array.from(chain.initial), ...grids], searcher, chain.dimension),
    quantizer: undefined,
    step,
    initial: Float64Array.from(chain.initial),
    parameters: parameters.length === 0 ? new Float64Array(1) : parameters,
  };
}

function methodOf({ chain, transitions }: TreeSettings): TransitionMethod {
  const isGaussian = chain.kind === "autoregressive";
  const method = transitions ?? (isGaussian && chain.dimension === 1 ? "exact" : "paths");
  checkOneOf("QuantizationTree: transitions", method, ["exact", "serial", "paths", "layers"]);
  if (method === "exact" && !(isGaussian && chain.dimension === 1))
    throw new SpecError(
      'QuantizationTree: transitions "exact" are for autoregressive chains in one dimension; take "paths"',
    );
  if (method === "layers" && !isGaussian)
    throw new SpecError(
      'QuantizationTree: transitions "layers" need the law of each layer, which autoregressive chains have; take "paths"',
    );
  return method;
}

async function quantizerOf(
  device: Device,
  { chain, size, quantizer, seed = 1, precision = "f64", signal }: TreeSettings,
): Promise<Quantizer> {
  const { dimension } = chain;
  if (quantizer === undefined) {
    if (size === undefined) throw new SpecError("QuantizationTree: got no size; give the points of a layer, size: 100");
    return normalQuantizer({ size, dimension, device, seed, precision, signal });
  }
  if (quantizer.dimension !== dimension)
    throw new ShapeError(
      `QuantizationTree: quantizer: got ${quantizer.dimension} dimensions, expected ${dimension} as the chain has`,
    );
  return quantizer;
}

function sizesOf(layers: number, size: number): { readonly sizes: Int32Array; readonly offsets: Int32Array } {
  const sizes = Int32Array.from({ length: layers }, (_, k) => (k === 0 ? 1 : size));
  const offsets = new Int32Array(layers + 1);
  sizes.forEach((n, k) => (offsets[k + 1] = offsets[k] + n));
  return { sizes, offsets };
}

/** The places at which the counters of each layer begin, and their total number. */
function countersOf(sizes: Int32Array): { readonly starts: readonly number[]; readonly countersLength: number } {
  const starts = [0];
  let length = 0;
  for (let k = 1; k < sizes.length; k++) {
    starts.push(length);
    length += sizes[k - 1] * sizes[k];
  }
  if (length > MAX_COUNTERS)
    throw new SpecError(
      `QuantizationTree: got ${length} pairs of neighbouring cells, expected at most 2³¹ − 1; take fewer points or times`,
    );
  return { starts, countersLength: length };
}

/** An autoregressive chain, standardised: one grid and one table for all layers. */
function ofOneGrid(chain: AutoregressiveChain, quantizer: Quantizer, searcher: Searcher) {
  const { dimension: d } = chain;
  const { points, size } = quantizer;
  const { roots, parameters } = standardisedParameters(chain);
  const { sizes, offsets } = sizesOf(chain.times.length, size);
  const states = new Float64Array(offsets[sizes.length] * d);
  roots.forEach((root, k) => {
    if (k === 0) return;
    for (let i = 0; i < size; i++)
      for (let a = 0; a < d; a++) {
        let sum = 0;
        for (let b = 0; b <= a; b++) sum += root[a * d + b] * points[i * d + b];
        states[(offsets[k] + i) * d + a] = sum;
      }
  });
  const { starts, countersLength } = countersOf(sizes);
  const { table, geometry } = searcher.plan(points);
  const layout = Int32Array.from(starts.flatMap((start, k) => [sizes[k], 0, 0, 0, start]));
  const initial = new Float64Array(d);
  const step = autoregressiveStep(d);
  return {
    sizes,
    offsets,
    states,
    quantizer,
    step,
    initial,
    parameters,
    layout,
    points,
    table,
    geometry,
    countersLength,
  };
}

/** A grid and a table for each layer, one after another. */
function ofGrids(grids: readonly Float64Array[], searcher: Searcher, d: number) {
  const sizes = Int32Array.from(grids, (points) => points.length / d);
  const offsets = new Int32Array(grids.length + 1);
  sizes.forEach((n, k) => (offsets[k + 1] = offsets[k] + n));
  const plans = grids.map((points) => searcher.plan(points));
  const { starts, countersLength } = countersOf(sizes);
  const states = Float64Array.from(grids.flatMap((points) => [...points]));
  const layout = new Int32Array(LAYER_HEADER.numbers * grids.length);
  let [tableAt, geometryAt] = [0, 0];
  plans.forEach(({ table, geometry }, k) => {
    layout.set([sizes[k], offsets[k], tableAt, geometryAt, starts[k]], LAYER_HEADER.numbers * k);
    tableAt += table.length;
    geometryAt += geometry.length;
  });
  const table = new Int32Array(tableAt);
  const geometry = new Float64Array(geometryAt);
  plans.forEach((plan, k) => {
    table.set(plan.table, layout[LAYER_HEADER.numbers * k + LAYER_HEADER.table]);
    geometry.set(plan.geometry, layout[LAYER_HEADER.numbers * k + LAYER_HEADER.geometry]);
  });
  return { sizes, offsets, states, layout, points: states, table, geometry, countersLength };
}

/** The settings of grids from paths. */
interface GridSettings {
  readonly chain: SteppedChain;
  readonly size: number;
  readonly seed: bigint;
  readonly precision: Precision;
  readonly paths: number;
  readonly signal: AbortSignal | undefined;
}

/** The number of samples per point, as far as there are paths. */
const PER_POINT = 100;
const ITERATIONS = 30;

/** Returns the points of layers 1, 2, …: `size` of them, or as many as there are different states. */
async function gridsOfPaths(device: Device, settings: GridSettings): Promise<readonly Float64Array[]> {
  const { chain, size, seed, precision, signal } = settings;
  const { dimension: d, step, initial, times } = chain;
  const count = Math.max(size, Math.min(settings.paths, PER_POINT * size));
  const compiled = await compileExact(device, advanceKernel(d, step), precision);
  const element = hostRealType(precision);
  const start = new Float64Array(count * d).map((_, k) => initial[k % d]);
  using states = createBufferOf(device, element, start);
  const numbers = chain.parameters.length === 0 ? new Float64Array(1) : chain.parameters;
  using parameters = createBufferOf(device, element, numbers);
  const grids: Float64Array[] = [];
  for (let layer = 1; layer < times.length; layer++) {
    device.launch(compiled, { ...seedWords(seed), layer, parameters, states }, { items: count });
    const samples = Float64Array.from(await device.read(states));
    const wrong = samples.findIndex((x) => !Number.isFinite(x));
    if (wrong >= 0)
      throw new SpecError(
        `QuantizationTree: step: got ${samples[wrong]} in state[${wrong % d}] of path ${Math.floor(wrong / d)} at ` +
          `layer ${layer}, expected a finite number; check the step function and its parameters`,
      );
    const sampled = { device, samples, dimension: d, size, iterations: ITERATIONS, precision, signal };
    const { points } = await sampleQuantizer(sampled);
    grids.push(points);
  }
  return grids;
}
