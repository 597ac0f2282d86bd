/** Derivatives in many directions at once: the launches of paths that are kept and taken back. */
import {
  compileExact,
  type CompiledKernel,
  type Device,
  type DeviceBuffer,
  createBufferOf,
  type LaunchArguments,
} from "../../device/index.ts";
import { hostRealType, type Kernel, type Params } from "../../kernel/index.ts";
import { seedWords } from "../../numerics/random/index.ts";
import type { Moments } from "../moments.ts";
import { columnAt, isByStep, LAYOUT_NUMBERS, type Parameter, type ParameterTable, stepOf } from "../parameters.ts";
import type { Direction } from "../sensitivities.ts";
import { backwardKernel, backwardLengths } from "./backwards.ts";
import { gatherKernel, parameterKernel, slopeKernel } from "./contract.ts";
import { endKernel, startKernel } from "./ends.ts";
import { keepKernel, keptLayout, momentKernel } from "./keep.ts";
import { BLOCK, rowsOf } from "./shape.ts";
import { type Batch, tableFrom, tableSource } from "./table.ts";
import { BLOCKS_MERGED, mergeKernel } from "./walk.ts";
import { momentsOf } from "./walk-shape.ts";

/** The number of bytes of what a launch keeps, about: of a CPU, and of other devices. */
const KEPT_BYTES = { cpu: 2 ** 27, other: 2 ** 30 };

/** The moments of the values, and of the derivatives in each direction, of which a block's mean is a sample. */
export interface AdjointMoments {
  readonly value: Moments;
  readonly slopes: Moments;
}

type Compiled<K extends (...args: never) => Kernel> = CompiledKernel<ReturnType<K>["params"]>;

/** The kernels, tables and sizes of a simulation. */
interface Made {
  readonly source: ReturnType<typeof tableSource>;
  readonly table: DeviceBuffer;
  /** The lengths of the buffers of a launch, for each block. */
  readonly lengths: ReturnType<typeof backwardLengths> & { readonly numbers: number };
  readonly stream: number;
  readonly isByPath: boolean;
  readonly steps: number;
  readonly starts: DeviceBuffer;
  readonly places: DeviceBuffer;
  readonly weights: DeviceBuffer;
  readonly keep: Compiled<typeof keepKernel>;
  readonly moment: Compiled<typeof momentKernel>;
  readonly merge: Compiled<typeof mergeKernel>;
  readonly end: Compiled<typeof endKernel>;
  /** The kernels of the way back: one for blocks, or one for paths and one for steps. */
  readonly backward: readonly Compiled<typeof backwardKernel>[];
  readonly start: Compiled<typeof startKernel>;
  readonly parameter: Compiled<typeof parameterKernel>;
  readonly gather: Compiled<typeof gatherKernel>;
  readonly slope: Compiled<typeof slopeKernel>;
}

type Buffers = Readonly<Record<keyof Made["lengths"], DeviceBuffer>>;

/** An instance of a batch whose paths are kept and taken back, on a device. Its creator disposes it. */
export class AdjointSimulation implements Disposable {
  readonly #device: Device;
  readonly #batch: Batch;
  readonly #made: Made;

  private constructor(device: Device, batch: Batch, made: Made) {
    this.#device = device;
    this.#batch = batch;
    this.#made = made;
  }

  /** Creates the simulation of one instance. @throws ShapeError | PrecisionError | KernelError | OutOfMemoryError */
  static async create(device: Device, batch: Batch, instance: number): Promise<AdjointSimulation> {
    const { shape, precision, variants, dates } = batch;
    const members = Uint32Array.of(instance);
    const byStep = layoutDirection(variants.directions);
    const source = tableSource(device, batch, members, byStep);
    const { model, product } = source;
    const table = await tableFrom(device, batch, members, source, 0);
    const steps = dates.length * shape.substeps;
    const matrix = directionMatrix(batch, instance, model, product);
    const element = hostRealType(precision);
    const compiled = <P extends Params>(kernel: Kernel<P>): Promise<CompiledKernel<P>> =>
      compileExact(device, kernel, precision);
    const isByPath = device.backend !== "cpu";
    const lengths = backwardLengths(shape, steps, isByPath);
    return new AdjointSimulation(device, batch, {
      source,
      table,
      lengths: { ...lengths, numbers: model.length + product.length },
      stream: batch.streams[instance],
      isByPath,
      steps,
      starts: createBufferOf(device, "i32", matrix.starts),
      places: createBufferOf(device, "i32", matrix.places),
      weights: createBufferOf(device, element, matrix.weights),
      keep: await compiled(keepKernel(shape)),
      moment: await compiled(momentKernel(shape)),
      merge: await compiled(mergeKernel(momentsOf(shape), 1, BLOCKS_MERGED)),
      end: await compiled(endKernel(shape)),
      backward: isByPath
        ? [await compiled(backwardKernel(shape, "paths")), await compiled(backwardKernel(shape, "steps"))]
        : [await compiled(backwardKernel(shape, "blocks"))],
      start: await compiled(startKernel(shape)),
      parameter: await compiled(parameterKernel(shape)),
      gather: await compiled(gatherKernel(shape)),
      slope: await compiled(slopeKernel(shape)),
    });
  }

  /** The number of blocks whose paths fit in the memory of a launch. */
  get #blocksPerLaunch(): number {
    const { lengths } = this.#made;
    const { backend, limits } = this.#device;
    const numbers = Object.values(lengths);
    const width = this.#batch.precision === "f64" ? 8 : 4;
    const all = numbers.reduce((sum, length) => sum + length, 0);
    const most = width * Math.max(...numbers);
    const bytes = KEPT_BYTES[backend === "cpu" ? "cpu" : "other"];
    // Indices are 32-bit integers.
    const fits = Math.min(bytes / (width * all), limits.maxBufferBytes / most, (2 ** 31 - 1) / Math.max(...numbers));
    return Math.max(1, Math.floor(fits));
  }

  /**
   * Simulates `count` blocks of samples from block `first` on, and adds them to the moments. @param told a callback
   * after each launch with its number of blocks, which is awaited
   */
  async run(
    moments: AdjointMoments,
    first: number,
    count: number,
    told: (blocks: number) => Promise<void>,
  ): Promise<void> {
    const device = this.#device;
    const { shape, precision, variants } = this.#batch;
    const element = hostRealType(precision);
    const each = momentsOf(shape);
    const directions = variants.directions.length;
    const perLaunch = Math.min(this.#blocksPerLaunch, count);
    // Moments are merged by whole groups of blocks, of however many launches.
    const together = Math.min(count, BLOCKS_MERGED * Math.max(1, Math.floor(perLaunch / BLOCKS_MERGED)));
    const buffers = this.#buffers(perLaunch);
    using own = device.createBuffer(element, each * together);
    using merged = device.createBuffer(element, each * Math.ceil(together / BLOCKS_MERGED));
    using slopes = device.createBuffer(element, 2 * directions * together);
    try {
      for (let done = 0; done < count; done += together) {
        const blocks = Math.min(together, count - done);
        for (let part = 0; part < blocks; part += perLaunch) {
          const some = Math.min(perLaunch, blocks - part);
          this.#launch(buffers, first + done + part, some, {
            firstItem: part,
            itemCount: blocks,
            moments: own,
            slopes,
          });
          if (part + some < blocks) {
            await device.finish();
            await told(some);
          }
        }
        const groups = Math.ceil(blocks / BLOCKS_MERGED);
        const sizes = { series: 1, blocks, itemCount: blocks, mergedCount: groups };
        device.launch(this.#made.merge, { ...sizes, from: own, merged }, { items: groups });
        const values = await device.read(merged, 0, each * groups);
        for (let g = 0; g < groups; g++)
          moments.value.merge(values, g, groups, BLOCK * Math.min(BLOCKS_MERGED, blocks - g * BLOCKS_MERGED));
        const means = await device.read(slopes, 0, 2 * directions * blocks);
        for (let b = 0; b < blocks; b++) moments.slopes.merge(means, b, blocks, 1);
        await told(blocks - perLaunch * Math.floor((blocks - 1) / perLaunch));
      }
    } finally {
      for (const buffer of Object.values(buffers)) buffer[Symbol.dispose]();
    }
  }

  /** Creates the buffers of a launch of some blocks. */
  #buffers(blocks: number): Buffers {
    const { lengths } = this.#made;
    const element = hostRealType(this.#batch.precision);
    const made: DeviceBuffer[] = [];
    const create = (name: keyof Buffers): DeviceBuffer => {
      const buffer = this.#device.createBuffer(element, Math.max(1, lengths[name] * blocks));
      made.push(buffer);
      return buffer;
    };
    try {
      return {
        kept: create("kept"),
        pays: create("pays"),
        adjoints: create("adjoints"),
        rows: create("rows"),
        heads: create("heads"),
        parameters: create("parameters"),
        numbers: create("numbers"),
      };
    } catch (error) {
      for (const buffer of made) buffer[Symbol.dispose]();
      throw error;
    }
  }

  /** Launches all kernels of some blocks of paths, there and back. */
  #launch(
    buffers: Buffers,
    firstBlock: number,
    blocks: number,
    out: {
      readonly firstItem: number;
      readonly itemCount: number;
      readonly moments: DeviceBuffer;
      readonly slopes: DeviceBuffer;
    },
  ): void {
    const { shape, seed, variants } = this.#batch;
    const made = this.#made;
    const { steps, table, isByPath } = made;
    const { paths, end } = keptLayout(shape);
    const { kept, pays, adjoints, rows, heads, parameters, numbers } = buffers;
    const launch = <P extends Params>(kernel: CompiledKernel<P>, all: LaunchArguments<P>, items: number): void =>
      this.#device.launch(kernel, all, { items });
    const items = paths * blocks;
    const { firstItem, itemCount, moments, slopes } = out;
    const random = { ...seedWords(seed), stream: made.stream, firstBlock };
    launch(made.keep, { ...random, blocks, steps, table, kept, pays }, items);
    launch(made.moment, { blocks, firstItem, itemCount, pays, moments }, blocks);
    launch(made.end, { steps, blocks, table, kept, adjoints, heads }, blocks);
    const back = { steps, blocks, table, kept, adjoints, rows };
    const [first, second] = made.backward;
    launch(first, back, isByPath ? items : blocks);
    if (second !== undefined) launch(second, back, steps * blocks);
    launch(made.start, { blocks, from: isByPath ? end * items : 0, table, adjoints, heads }, blocks);
    const { model, product } = made.source;
    const values = { values: model.valueBuffer, layout: model.layoutBuffer };
    launch(made.parameter, { steps, blocks, ...values, table, rows, heads, parameters }, steps * blocks);
    const layouts = { layout: model.layoutBuffer, productLayout: product.layoutBuffer, productAt: model.length };
    const { modelParameters, product: ofProduct, dated } = rowsOf(shape);
    launch(
      made.gather,
      { steps, blocks, ...layouts, table, rows, heads, parameters, adjoints: numbers },
      blocks * (modelParameters + ofProduct + dated),
    );
    const { starts, places, weights } = made;
    launch(
      made.slope,
      { blocks, firstItem, itemCount, adjoints: numbers, starts, places, weights, slopes },
      blocks * variants.directions.length,
    );
  }

  [Symbol.dispose](): void {
    const { source, table, starts, places, weights } = this.#made;
    for (const resource of [source, table, starts, places, weights]) resource[Symbol.dispose]();
  }
}

/**
 * Returns the directions by which a table is laid out: parameters that any direction moves by step have steps there.
 */
function layoutDirection(directions: readonly Direction[]): readonly Direction[] {
  const byStep = (name: "model" | "product"): Readonly<Record<string, Parameter>> =>
    Object.fromEntries(
      directions.flatMap((direction) => Object.entries(direction[name]).filter(([, moves]) => isByStep(moves))),
    );
  return [{ model: byStep("model"), product: byStep("product"), control: {} }];
}

/** Returns what the directions of an instance move of the numbers of model and product, as a sparse matrix. */
function directionMatrix(
  { variants, dates, shape }: Batch,
  instance: number,
  model: ParameterTable,
  product: ParameterTable,
): { readonly starts: Int32Array; readonly places: Int32Array; readonly weights: Float64Array } {
  const steps = dates.length * shape.substeps;
  const starts = [0];
  const places: number[] = [];
  const weights: number[] = [];
  const add = (place: number, weight: number): void => {
    if (weight === 0) return;
    places.push(place);
    weights.push(weight);
  };
  const groups = [
    { moves: "model", table: model, first: 0 },
    { moves: "product", table: product, first: model.length },
  ] as const;
  const isConstant = (name: string): boolean =>
    Object.keys(shape.product.parameters).indexOf(name) < rowsOf(shape).product;
  for (const direction of variants.directions) {
    for (const { moves, table, first } of groups) {
      const names = Object.keys(variants[moves][0]);
      for (const [name, speed] of Object.entries(direction[moves])) {
        const at = LAYOUT_NUMBERS * names.indexOf(name);
        // Parameters of products that are read at the start alone have no steps.
        const stride = moves === "product" && isConstant(name) ? 0 : table.layout[at + 1];
        for (let n = 0; n < (stride > 0 ? steps : 1); n++)
          add(first + table.layout[at] + n * stride, columnAt(stepOf(speed, n), instance));
      }
    }
    starts.push(places.length);
  }
  const orOne = (list: readonly number[]): readonly number[] => (list.length === 0 ? [0] : list);
  return {
    starts: Int32Array.from(starts),
    places: Int32Array.from(orOne(places)),
    weights: Float64Array.from(orOne(weights)),
  };
}
