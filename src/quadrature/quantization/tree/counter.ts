/** Counts of transitions on a device: Algorithms I, II and III. */
import { compileExact, type Device, type DeviceBuffer, isGpu, createBufferOf } from "../../../device/index.ts";
import { hostRealType, i32, kernel, u32, write } from "../../../kernel/index.ts";
import { LAYER_GROUP_SIZE, layersKernel, gridTransitionCountKernel } from "./walk-grid.ts";
import { seedWords } from "../../../numerics/random/index.ts";
import type { WorkProgress } from "../../../base/event-loop.ts";
import { type QuantizationTreePlan, quantizationTreePlan, type TreeSettings } from "./plan.ts";
import { transitionCountKernel } from "./walk.ts";

/**
 * The number of words that an item clears on a GPU: an H200 takes 0.6 ns to start a workgroup, and 364 MB would be a
 * million.
 */
const CLEARED = 16;

/**
 * Returns the kernel that clears an array: each work item writes `words` zeros, whose distance is the number of items.
 */
export const clearKernel = (words: number) =>
  kernel({
    name: "clearCounters",
    groupSize: 256,
    params: { counters: write(u32), length: i32, items: i32 },
    env: { WORDS: words },
    body({ counters, length, items }, gpu, { WORDS }) {
      for (let k = 0; k < WORDS; k++) {
        const at = gpu.globalId() + k * items;
        if (at < length) counters[at] = gpu.u32(0);
      }
    },
  });

/** The number of paths of one launch of Algorithm II: short enough for a GPU that also draws a screen. */
const LAUNCH = 2 ** 17;
/** The number of items of a workgroup that shares its grid. */
const WALK_GROUP = 128;
/** The paths of an item on a CPU, so that the counters of a layer stay in the cache. */
const ABREAST = 128;

type Launch = () => void;

/**
 * A counter of the transitions of a chain's paths from cell to cell:
 *
 *   counters[k][i·Nₖ₊₁ + j] = #{paths: X̂ₖ = xᵢ, X̂ₖ₊₁ = xⱼ}
 *
 * Counts are integers, so that their sums do not depend on the order of paths: any number of threads, and any device
 * that rounds paths equally, gives the same counts. Algorithms I and II walk the same paths and give the same counts;
 * Algorithm III simulates each pair of layers on its own.
 *
 * Cost: per path and step d normal numbers, one nearest point, one atomic addition; Algorithm III twice the first two.
 * Source: G. Pagès and B. Wilbertz (2012). Verified: test/quadrature/quantization/transitions.test.ts.
 *
 * @example
 * import { openDevice } from "feynkac/device";
 * import { meanRevertingFactors, TransitionCounter } from "feynkac/quantization";
 *
 * using device = await openDevice({ backend: "cpu", threads: 1 });
 * const chain = meanRevertingFactors({ times: [0, 1, 2], meanReversion: [0] });
 * const settings = { chain, size: 2, transitions: "paths", paths: 10_000 } as const;
 * using counter = await TransitionCounter.create(device, settings);
 * counter.run();
 * const counts = await counter.read();
 * // W₁ and W₂ have the same sign with probability 3/4.
 * const share = (counts[2]! + counts[5]!) / 10_000;
 * console.log(counts.length, Math.abs(share - 0.75) < 0.02); // 6 true
 * @experimental
 */
export class TransitionCounter implements Disposable {
  readonly device: Device;
  readonly plan: QuantizationTreePlan;
  /** The counters of all pairs of layers, one after another. */
  readonly counters: DeviceBuffer<"u32">;
  readonly #buffers: readonly DeviceBuffer[];
  readonly #launches: readonly Launch[];

  private constructor(device: Device, plan: QuantizationTreePlan, made: Made) {
    this.device = device;
    this.plan = plan;
    this.counters = made.counters;
    this.#buffers = made.buffers;
    this.#launches = made.launches;
  }

  /** Creates a counter. @throws SpecError | ShapeError | PrecisionError | OutOfMemoryError */
  static async create(device: Device, settings: TreeSettings): Promise<TransitionCounter> {
    const plan = await quantizationTreePlan(device, { ...settings, transitions: settings.transitions ?? "paths" });
    return TransitionCounter.of(device, plan);
  }

  /** Creates a counter from a plan. @internal */
  static async of(device: Device, plan: QuantizationTreePlan): Promise<TransitionCounter> {
    return new TransitionCounter(device, plan, await make(device, plan));
  }

  /** Records the counting of all paths, after resetting the counters. */
  run(): void {
    for (const launch of this.#launches) launch();
  }

  /** Counts like `run`, and waits for each launch, which is a unit of `work`. @throws the signal's reason */
  async runAll(work: WorkProgress): Promise<void> {
    work.expect(this.#launches.length);
    for (const launch of this.#launches) {
      launch();
      await this.device.finish();
      await work.done(1);
    }
  }

  /** Waits, and returns all counters. */
  read(): Promise<Uint32Array> {
    return this.device.read(this.counters);
  }

  [Symbol.dispose](): void {
    for (const buffer of this.#buffers) buffer[Symbol.dispose]();
  }
}

interface Made {
  readonly counters: DeviceBuffer<"u32">;
  readonly buffers: readonly DeviceBuffer[];
  readonly launches: readonly Launch[];
}

async function make(device: Device, plan: QuantizationTreePlan): Promise<Made> {
  const words = isGpu(device) ? CLEARED : 1;
  const clear = await compileExact(device, clearKernel(words), "f32");
  const compiling = plan.method === "layers" ? compileLayers : sharesGrid(device, plan) ? compileGridWalk : compileWalk;
  const count = await compiling(device, plan);
  const element = hostRealType(plan.precision);
  const counters = device.createBuffer("u32", plan.countersLength);
  const buffers = {
    parameters: createBufferOf(device, element, plan.parameters),
    points: createBufferOf(device, element, plan.points),
    table: createBufferOf(device, "i32", plan.table),
    geometry: createBufferOf(device, element, plan.geometry),
    initial: createBufferOf(device, element, plan.initial),
    layout: createBufferOf(device, "i32", plan.layout),
  };
  const length = plan.countersLength;
  const items = Math.ceil(length / words);
  const cleared: Launch = () => device.launch(clear, { counters, length, items }, { items });
  const launches = [cleared, ...count({ ...buffers, counters })];
  return { counters, buffers: [...Object.values(buffers), counters], launches };
}

type Buffers = Readonly<
  Record<"parameters" | "points" | "table" | "geometry" | "initial" | "layout" | "counters", DeviceBuffer>
>;
type Counting = (buffers: Buffers) => readonly Launch[];

async function compileWalk(device: Device, plan: QuantizationTreePlan): Promise<Counting> {
  const { dimension, step, searcher, precision, paths, seed, sizes } = plan;
  const by = plan.method === "serial" ? "serial" : "paths";
  // Paths that are left over are a second launch, one path an item.
  const abreast = by === "paths" && !isGpu(device) ? ABREAST : 1;
  const shape = { dimension, step, nearest: searcher.nearest, by } as const;
  const one = await compileExact(device, transitionCountKernel({ ...shape, abreast: 1 }), precision);
  const many =
    abreast === 1 ? one : await compileExact(device, transitionCountKernel({ ...shape, abreast }), precision);
  return (buffers) => {
    const args = { ...buffers, ...seedWords(seed), layers: sizes.length };
    if (by === "serial") return [() => device.launch(one, { ...args, firstPath: 0, rounds: paths }, { items: 1 })];
    const whole = paths - (paths % abreast);
    const starts = Array.from({ length: Math.ceil(whole / LAUNCH) }, (_, k) => k * LAUNCH);
    const launches = starts.map((firstPath) => () => {
      const items = Math.min(LAUNCH, whole - firstPath) / abreast;
      device.launch(many, { ...args, firstPath, rounds: 1 }, { items });
    });
    const rest = (): void => device.launch(one, { ...args, firstPath: whole, rounds: 1 }, { items: paths - whole });
    return paths > whole ? [...launches, rest] : launches;
  };
}

/** Elements of a real in units of four bytes. */
const wordsOf = ({ precision }: QuantizationTreePlan): number => (precision === "f32" ? 1 : 2);

/** The number of words of workgroup memory that are left beside the grid. */
const roomOf = ({ limits }: Device, plan: QuantizationTreePlan): number =>
  Math.floor(limits.maxWorkgroupBytes / 4) - plan.sizes[1] * plan.dimension * wordsOf(plan) - 8;

/** Tells whether Algorithm II walks with the grid in workgroup memory: on a GPU, if all layers have the same. */
const sharesGrid = (device: Device, plan: QuantizationTreePlan): boolean =>
  plan.method === "paths" && plan.quantizer !== undefined && isGpu(device) && roomOf(device, plan) > 0;

async function compileGridWalk(device: Device, plan: QuantizationTreePlan): Promise<Counting> {
  const { dimension, step, searcher, precision, paths, seed, sizes, table } = plan;
  const kernel = gridTransitionCountKernel({
    dimension,
    size: sizes[1],
    tableLength: table.length,
    step,
    nearest: searcher.nearestIn(table),
    sharesTable: table.length <= roomOf(device, plan),
    groupSize: WALK_GROUP,
  });
  const compiled = await compileExact(device, kernel, precision);
  const starts = Array.from({ length: Math.ceil(paths / LAUNCH) }, (_, k) => k * LAUNCH);
  return ({ layout: _unused, ...buffers }) =>
    starts.map((firstPath) => () => {
      const endPath = Math.min(firstPath + LAUNCH, paths);
      const args = { ...buffers, ...seedWords(seed), layers: sizes.length, firstPath, endPath };
      device.launch(compiled, args, { groups: Math.ceil((endPath - firstPath) / WALK_GROUP) });
    });
}

async function compileLayers(device: Device, plan: QuantizationTreePlan): Promise<Counting> {
  const { dimension, step, searcher, precision, paths, seed, sizes, table } = plan;
  const size = sizes[1];
  const pairs = sizes.length - 1;
  const room = roomOf(device, plan);
  const sharesCounters = size * size <= room;
  const sharesTable = (sharesCounters ? size * size : 0) + table.length <= room;
  const shape = { dimension, size, step, nearest: searcher.nearestIn(table), sharesCounters, sharesTable };
  const layers = layersKernel({ ...shape, tableLength: table.length });
  const compiled = await compileExact(device, layers, precision);
  const parts = Math.max(1, Math.ceil(device.parallelism / LAYER_GROUP_SIZE / pairs));
  const length = Math.ceil(paths / parts);
  const used = Math.ceil(paths / length);
  return ({ parameters, points, table: lists, geometry, counters }) => {
    const args = { ...seedWords(seed), pairs, paths, length, parameters, points, table: lists, geometry, counters };
    return [() => device.launch(compiled, args, { groups: pairs * used })];
  };
}
