/** Random numbers in bulk, on any device. */
import {
  type CallOptions,
  isGpu,
  offeredPrecision,
  type CompiledKernel,
  type Device,
  type DeviceBuffer,
  withDevice,
} from "../../device/index.ts";
import { DisposedError, ShapeError, SpecError } from "../../base/errors.ts";
import { hostRealType } from "../../kernel/index.ts";
import { type NumberSource, numberSourceOf } from "./draws.ts";
import type { JumpGroup } from "./generators/generator.ts";
import { jumpEntries, jumpOf, tableOf } from "./generators/skip.ts";
import { fromWords } from "./generators/words.ts";
import { directKernel, GROUP_SIZE, type RandomNumbersKernel, tiledKernel, TILE_LENGTH } from "./kernels.ts";
import { GENERATORS, type RandomSettings, type RandomSpec, randomSpec, wholeBigint } from "./spec.ts";
import { sobolDirections } from "./sobol/directions.ts";
import { sobolTableOf } from "./sobol/sobol.ts";

/** The range of numbers of each stream. @stable */
export interface Range {
  /** The count of numbers of each stream; for sobol, of points. */
  readonly count: number;
  /** The index of the first number in its stream, 0 by default. Any index costs the same. */
  readonly offset?: number | bigint;
}

/** The division of a range among work items. */
interface Division {
  readonly length: number;
  /** Parts of `length` numbers of each stream, and numbers after them. */
  readonly whole: number;
  readonly rest: number;
}

/** The parameters that launches of one range differ in; see the kernels'. */
interface Launched {
  readonly parts: number;
  readonly firstPart: number;
  readonly used: number;
  readonly guarded: boolean;
}

const MAX_NUMBERS = 2 ** 30;
const MAX_OFFSET = (1n << 191n) - 1n;
/** Sobol' indices have 32 bits. */
const MAX_POINTS = 2n ** 32n;
/** A part is long enough that finding its start does not count. */
const MIN_LENGTH = { cpu: 1024, gpu: 64 } as const;
/**
 * Numbers of a turn of the loop of items that write their parts alone. Several turns in one leave the state in its
 * registers, and take as many times longer to compile: for CUDA, where numbers take few instructions.
 */
const unrollOf = (device: Device, { distribution }: RandomSpec, { group }: NumberSource): number =>
  device.backend === "cuda" && distribution !== "normal" ? TILE_LENGTH : group;

/**
 * Parts for each work item that fills the device. A CPU's threads need some more to end together; a GPU writes at full
 * speed when it is half full. Each part costs a jump, and one of xorwow as much as 600 numbers: an eighth is enough to
 * write, too.
 */
function partsPerItem(device: Device, generator: RandomSpec["generator"]): number {
  if (!isGpu(device)) return 2;
  return generator === "xorwow" ? 0.125 : 0.5;
}

/**
 * A generator of random numbers: it fills buffers on its device with the numbers of a specification.
 *
 * Number i of stream k comes from the generator's steps k·blockLength + i·s, …, where s is the number of steps that a
 * number takes: 1, but 2 for mrg32k3a and xorwow with 53 bits or with Box and Muller's method. Philox makes 4 numbers
 * per step, or 2 of 53 bits. Numbers depend only on the specification and on their position: any two ranges that
 * overlap agree bit for bit, on any number of threads and any device. (Normal numbers may differ in the last bits on
 * WebGPU, whose divisions do.)
 *
 * Cost: a few integer operations per number (docs/random.md); 4 or 8 bytes written. Any offset costs the same. Sources
 * and verification: see each generator's kernel functions, and test/numerics/random.
 *
 * @example
 * import { openDevice } from "feynkac/device";
 * import { RandomGenerator, randomSpec } from "feynkac/random";
 *
 * using device = await openDevice({ backend: "cpu", threads: 1 });
 * using philox = await RandomGenerator.create(device, randomSpec({ generator: "philox", seed: 42 }));
 * const buffer = device.createBuffer("f64", 1000);
 * philox.fill(buffer, { count: 1000, offset: 2 ** 40 });
 * const numbers = await device.read(buffer);
 * console.log(numbers.every((u) => u > 0 && u < 1)); // true
 * @stable
 */
export class RandomGenerator implements Disposable {
  readonly device: Device;
  readonly spec: RandomSpec;
  readonly #source: NumberSource;
  readonly #kernel: CompiledKernel<RandomNumbersKernel["params"]>;
  readonly #isTiled: boolean;
  readonly #rows: Uint32Array | undefined;
  #entries: { readonly key: string; readonly words: Uint32Array } | undefined;
  #table: DeviceBuffer<"u32"> | undefined;
  #disposed = false;

  private constructor(
    device: Device,
    spec: RandomSpec,
    source: NumberSource,
    compiled: CompiledKernel,
    rows?: Uint32Array,
  ) {
    this.device = device;
    this.spec = spec;
    this.#source = source;
    this.#kernel = compiled as CompiledKernel<RandomNumbersKernel["params"]>;
    this.#isTiled = isTiled(device, spec);
    this.#rows = rows;
  }

  /** Creates a generator. @throws PrecisionError (not offered by the device) */
  static async create(device: Device, spec: RandomSpec): Promise<RandomGenerator> {
    const { precision } = spec;
    // Words are the same in every precision; f32 has the most SIMD lanes.
    const offered =
      spec.distribution === "bits" ? "f32" : await offeredPrecision(device, precision, { reproducible: "random" });
    const source = numberSourceOf(spec);
    const program = isTiled(device, spec)
      ? tiledKernel(spec, source)
      : directKernel(spec, source, unrollOf(device, spec, source));
    // Without contraction normal numbers have the same bits as on the CPU; elsewhere there is nothing to contract.
    const compiled = await device.compile(program, { precision: offered, fma: "reproducible", vectors: 2 });
    const rows = spec.generator === "sobol" ? await sobolDirections(spec.firstStream + spec.streams) : undefined;
    return new RandomGenerator(device, spec, source, compiled, rows);
  }

  /** The element type of its buffers: u32 for words, otherwise the type by which the host stores the precision. */
  get element(): "u32" | "f64" | "f32" {
    return this.spec.distribution === "bits" ? "u32" : hostRealType(this.spec.precision);
  }

  /**
   * Records that the first streams·count elements of `buffer`, which is borrowed, become the numbers of `range`.
   * @throws SpecError (the range) | ShapeError (the buffer) | DisposedError
   */
  fill(buffer: DeviceBuffer, range: Range): void {
    if (this.#disposed) throw new DisposedError("random: the generator has been disposed");
    const { device, spec } = this;
    const { streams, firstStream, generator } = spec;
    const { count } = range;
    const offset = this.#checked(buffer, range);
    if (count === 0) return;
    const lead = Number(offset % BigInt(this.#source.group));
    const division = this.#divide(lead + count);
    this.#load(offset - BigInt(lead), division);
    const { length } = division;
    const first = generator === "sobol" ? firstStream : 0;
    const shared = { table: this.#table!, streams, firstStream: first, lead, count, length, out: buffer };
    for (const launched of this.#launches(division, lead)) {
      const { parts } = launched;
      const size = this.#isTiled ? { groups: (streams * parts) / GROUP_SIZE } : { items: streams * parts };
      device.launch(this.#kernel, { ...shared, ...launched }, size);
    }
  }

  /**
   * Returns the numbers of a range on the host: [streams, count], or [count, streams] if interleaved. @throws SpecError
   * | OutOfMemoryError | DisposedError
   */
  async generate(range: Range): Promise<Float64Array | Float32Array | Uint32Array> {
    const { streams } = this.spec;
    checkCount(range.count, streams);
    const buffer = this.device.createBuffer(this.element, streams * range.count);
    try {
      this.fill(buffer, range);
      return await this.device.read(buffer);
    } finally {
      buffer[Symbol.dispose]();
    }
  }

  [Symbol.dispose](): void {
    this.#disposed = true;
    this.#table?.[Symbol.dispose]();
    this.#table = undefined;
  }

  /** The offset. */
  #checked(buffer: DeviceBuffer, { count, offset = 0 }: Range): bigint {
    const { streams, generator } = this.spec;
    checkCount(count, streams);
    const first = wholeBigint("offset", offset, MAX_OFFSET, "give the place of the first number in its stream");
    if (generator === "sobol" && first + BigInt(count) > MAX_POINTS)
      throw new SpecError(
        `random: offset ${first} and count ${count}: beyond the 2³² points that sobol has; take another seed`,
      );
    if (buffer.device !== this.device || buffer.element !== this.element)
      throw new ShapeError(
        `random: got a buffer of ${buffer.element} of ${buffer.device.name}, expected ${this.element} of ${this.device.name}`,
      );
    if (buffer.length < streams * count)
      throw new ShapeError(
        `random: got a buffer of ${buffer.length} elements, expected at least ${streams * count} (streams × count)`,
      );
    return first;
  }

  #divide(numbers: number): Division {
    const { streams, generator } = this.spec;
    const kind = isGpu(this.device) ? "gpu" : "cpu";
    const wanted = Math.max(1, Math.ceil((partsPerItem(this.device, generator) * this.device.parallelism) / streams));
    const minLength = MIN_LENGTH[kind];
    if (this.#isTiled) {
      const length = roundUp(Math.max(minLength, Math.ceil(numbers / wanted)), TILE_LENGTH);
      return { length, whole: roundUp(Math.ceil(numbers / length), GROUP_SIZE), rest: 0 };
    }
    const length = Math.max(minLength, TILE_LENGTH * Math.floor(numbers / wanted / TILE_LENGTH));
    const whole = Math.floor(numbers / length);
    return { length, whole, rest: numbers - whole * length };
  }

  /** The parts that are whole, then the rest. */
  #launches({ length, whole, rest }: Division, lead: number): readonly Launched[] {
    const parts = { parts: whole, firstPart: 0, used: length, guarded: lead > 0 };
    const last = { parts: 1, firstPart: whole, used: rest, guarded: true };
    return [...(whole > 0 ? [parts] : []), ...(rest > 0 ? [last] : [])];
  }

  /** Writes the table by which the items find their starts. */
  #load(first: bigint, division: Division): void {
    const words = this.#rows === undefined ? this.#jumps(first, division) : this.#points(first, division);
    if (this.#table?.length !== words.length) {
      this.#table?.[Symbol.dispose]();
      this.#table = this.device.createBuffer("u32", words.length);
    }
    this.device.write(this.#table, words);
  }

  #points(first: bigint, { length }: Division): Uint32Array {
    return sobolTableOf({
      rows: this.#rows!,
      offset: Number(first),
      partLength: length,
      seed: fromWords(this.spec.state),
    });
  }

  #jumps(first: bigint, { whole, rest, length }: Division): Uint32Array {
    const { spec } = this;
    const { steps, group } = this.#source;
    const jumps = GENERATORS[spec.generator].jumps!;
    const parts = whole + (rest > 0 ? 1 : 0);
    const stepsOf = (numbers: bigint): bigint => (numbers / BigInt(group)) * BigInt(steps);
    const block = blockSteps(spec);
    const streams = { spacing: block, count: spec.streams };
    const starts = { spacing: stepsOf(BigInt(length)), count: parts };
    const key = `${parts} ${length}`;
    if (this.#entries?.key !== key) this.#entries = { key, words: jumpEntries(jumps, streams, starts) };
    const ahead = jumpOf(jumps, BigInt(spec.firstStream) * block + stepsOf(first));
    return tableOf(jumps.apply(ahead, spec.state), this.#entries.words, streams, starts);
  }
}

const roundUp = (n: number, multiple: number): number => Math.ceil(n / multiple) * multiple;

/** Steps from one stream to the next: a step of philox is 4 words. */
const blockSteps = ({ generator, blockLength }: RandomSpec): bigint =>
  generator === "philox" ? blockLength / 4n : blockLength;

/** Tells whether items of a workgroup write together. */
const isTiled = (device: Device, { order }: RandomSpec): boolean => order === "by-stream" && isGpu(device);

function checkCount(count: number, streams: number): void {
  if (!Number.isInteger(count) || count < 0)
    throw new SpecError(`random: count: got ${count}, expected a whole number of numbers per stream`);
  if (count * streams > MAX_NUMBERS)
    throw new SpecError(
      `random: ${streams} × ${count} numbers, expected at most 2³⁰ in a call; make the rest with an offset`,
    );
}

/** The settings of `randomNumbers`: those of a generator, the range and the device. @stable */
export type NumberSettings = RandomSettings & Range & Pick<CallOptions, "device">;
/** The settings of `randomNumbers` for words of 32 bits. @stable */
export type WordSettings = NumberSettings & { readonly distribution: "bits" };
/** The settings of `randomNumbers` for reals, in any precision. @stable */
export type RealSettings = NumberSettings & { readonly distribution?: "uniform" | "normal" };
/** The settings of `randomNumbers` for f32. @stable */
export type SingleSettings = RealSettings & { readonly precision: "f32" };
/** The settings of `randomNumbers` for f64. @stable */
export type DoubleSettings = RealSettings & { readonly precision?: "f64" | "f32x2" };

/**
 * Generates random numbers on the host in one call: compiles, fills a buffer and reads it.
 *
 * @param settings those of `randomSpec`, the range, and the device, which is a CPU by default.
 * @returns [streams, count] or, if interleaved, [count, streams]: words as u32, else f64, or f32 for precision "f32".
 * @throws SpecError | PrecisionError | OutOfMemoryError
 * @example
 * import { openDevice } from "feynkac/device";
 * import { randomNumbers } from "feynkac/random";
 *
 * using device = await openDevice({ backend: "cpu", threads: 1 });
 * const spec = { generator: "xorwow", seed: 1234, distribution: "bits", streams: 3, order: "interleaved" } as const;
 * console.log((await randomNumbers({ device, ...spec, count: 1 })).join(" ")); // 624778773 3522650202 2363946744
 * @stable
 */
export function randomNumbers(settings: WordSettings): Promise<Uint32Array>;
export function randomNumbers(settings: SingleSettings): Promise<Float32Array>;
export function randomNumbers(settings: DoubleSettings): Promise<Float64Array>;
export function randomNumbers(settings: NumberSettings): Promise<Float64Array | Float32Array | Uint32Array>;
export function randomNumbers({
  device,
  ...settings
}: NumberSettings): Promise<Float64Array | Float32Array | Uint32Array> {
  return withDevice(device, { backend: "cpu" }, async (on) => {
    using generator = await RandomGenerator.create(on, randomSpec(settings));
    return await generator.generate(settings);
  });
}

/** The settings of `streamTable`: those of `randomSpec` that determine streams. @stable */
export type StreamSettings = Pick<RandomSettings, "seed" | "streams" | "firstStream" | "blockLength"> & {
  readonly generator: "drand48" | "mrg32k3a" | "xorwow" | "philox";
  /** The number of steps to skip in each stream, 0 by default. */
  readonly offset?: number | bigint;
};

/**
 * Returns the table from which users' kernels compute the starts of streams (`xorwowStart` and similar functions):
 * write it to a buffer of u32 and pass it as `read(u32)`. `part` is then 0.
 *
 * Size: 63 jumps, of 4 to 18 words, per digit of the number of streams to base 64.
 *
 * @param settings the generator, its seed, the number of streams, and the steps to skip in each.
 * @throws SpecError
 * @example
 * import { drand48Start, drand48Word, streamTable } from "feynkac/random";
 *
 * const table = streamTable({ generator: "drand48", seed: 42, streams: 100, offset: 1_000_000 });
 * console.log(drand48Word({ state: drand48Start({ table, stream: 0, part: 0 }) })); // 3029157651
 * @stable
 */
export function streamTable(settings: StreamSettings): Uint32Array {
  const spec = randomSpec(settings);
  const jumps = jumpsOf("streamTable", spec.generator);
  const offset = wholeBigint("offset", settings.offset ?? 0, MAX_OFFSET, "give the steps to skip");
  const block = blockSteps(spec);
  const streams = { spacing: block, count: spec.streams };
  const parts = { spacing: 0n, count: 1 };
  const state = jumps.apply(jumpOf(jumps, BigInt(spec.firstStream) * block + offset), spec.state);
  return tableOf(state, jumpEntries(jumps, streams, parts), streams, parts);
}

function jumpsOf(who: string, generator: RandomSpec["generator"]): JumpGroup<unknown> {
  const { jumps } = GENERATORS[generator];
  if (jumps === undefined)
    throw new SpecError(`${who}: generator: got "${generator}", which has points and no steps; use sobolTable`);
  return jumps;
}

/**
 * Returns the state of a generator after any number of steps, also backwards.
 *
 * @param generator its name; a step of philox increments the counter, which gives four words.
 * @param state the words of its state, in the order of `seed` of `randomSpec`.
 * @param steps the number of steps; a negative one goes back.
 * @throws SpecError if the words are not a state of the generator.
 * @example
 * import { skipAhead } from "feynkac/random";
 *
 * const seed = [12345, 12345, 12345, 12345, 12345, 12345];
 * const far = skipAhead("mrg32k3a", seed, 2n ** 76n);
 * console.log(far[0], skipAhead("mrg32k3a", far, -(2n ** 76n))[0]); // 870504860 12345
 * @stable
 */
export function skipAhead(
  generator: StreamSettings["generator"],
  state: readonly number[],
  steps: number | bigint,
): readonly number[] {
  const jumps = jumpsOf("skipAhead", generator);
  const { state: checked } = randomSpec({ generator, seed: state });
  if (typeof steps === "number" && !Number.isSafeInteger(steps))
    throw new SpecError(`skipAhead: steps: got ${steps}, expected a whole number; a bigint may be larger than 2⁵³`);
  return jumps.apply(jumpOf(jumps, BigInt(steps)), checked);
}
