/** Swing options in Gaussian factors, by convolutions on a grid of the factors. */
import {
  type CallOptions,
  compileExact,
  type Device,
  type DeviceBuffer,
  isGpu,
  createBufferOf,
  withDevice,
} from "../../../device/index.ts";
import { ShapeError, SpecError } from "../../../base/errors.ts";
import { checkList } from "../../../base/argument-checks.ts";
import { hostRealType, type Precision } from "../../../kernel/index.ts";
import { WorkProgress } from "../../../base/event-loop.ts";
import { type SwingsResult, valuesWithinBounds } from "../swings.ts";
import { type AutoregressiveChain, standardisedParameters } from "../tree/chain.ts";
import { decideKernel, weightedSumKernel, exponentialKernel, weightsKernel } from "./kernels.ts";
import { type Nodes, type ExpectationPass, passesOf, stencilOf } from "./steps.ts";

/** A swing option in whole units: from `least` to `most` of them in all, at most one on each date. @experimental */
export interface GaussianSwing {
  /**
   * The slopes of the payoff of a unit at each time of the chain, discounted to time 0: slope·exp(σ·X − ½·Var σ·X) −
   * fixed.
   */
  readonly slopes: ArrayLike<number>;
  readonly fixed: ArrayLike<number>;
  readonly least: number;
  readonly most: number;
}

/** The settings of `gaussianSwings` besides the swings. @experimental */
export interface GaussianSwingSettings extends CallOptions {
  /** The chain of one or two factors, with lower triangular transitions. */
  readonly chain: AutoregressiveChain;
  /** The weights σ of the factors in the logarithm of the spot. */
  readonly sigma: readonly number[];
  /** True where a unit may be taken at time 0, too. */
  readonly startsAtOnce: boolean;
  /** The spacing of nodes in standard deviations; the error is of fourth order in it. */
  readonly spacing: number;
  /**
   * The largest standard deviation of the log-spot for which the grid is made, by default that of the chain. Chains and
   * weights that differ a little then share a grid, whose errors cancel in differences.
   */
  readonly deviation?: number | undefined;
  /** The precision, "f64" by default. */
  readonly precision?: Precision;
}

/** Standard deviations on each side of the grid, beyond the shift of the measure under which the spot is the unit. */
const REACH = 6;

/** Numbers of one array of values, at most: swings beyond that take another pass. */
const MAX_VALUES = 2 ** 23;

/**
 * Computes the values at time 0 of swing options on one spot of Gaussian factors, side by side in one backward pass:
 *
 *   Vₖ(x, Q) = max over q ∈ {0, 1} of q·hₖ(x) + Cₖ(x, Q + q),   Cₖ(x, Q) = E[Vₖ₊₁(Xₖ₊₁, Q) | Xₖ = x]
 *
 * States are standardised, so that all times share one grid. A step is exact in time, however long: its expectation is
 * that of the cubic interpolation, taken along one axis after the other. The kink of V is projected on the cubics.
 *
 * Shapes: one value for each swing; one whose bounds no dates can meet, or whose payoff is not finite, fails by
 * `status` and `error`, and changes no other. Accuracy: of fourth order in the spacing, and regular, so that two
 * spacings extrapolate. Cost: per date nodes × (units + 1) × 8 to 24 products. Source: design/swings.md. Verified:
 * test/pricing/convolution, against published cases and closed forms.
 *
 * @param settings the chain of the factors, the spot, the grid and the device; `onProgress` counts dates.
 * @param swings gains and bounds: 0 ≤ least ≤ most ≤ number of dates.
 * @throws ShapeError | SpecError | PrecisionError | NotPositiveDefiniteError; the signal's reason
 * @example
 * import { openDevice } from "feynkac/device";
 * import { gaussianSwings, meanRevertingFactors } from "feynkac/quantization";
 *
 * using device = await openDevice({ backend: "cpu", threads: 1 });
 * const times = Array.from({ length: 12 }, (_, k) => k / 12);
 * const chain = meanRevertingFactors({ times, meanReversion: [4] });
 * const swing = { slopes: times.map(() => 20), fixed: times.map(() => 20), least: 3, most: 6 };
 * const settings = { device, chain, sigma: [0.7], startsAtOnce: true, spacing: 0.15 };
 * const { value, status } = await gaussianSwings(settings, [swing, { ...swing, least: 13 }]);
 * console.log(value[0]!.toFixed(3), status.join(" ")); // 15.515 ok error
 * @experimental
 */
export async function gaussianSwings(
  settings: GaussianSwingSettings,
  swings: readonly GaussianSwing[],
): Promise<SwingsResult> {
  const path = "gaussianSwings";
  check(settings, swings);
  const first = settings.startsAtOnce ? 0 : 1;
  const dates = settings.chain.times.length - first;
  const notFinite = ({ slopes, fixed }: GaussianSwing) => {
    for (const [name, column] of Object.entries({ slopes, fixed }))
      for (let k = first; k < column.length; k++)
        if (!Number.isFinite(column[k])) return [`${name}[${k}]`, column[k]] as const;
    return undefined;
  };
  return withDevice(settings.device, settings, (device) =>
    valuesWithinBounds({ path, swings, dates, notFinite }, (some) => values(device, settings, some)),
  );
}

async function values(
  device: Device,
  settings: GaussianSwingSettings,
  swings: readonly GaussianSwing[],
): Promise<Float64Array> {
  const work = new WorkProgress(settings);
  const grid = gridOf(settings);
  const { precision = "f64" } = settings;
  const kernels = await compiled(device, precision);
  const values = new Float64Array(swings.length);
  for (let from = 0, to = 0; from < swings.length; from = to) {
    let most = 0;
    const fits = (next: number): boolean =>
      (Math.max(most, swings[next].most) + 1) * (next + 1 - from) * grid.nodes.count ** grid.dimension <= MAX_VALUES;
    while (to < swings.length && (to === from || fits(to))) most = Math.max(most, swings[to++].most);
    using rollback = new Rollback(device, grid, swings.slice(from, to), kernels, precision);
    values.set(await rollback.run(settings, work), from);
  }
  return values;
}

function check({ chain, sigma, spacing }: GaussianSwingSettings, swings: readonly GaussianSwing[]): void {
  const { dimension: d, times, transitions } = chain;
  if (d > 2) throw new SpecError(`gaussianSwings: chain: got ${d} factors, expected one or two`);
  if (sigma.length !== d)
    throw new ShapeError(`gaussianSwings: sigma: got ${sigma.length} numbers, expected ${d}, one for each factor`);
  if (!(spacing > 0 && spacing <= 1))
    throw new SpecError(`gaussianSwings: spacing: got ${spacing}, expected a number in (0, 1], in standard deviations`);
  if (d === 2 && transitions.some((a) => a[1] !== 0))
    throw new SpecError("gaussianSwings: chain: got transitions of another shape, expected lower triangular ones");
  checkList("gaussianSwings: swings", swings, "swings");
  swings.forEach(({ slopes, fixed }, i) => {
    if (slopes?.length !== times.length || fixed?.length !== times.length)
      throw new ShapeError(
        `gaussianSwings: swings[${i}]: got ${slopes?.length} slopes and ${fixed?.length} fixed amounts, expected ` +
          `${times.length} of each, one for each time of the chain`,
      );
  });
}

/** The grid, and the logarithm of the spot on it. */
interface Grid {
  readonly dimension: number;
  readonly parameters: Float64Array;
  readonly nodes: Nodes;
  /** The loadings of the standardised states at each time, and half of the variance. */
  readonly loadings: readonly (readonly [number, number])[];
  readonly halves: readonly number[];
}

function gridOf({ chain, sigma, spacing, deviation }: GaussianSwingSettings): Grid {
  const { dimension: d } = chain;
  const { roots, parameters } = standardisedParameters(chain);
  const loadings = roots.map((root): readonly [number, number] =>
    d === 1 ? [0, sigma[0] * root[0]] : [sigma[0] * root[0] + sigma[1] * root[2], sigma[1] * root[3]],
  );
  const deviations = loadings.map(([a, b]) => Math.hypot(a, b));
  const shift = deviation ?? Math.max(...deviations);
  // In one dimension the spot grows to one side.
  const upwards = d === 2 || loadings.some(([, b]) => b > 0);
  const downwards = d === 2 || !upwards;
  const [start, end] = [-REACH - (downwards ? shift : 0), REACH + (upwards ? shift : 0)];
  // Between nodes the spot must not grow beyond what cubics follow.
  const wanted = Math.min(spacing, spacing / Math.max(shift, 1e-300));
  const count = Math.ceil((end - start) / wanted) + 1;
  const nodes = { start, spacing: (end - start) / (count - 1), count };
  return { dimension: d, parameters, nodes, loadings, halves: deviations.map((one) => 0.5 * one * one) };
}

/** Buffers and kernels of swings side by side. */
class Rollback implements Disposable {
  readonly #device: Device;
  readonly #grid: Grid;
  readonly #swings: readonly GaussianSwing[];
  readonly #width: number;
  readonly #kernels: Awaited<ReturnType<typeof compiled>>;
  readonly #buffers: ReturnType<typeof buffersOf>;

  constructor(
    device: Device,
    grid: Grid,
    swings: readonly GaussianSwing[],
    kernels: Awaited<ReturnType<typeof compiled>>,
    precision: Precision,
  ) {
    this.#device = device;
    this.#grid = grid;
    this.#swings = swings;
    this.#kernels = kernels;
    this.#width = (mostOf(swings) + 1) * swings.length;
    this.#buffers = buffersOf(device, grid, swings, this.#width, precision);
  }

  /** Whole backward pass; values of the swings. */
  async run({ chain, startsAtOnce }: GaussianSwingSettings, work: WorkProgress): Promise<readonly number[]> {
    const { nodes } = this.#grid;
    const last = chain.times.length - 1;
    work.expect(last);
    let left = 0;
    for (let k = last; k > 0; k--) {
      const before = k - (startsAtOnce ? 0 : 1);
      this.#decide(k, left++, before);
      const active = this.#activeOf(before, left);
      for (const pass of passesOf(this.#grid, nodes, k - 1)) this.#gather(pass, active);
      if (k % STEPS_PER_WAIT === 0) await this.#device.finish();
      await work.done(1);
    }
    const first = await this.#device.read(this.#buffers.here, 0, this.#width);
    return this.#swings.map(({ slopes, fixed, least, most }, swing) => {
      const at = (units: number): number => first[units * this.#swings.length + swing];
      if (!startsAtOnce) return at(0);
      const resting = left >= least ? at(0) : -Infinity;
      const taking = most >= 1 && 1 + left >= least ? slopes[0] - fixed[0] + at(1) : -Infinity;
      return Math.max(resting, taking);
    });
  }

  /** Units that may have been taken before a date after `before` others, with `left` dates from it on. */
  #activeOf(before: number, left: number): { readonly first: number; readonly active: number } {
    const count = this.#swings.length;
    const from = Math.max(0, Math.min(...this.#swings.map(({ least }) => least)) - left);
    const to = Math.min(mostOf(this.#swings), before);
    return { first: from * count, active: Math.max(to - from + 1, 1) * count };
  }

  #decide(k: number, left: number, before: number): void {
    const { nodes, dimension, loadings, halves } = this.#grid;
    const { growth, here, there, least, most, slopes, fixed } = this.#buffers;
    const [rows, columns] = [dimension === 1 ? 1 : nodes.count, nodes.count];
    const { start, spacing } = nodes;
    const [c1, c2] = loadings[k];
    const all = rows * columns;
    this.#device.launch(
      this.#kernels.growth,
      { columns, firstAxis: dimension - 1, start, spacing, c1, c2, half: halves[k], growth },
      { items: all },
    );
    const active = this.#activeOf(before, left + 1);
    const swings = this.#swings.length;
    const bounds = { ...active, width: this.#width, swings, left, date: k, least, most, slopes, fixed };
    this.#device.launch(
      this.#kernels.decide,
      { nodes: all, rows, columns, ...bounds, growth, continuation: here, values: there },
      { items: this.#itemsOf(all, active.active) },
    );
    this.#swap();
  }

  #gather(
    { axis, position, deviation, targets }: ExpectationPass,
    active: { readonly first: number; readonly active: number },
  ): void {
    const { count } = this.#grid.nodes;
    const { bases, weights, table, here, there } = this.#buffers;
    const stencil = stencilOf(deviation);
    const [rows, columns] = targets;
    const nodes = rows * columns;
    const [p0, p1, p2] = position;
    const limit = 4 * (count + stencil.taps);
    this.#device.write(table, stencil.table);
    const { taps, before } = stencil;
    this.#device.launch(
      this.#kernels.weights,
      { columns, taps, before, p0, p1, p2, limit, table, bases, weights },
      { items: nodes },
    );
    // The source has as many columns as the targets where the first axis is integrated.
    const lines = axis === 1 ? { lineI: count, lineJ: 0, along: 1 } : { lineI: 0, lineJ: 1, along: columns };
    const sizes = { nodes, columns, width: this.#width, ...active, taps, ...lines, length: count };
    this.#device.launch(
      this.#kernels.gather,
      { ...sizes, bases, weights, values: here, out: there },
      { items: this.#itemsOf(nodes, active.active) },
    );
    this.#swap();
  }

  #itemsOf(nodes: number, active: number): number {
    return isGpu(this.#device) ? nodes * active : active;
  }

  #swap(): void {
    const { here, there } = this.#buffers;
    [this.#buffers.here, this.#buffers.there] = [there, here];
  }

  [Symbol.dispose](): void {
    for (const buffer of Object.values(this.#buffers)) buffer[Symbol.dispose]();
  }
}

/** Dates after which a pass waits for the device, so that the event loop turns. */
const STEPS_PER_WAIT = 16;

const mostOf = (swings: readonly GaussianSwing[]): number => Math.max(...swings.map(({ most }) => most));

async function compiled(device: Device, precision: Precision) {
  const by = isGpu(device) ? "nodes" : "instances";
  return {
    growth: await compileExact(device, exponentialKernel, precision),
    weights: await compileExact(device, weightsKernel, precision),
    gather: await compileExact(device, weightedSumKernel(by), precision),
    decide: await compileExact(device, decideKernel(by), precision),
  };
}

function buffersOf(
  device: Device,
  { nodes, dimension }: Grid,
  swings: readonly GaussianSwing[],
  width: number,
  precision: Precision,
) {
  const element = hostRealType(precision);
  const all = nodes.count ** dimension;
  // The longest step is one standard deviation.
  const { taps, table } = stencilOf(1 / nodes.spacing);
  const perDate = (of: (swing: GaussianSwing) => ArrayLike<number>): DeviceBuffer => {
    const [{ slopes }] = swings;
    const flat = new Float64Array(slopes.length * swings.length);
    swings.forEach((swing, s) => {
      const row = of(swing);
      for (let k = 0; k < row.length; k++) flat[k * swings.length + s] = row[k];
    });
    return createBufferOf(device, element, flat);
  };
  const ints = (of: (swing: GaussianSwing) => number): DeviceBuffer<"i32"> =>
    createBufferOf(device, "i32", Int32Array.from(swings, of));
  return {
    growth: device.createBuffer(element, all),
    bases: device.createBuffer("i32", all),
    weights: device.createBuffer(element, all * taps),
    table: device.createBuffer(element, table.length),
    here: device.createBuffer(element, all * width),
    there: device.createBuffer(element, all * width),
    least: ints(({ least }) => least),
    most: ints(({ most }) => most),
    slopes: perDate(({ slopes }) => slopes),
    fixed: perDate(({ fixed }) => fixed),
  };
}
