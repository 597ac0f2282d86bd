/** Estimates π from random points in the unit square, as in Table 2 of Pagès and Wilbertz. */
import { type CompiledKernel, type Device, type DeviceBuffer, isGpu, createBufferOf } from "../../src/device/index.ts";
import { fn, i32, kernel, read, type ResultOf, u32, write } from "../../src/kernel/index.ts";
import {
  drand48Next,
  drand48Start,
  drand48Word,
  mrg32k3aNext,
  mrg32k3aStart,
  mrg32k3aWord,
  streamTable,
  uniform24,
  xorwowNext,
  xorwowStart,
  xorwowWord,
} from "../../src/numerics/random/index.ts";

/** The name of a random number generator in Table 2 of Pagès and Wilbertz' paper. */
export type PiGenerator = "drand48" | "mrg32k3a" | "xorwow";

/** The number of counters. The work items are distributed among them, so that few atomic additions collide. */
const COUNTERS = 1024;
/**
 * The minimum number of points of a work item. Larger items amortize the start of the generator, and smaller ones give
 * more parallelism.
 */
const MIN_POINTS = 1024;
const MAX_POINTS = 8192;
const ITEMS = 2 ** 17;
/**
 * The number of points in each iteration of the loop. After so many points, the words of the generator's state are in
 * the same registers again.
 */
const AT_ONCE: Readonly<Record<PiGenerator, number>> = { drand48: 4, mrg32k3a: 3, xorwow: 5 };
/** The number of work items in one launch. A computation can only be aborted between launches. */
const LAUNCH = { cpu: 2 ** 10, gpu: 2 ** 17 } as const;

/** Uses z − 1 of MRG32k3a as a 32-bit number, although it does not take the largest 209 values. */
const mrg32k3aBits = fn({
  name: "mrg32k3aBits",
  params: [u32],
  body: ([z]) => (z - 1) >>> 0,
});
const sameBits = fn({ name: "sameBits", params: [u32], body: ([word]) => word });

const functionsOf = (generator: PiGenerator) =>
  ({
    drand48: { start: drand48Start, next: drand48Next, word: drand48Word, bits: sameBits },
    mrg32k3a: { start: mrg32k3aStart, next: mrg32k3aNext, word: mrg32k3aWord, bits: mrg32k3aBits },
    xorwow: { start: xorwowStart, next: xorwowNext, word: xorwowWord, bits: sameBits },
  })[generator] as {
    readonly start: typeof drand48Start;
    readonly next: typeof drand48Next;
    readonly word: typeof drand48Word;
    readonly bits: typeof sameBits;
  };

type State = ResultOf<typeof drand48Next>;

/**
 * Returns the kernel that counts how many random points of each work item are in the quarter of the unit disc. Random
 * numbers and points stay in registers.
 *
 * Cost of a point in 32-bit integer operations: two steps of the generator (drand48 10, XORWOW 8, MRG32k3a 30 each), 4
 * for each of the two uniform numbers, and 3 for the test. Only the table of the generator's initial states is read
 * from memory.
 */
export const insideDisc = (generator: PiGenerator) =>
  kernel({
    name: `insideDisc-${generator}`,
    params: {
      /** The total number of points, and the number of points of a work item. */
      points: i32,
      length: i32,
      /** The first work item of the launch, and the random number stream of item 0. */
      firstItem: i32,
      firstStream: i32,
      table: read(u32),
      counts: write(u32),
    },
    env: { ...functionsOf(generator), uniform24, COUNTERS, AT_ONCE: AT_ONCE[generator] },
    body(
      { points, length, firstItem, firstStream, table, counts },
      gpu,
      { start, next, word, bits, uniform24, COUNTERS, AT_ONCE },
    ) {
      const item = firstItem + gpu.globalId();
      let state: State = start({ table, stream: gpu.u32(firstStream + item), part: gpu.u32(0) });
      const some = Math.min(length, points - item * length);
      let inside = 0;
      let k = 0;
      for (; k + AT_ONCE <= some; k += AT_ONCE)
        for (let i = 0; i < AT_ONCE; i++) {
          state = next({ state });
          const x = uniform24(bits(word({ state })));
          state = next({ state });
          const y = uniform24(bits(word({ state })));
          inside += x * x + y * y <= 1 ? 1 : 0;
        }
      for (; k < some; k++) {
        state = next({ state });
        const x = uniform24(bits(word({ state })));
        state = next({ state });
        const y = uniform24(bits(word({ state })));
        inside += x * x + y * y <= 1 ? 1 : 0;
      }
      gpu.atomicAdd(counts, item % COUNTERS, inside);
    },
  });

type Compiled = CompiledKernel<ReturnType<typeof insideDisc>["params"]>;

/**
 * Counts the random points in the quarter disc on a device. Several counts use consecutive numbers of one generator.
 */
export class DiscCounter implements Disposable {
  /** The number of work items of one count. */
  readonly items: number;
  readonly #device: Device;
  readonly #compiled: Compiled;
  readonly #table: DeviceBuffer<"u32">;
  readonly #counts: DeviceBuffer<"u32">;
  readonly #points: number;
  readonly #length: number;

  private constructor(device: Device, compiled: Compiled, generator: PiGenerator, points: number, runs: number) {
    this.#device = device;
    this.#compiled = compiled;
    this.#points = points;
    this.#length = Math.min(Math.max(Math.ceil(points / ITEMS), MIN_POINTS), MAX_POINTS);
    this.items = Math.ceil(points / this.#length);
    // Number 2k is the first coordinate of point k, and 2k + 1 the second.
    const blocks = { streams: runs * this.items, blockLength: 2 * this.#length };
    this.#table = createBufferOf(device, "u32", streamTable({ generator, seed: 1, ...blocks }));
    this.#counts = device.createBuffer("u32", COUNTERS);
  }

  /** Creates a counter. @throws PrecisionError | SpecError */
  static async create(device: Device, generator: PiGenerator, points: number, runs = 1): Promise<DiscCounter> {
    // Without contraction, so that all devices find the same; twice two vectors would not fit a CPU's registers.
    const compiled = await device.compile(insideDisc(generator), { precision: "f32", fma: "reproducible", vectors: 2 });
    return new DiscCounter(device, compiled, generator, points, runs);
  }

  /** Records the launch of some work items of the count with number `run`. */
  launch(run: number, firstItem: number, items: number): void {
    const args = { points: this.#points, length: this.#length, table: this.#table, counts: this.#counts };
    this.#device.launch(this.#compiled, { ...args, firstItem, firstStream: run * this.items }, { items });
  }

  /** Runs the count with number `run` and returns the number of points in the disc. */
  async inside(run: number, signal: AbortSignal): Promise<number> {
    const atOnce = LAUNCH[isGpu(this.#device) ? "gpu" : "cpu"];
    this.#device.write(this.#counts, new Uint32Array(COUNTERS));
    for (let item = 0; item < this.items; item += atOnce) {
      signal.throwIfAborted();
      this.launch(run, item, Math.min(atOnce, this.items - item));
      if (!isGpu(this.#device)) await this.#device.finish();
    }
    return (await this.#device.read(this.#counts)).reduce((sum, one) => sum + one, 0);
  }

  [Symbol.dispose](): void {
    this.#table[Symbol.dispose]();
    this.#counts[Symbol.dispose]();
  }
}

/** Estimates π from a number of random points, several times with different points. */
export async function estimatePi(
  device: Device,
  generator: PiGenerator,
  points: number,
  repeats: number,
  signal: AbortSignal,
): Promise<readonly number[]> {
  using counter = await DiscCounter.create(device, generator, points, repeats);
  const estimates: number[] = [];
  for (let run = 0; run < repeats; run++) estimates.push((4 * (await counter.inside(run, signal))) / points);
  return estimates;
}
