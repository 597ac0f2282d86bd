/** Quantization trees: grids of a Markov chain's layers, and the probabilities of going from point to point. */
import { compileExact, type Device, type DeviceBuffer, createBufferOf } from "../../../device/index.ts";
import { hostRealType } from "../../../kernel/index.ts";
import { SpecError } from "../../../base/errors.ts";
import { WorkProgress } from "../../../base/event-loop.ts";
import { product } from "../gaussian.ts";
import { checkWholeNumber } from "../../../base/argument-checks.ts";
import { stepReals } from "./chain.ts";
import { exactRows, MAX_DEVIATIONS, ruleNumbers } from "./exact-transitions.ts";
import { TransitionCounter } from "./counter.ts";
import { type TransitionMethod, type QuantizationTreePlan, quantizationTreePlan, type TreeSettings } from "./plan.ts";
import { emptyRows, rowMakerOf, type RowRanges } from "./rows.ts";
import { LAYER_HEADER } from "./walk.ts";
import { cellAt } from "../../../base/search.ts";

/**
 * Sparse rows on the device: entry s of row r is at s·rows + r. Row r belongs to point r + 1 of the tree; the
 * probabilities of the first point, at time 0, are on the host, as many as layer 1 has points.
 * @experimental
 */
export interface SparseRows {
  /** The number of points of all layers but the first and the last. */
  readonly rows: number;
  /** The maximum number of columns of a row; unused ones have probability 0. */
  readonly slots: number;
  readonly columns: DeviceBuffer<"i32">;
  readonly probabilities: DeviceBuffer;
}

/**
 * A quantization tree of a Markov chain X: at each time a grid of Nₖ points, and the probabilities
 *
 *   p[k][i, j] = P(Xₖ₊₁ ∈ Cⱼ | Xₖ ∈ Cᵢ),   i < Nₖ, j < Nₖ₊₁,   C the cells of the nearest points
 *
 * Layer 0 has one point, the state at time 0. The grids of an autoregressive chain are Sₖ times an optimal quantizer of
 * N(0, I), S the Cholesky factor of the covariance, with nearest points in the coordinates S⁻¹·X; grids of a stepped
 * chain are Lloyd's, from its paths. Probabilities are quadratures ("exact", one dimension) or frequencies of paths,
 * with a standard error of √(p·(1 − p)/(M·P(Cᵢ))). A cell that no path met has no transitions.
 *
 * Cost: see `TransitionCounter`. Memory: 12 bytes per transition that occurs, and while counting 4 bytes per pair.
 * Source: V. Bally and G. Pagès, Bernoulli 9 (2003) 1003–1049; G. Pagès and B. Wilbertz (2012). Verified:
 * test/quadrature/quantization.
 *
 * @example
 * import { openDevice } from "feynkac/device";
 * import { meanRevertingFactors, QuantizationTree } from "feynkac/quantization";
 *
 * using device = await openDevice({ backend: "cpu", threads: 1 });
 * const chain = meanRevertingFactors({ times: [0, 1, 2], meanReversion: [0] });
 * using tree = await QuantizationTree.create(device, { chain, size: 2 });
 * console.log((await tree.transitions(1)).map((p) => Math.round(1000 * p) / 1000).join(" ")); // 0.75 0.25 0.25 0.75
 * @experimental
 */
export class QuantizationTree implements Disposable {
  readonly device: Device;
  readonly settings: TreeSettings;
  /** The method by which the probabilities were computed. */
  readonly method: TransitionMethod;
  readonly times: readonly number[];
  readonly dimension: number;
  /** The number of points of each layer. */
  readonly sizes: Int32Array;
  /** The number of rows before each layer, and their number at the end. */
  readonly offsets: Int32Array;
  /** All points, layer by layer, as states of the chain: [rows, dimension]. */
  readonly points: Float64Array;
  /** The probabilities P(X₁ ∈ Cⱼ), j < N₁. */
  readonly root: Float64Array;
  /** The sparse rows of transition probabilities. @internal */
  readonly rows: SparseRows;
  #weights: Float64Array | undefined;
  #memory: number | undefined;

  private constructor(
    device: Device,
    settings: TreeSettings,
    plan: QuantizationTreePlan,
    { root, rows }: Probabilities,
  ) {
    this.device = device;
    this.settings = settings;
    this.method = plan.method;
    this.times = settings.chain.times;
    this.dimension = plan.dimension;
    this.sizes = plan.sizes;
    this.offsets = plan.offsets;
    this.points = plan.states;
    this.root = root;
    this.rows = rows;
  }

  /**
   * Creates a tree. @throws SpecError | ShapeError | PrecisionError | OutOfMemoryError | NotPositiveDefiniteError (a
   * covariance of the chain)
   */
  static async create(device: Device, settings: TreeSettings): Promise<QuantizationTree> {
    const plan = await quantizationTreePlan(device, settings);
    const found =
      plan.method === "exact" ? await exact(device, plan) : await counted(device, plan, new WorkProgress(settings));
    return new QuantizationTree(device, settings, plan, found);
  }

  /** Returns the points of a layer, [size, dimension]. */
  layer(k: number): Float64Array {
    return this.points.subarray(this.offsets[k] * this.dimension, this.offsets[k + 1] * this.dimension);
  }

  /** Returns the probabilities from layer k to layer k + 1 on the host: [Nₖ, Nₖ₊₁]. */
  async transitions(k: number): Promise<Float64Array> {
    checkWholeNumber("QuantizationTree: transitions: layer", k, 0, this.times.length - 2);
    if (k === 0) return Float64Array.from(this.root);
    const { rows, slots, columns, probabilities } = this.rows;
    const [from, to] = [this.sizes[k], this.sizes[k + 1]];
    const dense = new Float64Array(from * to);
    for (let s = 0; s < slots; s++) {
      const at = s * rows + this.offsets[k] - 1;
      const j = await this.device.read(columns, at, from);
      const p = await this.device.read(probabilities, at, from);
      for (let i = 0; i < from; i++) dense[i * to + j[i]] += p[i];
    }
    return dense;
  }

  /**
   * Returns E f(X) of each layer by dynamic programming on the tree: [layers]. A payoff on f divided by its mean on the
   * tree, times the known mean, reproduces the forwards. Cost: the first call reads the transitions to the host and
   * passes over them once.
   *
   * @param f a function of a state, [dimension].
   */
  async means(f: (state: Float64Array) => number): Promise<Float64Array> {
    this.#weights ??= await this.#readWeights();
    const { sizes, offsets, dimension: d, points } = this;
    const weights = this.#weights;
    return Float64Array.from(sizes, (size, k) => {
      let sum = 0;
      // Less than 1 where paths left a cell that no path met on.
      let total = 0;
      for (let row = offsets[k]; row < offsets[k] + size; row++) {
        sum += weights[row] * f(points.subarray(row * d, (row + 1) * d));
        total += weights[row];
      }
      return sum / total;
    });
  }

  /**
   * Returns the fraction of the correlation between the middle and the last layer that the tree preserves, for the
   * coordinate that loses most; 1 is the chain itself. Where a step is much shorter than the distance of neighbouring
   * points, projection on points in each layer destroys the correlation: a value of early exercise or of a swing option
   * is then not converged, even if two numbers of points agree. Cost: the first call reads the transitions to the host
   * and passes over half of them; for autoregressive chains.
   *
   * @throws SpecError for a stepped chain
   */
  async memory(): Promise<number> {
    return (this.#memory ??= await this.#findMemory());
  }

  async #findMemory(): Promise<number> {
    const { chain } = this.settings;
    if (chain.kind !== "autoregressive")
      throw new SpecError("QuantizationTree: memory: got a stepped chain, expected an autoregressive one");
    const { sizes, offsets, device, dimension: d } = this;
    const { rows, slots } = this.rows;
    const [to, p] = [await device.read(this.rows.columns), await device.read(this.rows.probabilities)];
    const last = sizes.length - 1;
    const middle = last >> 1;
    if (middle === 0) return 1;
    // E[X of the last layer | point], backwards, and what it is in the chain.
    let ahead = Float64Array.from(this.layer(last));
    let exact = identity(d);
    for (let k = last - 1; k >= middle; k--) {
      const next = ahead;
      ahead = new Float64Array(sizes[k] * d);
      for (let s = 0; s < slots; s++)
        for (let i = 0; i < sizes[k]; i++) {
          const at = s * rows + offsets[k] - 1 + i;
          for (let a = 0; a < d; a++) ahead[i * d + a] += p[at] * next[to[at] * d + a];
        }
      exact = product(exact, chain.transitions[k], d);
    }
    const points = this.layer(middle);
    let least = 1;
    for (let a = 0; a < d; a++) {
      let [kept, whole] = [0, 0];
      for (let i = 0; i < sizes[middle]; i++) {
        let mean = 0;
        for (let b = 0; b < d; b++) mean += exact[a * d + b] * points[i * d + b];
        kept += ahead[i * d + a] * mean;
        whole += mean * mean;
      }
      if (whole > 0) least = Math.min(least, kept / whole);
    }
    return least;
  }

  /** The probabilities of all points, layer by layer: [rows]. */
  async #readWeights(): Promise<Float64Array> {
    const { sizes, offsets, device } = this;
    const { rows, slots, columns, probabilities } = this.rows;
    const weights = new Float64Array(offsets[sizes.length]);
    weights[0] = 1;
    weights.set(this.root, offsets[1]);
    if (rows === 0) return weights;
    const [to, p] = [await device.read(columns), await device.read(probabilities)];
    for (let k = 1; k + 1 < sizes.length; k++)
      for (let s = 0; s < slots; s++)
        for (let row = offsets[k] - 1; row < offsets[k + 1] - 1; row++)
          weights[offsets[k + 1] + to[s * rows + row]] += weights[row + 1] * p[s * rows + row];
    return weights;
  }

  [Symbol.dispose](): void {
    this.rows.columns[Symbol.dispose]();
    this.rows.probabilities[Symbol.dispose]();
  }
}

const identity = (d: number): Float64Array => new Float64Array(d * d).map((_, at) => (at % (d + 1) === 0 ? 1 : 0));

interface Probabilities {
  readonly root: Float64Array;
  readonly rows: SparseRows;
}

/** The number of points of all layers but the first and the last. */
const rowsOf = ({ offsets, sizes }: QuantizationTreePlan): number => offsets[sizes.length - 1] - 1;

/** Returns the ranges of the counters of the transitions from each point, which `rowMakerOf` takes. */
export function rowRanges({ sizes, offsets, layout }: QuantizationTreePlan): RowRanges {
  const rows = offsets[sizes.length - 1] - 1;
  const [starts, widths] = [new Int32Array(rows), new Int32Array(rows)];
  for (let k = 1; k + 1 < sizes.length; k++)
    for (let i = 0; i < sizes[k]; i++) {
      starts[offsets[k] - 1 + i] = layout[LAYER_HEADER.numbers * (k + 1) + LAYER_HEADER.counters] + i * sizes[k + 1];
      widths[offsets[k] - 1 + i] = sizes[k + 1];
    }
  return { starts, widths };
}

async function counted(device: Device, plan: QuantizationTreePlan, work: WorkProgress): Promise<Probabilities> {
  const { precision, sizes, paths, quantizer } = plan;
  const rows = rowsOf(plan);
  using counter = await TransitionCounter.of(device, plan);
  await counter.runAll(work);
  const { counters } = counter;
  // The law of layer 1 is known exactly if the chain is Gaussian.
  const root = quantizer?.weights ?? Float64Array.from(await device.read(counters, 0, sizes[1]), (n) => n / paths);
  if (rows === 0) return { root, rows: emptyRows(device, precision, 0, 0) };
  using maker = await rowMakerOf(device, rowRanges(plan), precision);
  maker.measure(counters);
  const found = emptyRows(device, precision, rows, await maker.slots());
  maker.fill(counters, found.columns, found.probabilities);
  await device.finish();
  return { root, rows: found };
}

/**
 * The probabilities in one dimension: the columns that are within reach of each cell, and their probabilities by
 * quadrature.
 */
async function exact(device: Device, plan: QuantizationTreePlan): Promise<Probabilities> {
  const { precision, quantizer } = plan;
  const { points, size, weights } = quantizer!;
  const ends = Float64Array.of(
    -MAX_DEVIATIONS,
    ...points.slice(1).map((x, i) => 0.5 * (x + points[i])),
    MAX_DEVIATIONS,
  );
  const rows = rowsOf(plan);
  const parameters = plan.parameters;
  const firstColumns = new Int32Array(rows);
  const widths = new Int32Array(rows);
  for (let row = 0; row < rows; row++) {
    const [a, b] = parameters.subarray(stepReals(1) * (1 + Math.floor(row / size)));
    const images = [a * ends[row % size], a * ends[(row % size) + 1]];
    const first = cellAt(ends, Math.min(...images) - MAX_DEVIATIONS * b);
    firstColumns[row] = first;
    widths[row] = cellAt(ends, Math.max(...images) + MAX_DEVIATIONS * b) - first + 1;
  }
  const slots = widths.reduce((most, width) => Math.max(most, width), 0);
  const compiled = await compileExact(device, exactRows, precision);
  const element = hostRealType(precision);
  using rule = createBufferOf(device, element, ruleNumbers());
  using endsBuffer = createBufferOf(device, element, ends);
  using parametersBuffer = createBufferOf(device, element, parameters);
  using firstBuffer = createBufferOf(device, "i32", firstColumns);
  using widthsBuffer = createBufferOf(device, "i32", widths);
  const found = emptyRows(device, precision, rows, slots);
  const { columns, probabilities } = found;
  const args = { size, totalRows: rows, rule, ends: endsBuffer, parameters: parametersBuffer, widths: widthsBuffer };
  if (rows > 0)
    device.launch(compiled, { ...args, firstColumns: firstBuffer, columns, probabilities }, { items: rows });
  await device.finish();
  return { root: weights, rows: found };
}
