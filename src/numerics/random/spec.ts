/** The specification of random numbers: checked and completed, frozen, and free of any device. */
import { SpecError } from "../../base/errors.ts";
import { checkOneOf, checkWholeNumber, valueText } from "../../base/argument-checks.ts";
import type { Precision } from "../../kernel/index.ts";
import { drand48Jumps } from "./generators/drand48.ts";
import { M1, M2, mrg32k3aJumps } from "./generators/mrg32k3a.ts";
import { philox4x32, philoxJumps } from "./generators/philox.ts";
import type { JumpGroup } from "./generators/generator.ts";
import { wordsOf } from "./generators/words.ts";
import { curandXorwowState, xorwowJumps } from "./generators/xorwow.ts";
import { MAX_DIMENSIONS } from "./sobol/directions.ts";

/** The name of a generator; docs/random.md compares them. @stable */
export type GeneratorName = "drand48" | "mrg32k3a" | "xorwow" | "philox" | "sobol";

/** The settings of random numbers; `randomSpec` completes them. @stable */
export interface RandomSettings {
  readonly generator: GeneratorName;
  /**
   * The seed: a whole number from 0 to 2⁵³, or a bigint below 2⁶⁴ (drand48: below 2³²); or the state as 32-bit words:
   * drand48 [low, high], mrg32k3a six words, the oldest of each recurrence first; xorwow [x, y, z, w, v, d]
   * (`MARSAGLIA_XORWOW` is Marsaglia's). It is required except for unscrambled Sobol' points.
   */
  readonly seed?: number | bigint | readonly number[];
  /**
   * The distribution. "bits": words of 32 bits, as u32 (for mrg32k3a z, from 1 to m₁). "uniform", the default, in (0,
   * 1); "normal".
   */
  readonly distribution?: "bits" | "uniform" | "normal";
  /**
   * The number of random bits of a number. By default 24 in f32 (32 for normal numbers), 32 in f32x2 and for sobol, 53
   * in f64.
   */
  readonly bits?: 24 | 32 | 53;
  /** The method for normal numbers: the inverse distribution function (the default), or Box and Muller. */
  readonly method?: "inverse" | "box-muller";
  /** The precision, "f64" by default. */
  readonly precision?: Precision;
  /** The number of streams, 1 by default; for sobol that of dimensions. */
  readonly streams?: number;
  /** The number of the first stream, 0 by default. */
  readonly firstStream?: number;
  /**
   * The number of generator steps, words of 32 bits, from a stream's start to the next one's. By default 2¹²⁷ for
   * mrg32k3a (L'Ecuyer's streams), 2⁶⁷ for xorwow and 2⁶⁶ for philox (cuRAND's subsequences), 4264680865, about 2³²,
   * for drand48.
   */
  readonly blockLength?: number | bigint;
  /**
   * The order of numbers. "by-stream", the default: [streams, count], one stream after another. "interleaved": [count,
   * streams], which is cuRAND's order, and one point per row for sobol.
   */
  readonly order?: "by-stream" | "interleaved";
  /** The scrambling of sobol: "owen", the default, or "none". */
  readonly scramble?: "owen" | "none";
}

/** A complete specification of random numbers. @stable */
export interface RandomSpec extends Required<Omit<RandomSettings, "seed" | "blockLength">> {
  /** The words of the state at the start of stream 0; for sobol the two words of the scrambling's seed. */
  readonly state: readonly number[];
  readonly blockLength: bigint;
}

interface Generator {
  readonly jumps: JumpGroup<unknown> | undefined;
  readonly blockLength: bigint;
  readonly stateOf: (seed: bigint) => readonly number[];
  readonly maxSeed: bigint;
}

/**
 * Steps between streams of drand48. Streams whose distance is a multiple of a high power of two are the same but for a
 * constant. With this one, pairs of numbers of streams 1 … 8, 16, 32 … 4096 apart have figures of merit above 0.66 in
 * the spectral test in two dimensions.
 */
const DRAND48_BLOCK = 4264680865n;

const LARGEST_SEED = (1n << 64n) - 1n;

/** The properties of the generators on the host. @internal */
export const GENERATORS: Readonly<Record<GeneratorName, Generator>> = {
  drand48: {
    jumps: drand48Jumps,
    blockLength: DRAND48_BLOCK,
    stateOf: (seed) => wordsOf((seed << 16n) + 0x330en, 2),
    maxSeed: (1n << 32n) - 1n,
  },
  mrg32k3a: { jumps: mrg32k3aJumps, blockLength: 1n << 127n, stateOf: mrg32k3aState, maxSeed: LARGEST_SEED },
  xorwow: {
    jumps: xorwowJumps,
    blockLength: 1n << 67n,
    stateOf: curandXorwowState,
    maxSeed: LARGEST_SEED,
  },
  philox: {
    jumps: philoxJumps,
    blockLength: 1n << 66n,
    stateOf: (seed) => [0, 0, 0, 0, ...wordsOf(seed, 2)],
    maxSeed: LARGEST_SEED,
  },
  sobol: { jumps: undefined, blockLength: 0n, stateOf: (seed) => wordsOf(seed, 2), maxSeed: LARGEST_SEED },
};

/** Six words of Philox under the key `seed`, in 1 … m − 1. */
function mrg32k3aState(seed: bigint): readonly number[] {
  const [x, y] = wordsOf(seed, 2);
  const blocks = [0, 1].map((k) => philox4x32({ counter: { x: k, y: 0, z: 0, w: 0 }, key: { x, y } }));
  const [first, second] = blocks;
  const words = [first.x, first.y, first.z, second.x, second.y, second.z];
  return words.map((word, k) => 1 + (word % ((k < 3 ? M1 : M2) - 1)));
}

/** Checks a seed and returns it as a bigint. @throws SpecError @internal */
export function seedOf(seed: number | bigint): bigint {
  return wholeBigint("seed", seed, LARGEST_SEED, "give a seed");
}

/** Returns the two words of a seed, by the names of kernel parameters. @internal */
export function seedWords(seed: number | bigint): { readonly seedLow: number; readonly seedHigh: number } {
  const [seedLow, seedHigh] = wordsOf(BigInt(seed), 2);
  return { seedLow, seedHigh };
}

/** Checks a caller's whole number, from 0 to `max`, and returns it as a bigint. @throws SpecError */
export function wholeBigint(name: string, value: number | bigint, max: bigint, remedy: string): bigint {
  const isSafe = typeof value === "bigint" || Number.isSafeInteger(value) || value === 2 ** 53;
  if (!isSafe || value < 0 || BigInt(value) > max) {
    const bound = isSafe && value >= 0 ? `${max}` : "2⁵³ (a bigint may be larger)";
    throw new SpecError(
      `random: ${name}: got ${valueText(value)}, expected a whole number from 0 to ${bound}; ${remedy}`,
    );
  }
  return BigInt(value);
}

/**
 * Checks and completes a specification of random numbers.
 *
 * @param settings the generator, its seed, and the form of the numbers.
 * @returns a frozen specification without a device.
 * @throws SpecError for a seed that is missing, negative or not whole, more dimensions than there are direction
 * numbers, bits that the precision cannot hold, or unknown names.
 * @example
 * import { randomSpec } from "feynkac/random";
 *
 * const { bits, blockLength } = randomSpec({ generator: "xorwow", seed: 1234, precision: "f32" });
 * console.log(bits, blockLength === 2n ** 67n); // 24 true
 * @stable
 */
export function randomSpec(settings: RandomSettings): RandomSpec {
  const { generator, distribution = "uniform", method = "inverse", precision = "f64", scramble = "owen" } = settings;
  checkOneOf("randomSpec: generator", generator, Object.keys(GENERATORS));
  checkOneOf("randomSpec: distribution", distribution, ["bits", "uniform", "normal"]);
  checkOneOf("randomSpec: method", method, ["inverse", "box-muller"]);
  checkOneOf("randomSpec: precision", precision, ["f64", "f32", "f32x2"]);
  checkOneOf("randomSpec: scramble", scramble, ["owen", "none"]);
  if (generator === "sobol" && distribution === "normal" && method === "box-muller")
    throw new SpecError('randomSpec: method "box-muller" mixes points of sobol; use method "inverse"');
  const bits = settings.bits ?? defaultBits({ generator, distribution, method, precision });
  const { order = "by-stream" } = settings;
  checkOneOf("randomSpec: order", order, ["by-stream", "interleaved"]);
  checkBits({ generator, distribution, method, precision, bits });
  const { streams = 1, firstStream = 0 } = settings;
  checkStreams(generator, streams, firstStream);
  const state = Object.freeze(stateOf(settings, scramble));
  const { blockLength: standard } = GENERATORS[generator];
  const blockLength = blockLengthOf(settings, standard);
  const form = { distribution, method, precision, scramble, bits, order };
  return Object.freeze({ generator, ...form, streams, firstStream, state, blockLength });
}

type Kind = Pick<RandomSpec, "generator" | "distribution" | "method" | "precision">;

function defaultBits({ generator, distribution, method, precision }: Kind): 24 | 32 | 53 {
  if (distribution === "bits") return 32;
  if (precision === "f32") return distribution === "normal" && method === "inverse" ? 32 : 24;
  return precision === "f32x2" || generator === "sobol" ? 32 : 53;
}

function checkBits({ generator, distribution, method, precision, bits }: Kind & Pick<RandomSpec, "bits">): void {
  checkOneOf("randomSpec: bits", bits, [24, 32, 53]);
  if (distribution === "bits" && bits !== 32)
    throw new SpecError(`randomSpec: bits: got ${bits} for the distribution "bits", whose words have 32; leave it out`);
  if (bits === 53 && generator === "sobol")
    throw new SpecError("randomSpec: bits: got 53 for sobol, whose coordinates have 32; ask for 32");
  if (bits === 53 && precision !== "f64")
    throw new SpecError(`randomSpec: bits: got 53 in ${precision}, which cannot hold them; ask for 32, or for f64`);
  const needsWide = distribution === "uniform" || (distribution === "normal" && method === "box-muller");
  if (bits === 32 && precision === "f32" && needsWide)
    throw new SpecError("randomSpec: bits: got 32 in f32, which would round to 1; ask for 24, or for f64 or f32x2");
}

const MAX_STREAMS = 2 ** 31;

function checkStreams(generator: GeneratorName, streams: number, firstStream: number): void {
  const what = generator === "sobol" ? "dimensions" : "streams";
  const max = generator === "sobol" ? MAX_DIMENSIONS : MAX_STREAMS;
  checkWholeNumber(`randomSpec: streams (${what})`, streams, 1, max);
  if (!Number.isInteger(firstStream) || firstStream < 0 || firstStream + streams > max)
    throw new SpecError(
      `randomSpec: firstStream: got ${firstStream} with ${streams} ${what}, expected a whole number such that the last ` +
        `is below ${max.toLocaleString("en-US")}`,
    );
}

function blockLengthOf({ generator, blockLength }: RandomSettings, standard: bigint): bigint {
  if (blockLength === undefined) return standard;
  if (generator === "sobol")
    throw new SpecError("randomSpec: blockLength: got one for sobol, whose streams are its dimensions; leave it out");
  const length = wholeBigint(
    "blockLength",
    blockLength,
    (1n << 191n) - 1n,
    "give the steps from one stream to the next",
  );
  if (length === 0n) throw new SpecError("randomSpec: blockLength: got 0, expected a positive number of steps");
  if (generator === "philox" && length % 4n !== 0n)
    throw new SpecError(`randomSpec: blockLength: got ${length} for philox, expected a multiple of its 4 words`);
  return length;
}

function stateOf({ generator, seed }: RandomSettings, scramble: "owen" | "none"): number[] {
  const { maxSeed, stateOf: fromSeed } = GENERATORS[generator];
  if (typeof seed === "object") return checkedState(generator, seed);
  if (seed === undefined && !(generator === "sobol" && scramble === "none"))
    throw new SpecError("randomSpec: seed: got none, expected a whole number; the same seed gives the same numbers");
  return [...fromSeed(wholeBigint("seed", seed ?? 0, maxSeed, "choose another one"))];
}

/** @throws SpecError */
function checkedState(generator: GeneratorName, words: readonly number[]): number[] {
  const length = { drand48: 2, mrg32k3a: 6, xorwow: 6, philox: 6, sobol: 2 }[generator];
  const bounds = words.map((_, k) => {
    if (generator === "mrg32k3a") return k < 3 ? M1 : M2;
    return generator === "drand48" && k === 1 ? 2 ** 16 : 2 ** 32;
  });
  const wrong = words.findIndex((word, k) => !Number.isInteger(word) || word < 0 || word >= bounds[k]);
  if (words.length !== length)
    throw new SpecError(
      `randomSpec: seed: got ${words.length} words, expected the ${length} of a state of ${generator}`,
    );
  if (wrong >= 0)
    throw new SpecError(
      `randomSpec: seed[${wrong}]: got ${words[wrong]}, expected a whole number from 0 to ${bounds[wrong] - 1}`,
    );
  const isZero = (from: number, to: number): boolean => words.slice(from, to).every((word) => word === 0);
  const dead = generator === "mrg32k3a" ? isZero(0, 3) || isZero(3, 6) : generator === "xorwow" && isZero(0, 5);
  if (dead) throw new SpecError("randomSpec: seed: got a state of zeros, which the generator cannot leave; change it");
  return [...words];
}
