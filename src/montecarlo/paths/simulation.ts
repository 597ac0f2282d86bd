/** A batch of instances of one shape on a device: launches of blocks of paths, and their moments on the host. */
import {
  compileExact,
  type CompiledKernel,
  type Device,
  type DeviceBuffer,
  createBufferOf,
} from "../../device/index.ts";
import { hostRealType, type Kernel } from "../../kernel/index.ts";
import { bridgePlan, seedWords, sobolTable } from "../../numerics/random/index.ts";
import { weightTable } from "../sensitivities.ts";
import { END_OF_STEP } from "../model.ts";
import type { Moments } from "../moments.ts";
import { columnAt } from "../parameters.ts";
import { BLOCK, drawsOf, rowsOf } from "./shape.ts";
import { bridgeKernel, POINTS, sobolKernel } from "./sobol.ts";
import { type Batch, preparedTable, stepEnds, tableLength } from "./table.ts";
import { blocksMerged, mergeKernel, walkKernel } from "./walk.ts";
import { measuresOf, momentsOf } from "./walk-shape.ts";

/** The regression coefficients and scales of an exercise rule, in buffers of the device. */
export interface Rule {
  /** The regression coefficients. */
  readonly betas: DeviceBuffer;
  /** The mean and the reciprocal standard deviation that normalise each variable of the basis, by date and instance. */
  readonly scales: DeviceBuffer;
}

/** The number of bytes of tables in a buffer, at most. */
const TABLE_BYTES = 2 ** 27;

/**
 * The number of bytes of random numbers in a buffer, about: few enough for a core's cache, and enough for all of the
 * device.
 */
const pointBytes = ({ parallelism }: Device): number => Math.min(Math.max(2 ** 12 * parallelism, 2 ** 24), 2 ** 27);

/** The number of bytes of the points of a block of a stream, raw and bridged. */
function blockBytes({ shape, dates }: Pick<Batch, "shape" | "dates">): number {
  const { numbers, normals } = drawsOf(shape);
  return 8 * BLOCK * shape.scramblings * dates.length * shape.substeps * (numbers + normals);
}

/**
 * Returns the approximate number of path steps in one launch: few enough that the simulation can be aborted soon, and
 * enough for efficiency.
 */
export const stepsPerLaunch = ({ parallelism }: Device): number =>
  Math.min(Math.max(2 ** 13 * parallelism, 2 ** 22), 2 ** 32);

/** The number of steps that a block of an instance takes. */
const stepsPerBlock = ({ shape, dates }: Batch): number =>
  BLOCK *
  dates.length *
  shape.substeps *
  (shape.variants - shape.sharing) *
  shape.scramblings *
  (shape.antithetic ? 2 : 1);

/**
 * Returns the number of instances (products with their parameters) to simulate in one launch. It is the largest with
 * which the tables of their parameters fit in memory and the launch stays short. `blocks` is the number of blocks of
 * paths that each of them takes.
 */
export function instancesPerPart(device: Device, batch: Batch, blocks: number): number {
  const { shape, dates } = batch;
  const rows = rowsOf(shape);
  const bytes = 8 * shape.variants * (1 + shape.slopes) * (rows.head + rows.step * dates.length * shape.substeps);
  const merged = Math.min(blocks, blocksMerged(shape));
  const points = shape.sampling === "sobol" ? pointBytes(device) / (merged * blockBytes(batch)) : Infinity;
  const steps = merged * stepsPerBlock(batch);
  return Math.max(1, Math.floor(Math.min(TABLE_BYTES / bytes, stepsPerLaunch(device) / steps, points)));
}

type Compiled<K extends (...args: never) => Kernel> = CompiledKernel<ReturnType<K>["params"]>;

/** A simulation of some instances of a batch, with their parameter table on the device. Its creator disposes it. */
export class Simulation implements Disposable {
  readonly #device: Device;
  readonly #batch: Batch;
  readonly #made: Made;

  private constructor(device: Device, batch: Batch, made: Made) {
    this.#device = device;
    this.#batch = batch;
    this.#made = made;
  }

  /**
   * Creates a simulation. @param members the indices of the instances in the batch @param rule the exercise rule of
   * these instances, which is not disposed; required if the shape has a basis @throws SpecError | ShapeError |
   * PrecisionError | KernelError | OutOfMemoryError
   */
  static async create(device: Device, batch: Batch, members: Uint32Array, rule?: Rule): Promise<Simulation> {
    const { shape, precision, variants } = batch;
    const streams = members.map((i) => batch.streams[i]);
    const own = [...new Set(streams)];
    const slots = new Map(own.map((stream, slot) => [stream, slot]));
    const element = hostRealType(precision);
    const table = await preparedTable(device, batch, members);
    return new Simulation(device, batch, {
      instances: members.length,
      walk: await compileExact(device, walkKernel(shape), precision),
      merge: await compileExact(
        device,
        mergeKernel(momentsOf(shape), measuresOf(shape), blocksMerged(shape)),
        precision,
      ),
      sobol: shape.sampling === "sobol" ? await SobolPoints.create(device, batch, Uint32Array.from(own)) : undefined,
      table,
      streams: createBufferOf(device, "u32", streams),
      slots: createBufferOf(
        device,
        "i32",
        Int32Array.from(streams, (stream) => slots.get(stream)!),
      ),
      slotCount: own.length,
      rule,
      weights: createBufferOf(device, element, weightTable(variants, members)),
      none: device.createBuffer(element, 1),
    });
  }

  /**
   * The number of blocks of a launch: whole groups of those that are merged, so that no number depends on how launches
   * are cut.
   */
  get #blocksPerLaunch(): number {
    const steps = this.#made.instances * stepsPerBlock(this.#batch);
    const blocks = Math.min(stepsPerLaunch(this.#device) / steps, this.#made.sobol?.mostBlocks ?? Infinity);
    const merged = blocksMerged(this.#batch.shape);
    return merged * Math.max(1, Math.floor(blocks / merged));
  }

  /**
   * Simulates `count` blocks of samples from block `first` on, and adds them to the moments of the instances, which are
   * those of derivatives, too. @param told a callback after each launch with its number of blocks, which is awaited
   */
  async run(
    { value: moments }: { readonly value: Moments },
    first: number,
    count: number,
    told: (blocks: number) => Promise<void>,
  ): Promise<void> {
    const { shape, precision, dates, seed } = this.#batch;
    const { walk, merge, instances, table, streams, slots, slotCount, rule, weights, none, sobol } = this.#made;
    const series = instances * shape.scramblings;
    const width = measuresOf(shape) * momentsOf(shape);
    const together = blocksMerged(shape);
    const element = hostRealType(precision);
    const perLaunch = Math.min(this.#blocksPerLaunch, count);
    using buffer = this.#device.createBuffer(element, width * perLaunch * series);
    using merged = this.#device.createBuffer(element, width * Math.ceil(perLaunch / together) * series);
    for (let done = 0; done < count; done += perLaunch) {
      const blocks = Math.min(perLaunch, count - done);
      const items = blocks * series;
      const firstBlock = first + done;
      const points = sobol?.fill(firstBlock, blocks);
      this.#device.launch(
        walk,
        {
          ...seedWords(seed),
          firstBlock,
          firstPoint: firstBlock * BLOCK,
          dates: dates.length,
          instances,
          table,
          tableStride: tableLength(this.#batch, instances),
          streams,
          slots,
          slotCount,
          betas: rule?.betas ?? none,
          scales: rule?.scales ?? none,
          weights,
          points: points ?? none,
          pointStride: blocks * BLOCK * shape.scramblings * slotCount,
          variants: shape.variants - shape.sharing,
          moments: buffer,
          itemCount: items,
        },
        { items },
      );
      const groups = Math.ceil(blocks / together);
      const mergedCount = groups * series;
      const sizes = { series, blocks, itemCount: items, mergedCount };
      this.#device.launch(merge, { ...sizes, from: buffer, merged }, { items: mergedCount });
      const values = await this.#device.read(merged, 0, width * mergedCount);
      for (let g = 0; g < groups; g++)
        moments.merge(values, g * series, mergedCount, BLOCK * Math.min(together, blocks - g * together));
      await told(blocks);
    }
  }

  [Symbol.dispose](): void {
    const { table, streams, slots, weights, none, sobol } = this.#made;
    for (const resource of [table, streams, slots, weights, none, sobol]) resource?.[Symbol.dispose]();
  }
}

/** The kernels and buffers of a simulation. */
interface Made {
  readonly instances: number;
  readonly walk: Compiled<typeof walkKernel>;
  readonly merge: Compiled<typeof mergeKernel>;
  readonly sobol: SobolPoints | undefined;
  readonly table: DeviceBuffer;
  readonly streams: DeviceBuffer;
  readonly slots: DeviceBuffer;
  readonly slotCount: number;
  readonly rule: Rule | undefined;
  readonly weights: DeviceBuffer;
  readonly none: DeviceBuffer;
}

/** The kernels and tables of Sobol' points of a batch. */
interface SobolTables {
  readonly normals: Compiled<typeof sobolKernel>;
  readonly uniforms: Compiled<typeof sobolKernel> | undefined;
  readonly bridge: Compiled<typeof bridgeKernel>;
  readonly tableValues: Uint32Array;
  readonly table: DeviceBuffer;
  readonly streams: DeviceBuffer;
  readonly streamCount: number;
  readonly places: DeviceBuffer;
  readonly weights: DeviceBuffer;
  readonly roots: DeviceBuffer;
}

/** Sobol' points of all steps in a buffer, [steps · numbers, points · streams · scramblings], bridged. */
class SobolPoints implements Disposable {
  readonly mostBlocks: number;
  readonly #device: Device;
  readonly #batch: Batch;
  readonly #made: SobolTables;
  #buffers: readonly DeviceBuffer[] = [];

  private constructor(device: Device, batch: Batch, made: SobolTables) {
    this.#device = device;
    this.#batch = batch;
    this.#made = made;
    this.mostBlocks = Math.max(1, Math.floor(pointBytes(device) / (blockBytes(batch) * made.streamCount)));
  }

  /** @throws SpecError for more dimensions than there are direction numbers */
  static async create(device: Device, batch: Batch, streams: Uint32Array): Promise<SobolPoints> {
    const { shape, precision, dates } = batch;
    const { normals, numbers } = drawsOf(shape);
    const dimensions = dates.length * shape.substeps * numbers;
    const tableValues = await sobolTable({ dimensions, partLength: POINTS });
    const points = (isNormal: boolean) =>
      compileExact(device, sobolKernel(normals, numbers, shape.scramblings, isNormal), precision);
    // Increments of a bridge over any times are independent. Equal steps serve all instances where each has its own.
    const isShared = dates.every((date) => typeof date === "number") && !(END_OF_STEP in shape.model.parameters);
    const ends = stepEnds(dates, shape.substeps).map((column, n) => (isShared ? columnAt(column, 0) : n + 1));
    const { places, weights } = bridgePlan(ends);
    const roots = Float64Array.from(ends, (t, n) => 1 / Math.sqrt(t - (n === 0 ? 0 : ends[n - 1])));
    const element = hostRealType(precision);
    return new SobolPoints(device, batch, {
      normals: await points(true),
      uniforms: numbers > normals ? await points(false) : undefined,
      bridge: await compileExact(device, bridgeKernel(normals, numbers), precision),
      tableValues,
      table: device.createBuffer("u32", tableValues.length),
      streams: createBufferOf(device, "u32", streams),
      streamCount: streams.length,
      places: createBufferOf(device, "i32", places),
      weights: createBufferOf(device, element, weights),
      roots: createBufferOf(device, element, roots),
    });
  }

  /** Records the points of some blocks, and returns their buffer. */
  fill(firstBlock: number, blocks: number): DeviceBuffer {
    const { shape, seed, dates, precision } = this.#batch;
    const { normals, uniforms, bridge, tableValues, table, streams, streamCount, places, weights, roots } = this.#made;
    const { normals: factors, numbers } = drawsOf(shape);
    const steps = dates.length * shape.substeps;
    const points = blocks * BLOCK;
    const series = shape.scramblings * streamCount;
    const stride = points * series;
    const element = hostRealType(precision);
    if (this.#buffers.length === 0 || this.#buffers[0].length < steps * numbers * stride) {
      this.#free();
      this.#buffers = [numbers, factors].map((each) => this.#device.createBuffer(element, each * steps * stride));
    }
    const [out, raw] = this.#buffers;
    tableValues[0] = firstBlock * BLOCK;
    this.#device.write(table, tableValues);
    const parts = points / POINTS;
    const common = { ...seedWords(seed), parts, points, streams, streamCount, table };
    const items = (each: number): { readonly items: number } => ({ items: each * steps * parts * series });
    this.#device.launch(normals, { ...common, firstDimension: 0, out: raw }, items(factors));
    if (uniforms !== undefined)
      this.#device.launch(uniforms, { ...common, firstDimension: steps * factors, out }, items(numbers - factors));
    const bridged = { places, weights, roots, steps, stride, normals: raw, out };
    this.#device.launch(bridge, bridged, { items: factors * stride });
    return out;
  }

  #free(): void {
    for (const buffer of this.#buffers) buffer[Symbol.dispose]();
  }

  [Symbol.dispose](): void {
    this.#free();
    const { table, streams, places, weights, roots } = this.#made;
    for (const buffer of [table, streams, places, weights, roots]) buffer[Symbol.dispose]();
  }
}
