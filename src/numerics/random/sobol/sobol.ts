/**
 * Sobol' points in the order of the Gray code: coordinate d of point n is the ⊕ of the direction numbers V[k] over the
 * bits k of n ⊕ (n >> 1), as an integer over 2³². The next point takes one ⊕ more.
 */
import { checkWholeNumber } from "../../../base/argument-checks.ts";
import { fn, i32, read, record, u32, type ValueOf } from "../../../kernel/index.ts";
import { philox4x32 } from "../generators/philox.ts";
import { wordsOf } from "../generators/words.ts";
import { seedOf } from "../spec.ts";
import { sobolDirections, MAX_DIMENSIONS, SOBOL_BITS } from "./directions.ts";

/**
 * A coordinate of a point: `word`/2³², with the point's index and the position of the dimension's row in the table.
 * @stable
 */
export const SobolState = record({ word: u32, index: u32, row: i32 });
type State = ValueOf<typeof SobolState>;

/** Before the rows: the first index, and points from one part's start to the next. */
const HEADER = 2;
/** A row: the seed of the scrambling, and the direction numbers. */
const ROW = 1 + SOBOL_BITS;

/**
 * Returns the coordinate of dimension `stream` of the first point of a part.
 *
 * Cost: 32 conditional exclusive-ors.
 *
 * @param table of `sobolTable`.
 * @param stream the dimension.
 * @param part the number of the part, a sequence of consecutive points.
 * @example
 * import { sobolStart, sobolTable } from "feynkac/random";
 *
 * const table = await sobolTable({ dimensions: 2, offset: 1 });
 * console.log(sobolStart({ table, stream: 1, part: 1 }).word / 2 ** 32); // 0.25
 * @stable
 */
export const sobolStart = fn({
  name: "sobolStart",
  params: { table: read(u32), stream: u32, part: u32 },
  env: { HEADER, ROW },
  body({ table, stream, part }, gpu, { HEADER, ROW }): State {
    const index = (table[0] + (Math.imul(part, table[1]) >>> 0)) >>> 0;
    const row = HEADER + gpu.i32(stream) * ROW;
    const gray = index ^ (index >>> 1);
    let word = gpu.u32(0);
    for (let k = 0; k < 32; k++) {
      const mask = -((gray >>> k) & 1);
      word = (word ^ (table[row + 1 + k] & mask)) >>> 0;
    }
    return { word, index, row };
  },
});

/**
 * Returns the coordinate of the same dimension of the next point.
 *
 * @param state the coordinate of a point.
 * @param table of `sobolTable`.
 * @example
 * import { sobolNext, sobolStart, sobolTable } from "feynkac/random";
 *
 * const table = await sobolTable({ dimensions: 1 });
 * const state = sobolStart({ table, stream: 0, part: 0 });
 * console.log(sobolNext({ state, table }).word / 2 ** 32); // 0.5
 * @stable
 */
export const sobolNext = fn({
  name: "sobolNext",
  params: { state: SobolState, table: read(u32) },
  body({ state: { word, index, row }, table }): State {
    const next = (index + 1) >>> 0;
    // The highest bit that an increment changes is where the Gray codes differ.
    const bit = 31 - Math.clz32(index ^ next);
    return { word: (word ^ table[row + 1 + bit]) >>> 0, index: next, row };
  },
});

/** The bits in reverse order. */
const reverseBits = fn({
  name: "reverseBits",
  params: [u32],
  body([word]) {
    let x = word;
    x = (((x >>> 1) & 0x55555555) | ((x & 0x55555555) << 1)) >>> 0;
    x = (((x >>> 2) & 0x33333333) | ((x & 0x33333333) << 2)) >>> 0;
    x = (((x >>> 4) & 0x0f0f0f0f) | ((x & 0x0f0f0f0f) << 4)) >>> 0;
    x = (((x >>> 8) & 0x00ff00ff) | ((x & 0x00ff00ff) << 8)) >>> 0;
    return ((x >>> 16) | (x << 16)) >>> 0;
  },
});

/**
 * Applies Owen's scrambling of 32 bits: each bit is flipped or not by a hash of the bits above it and of the seed, so
 * that points keep their stratification, and each is uniform over the seeds. On reversed bits every operation of the
 * hash carries towards the higher ones only.
 *
 * Cost: 56 integer operations, 46 of them for reversing bits twice. Source: A. B. Owen (1995); as a hash by S. Laine
 * and T. Karras (2011) and B. Burley, Practical hash-based Owen scrambling, JCGT 9 (4), 2020; constants: N. Vegdahl,
 * Building a better LK hash (2021). Verified: test/numerics/random/sobol.test.ts.
 *
 * @param word the coordinate, over 2³².
 * @param seed of the dimension.
 * @example
 * import { owenScramble } from "feynkac/random";
 *
 * const halves = [owenScramble(1, 7) >>> 31, owenScramble(0x80000001, 7) >>> 31];
 * console.log(halves[0] !== halves[1]); // true
 * @stable
 */
export const owenScramble = fn({
  name: "owenScramble",
  params: [u32, u32],
  env: { reverseBits },
  body([word, seed], _gpu, { reverseBits }) {
    let x = reverseBits(word);
    x = (x ^ Math.imul(x, 0x3d20adea)) >>> 0;
    x = (x + seed) >>> 0;
    x = Math.imul(x, ((seed >>> 16) | 1) >>> 0) >>> 0;
    x = (x ^ Math.imul(x, 0x05526c56)) >>> 0;
    x = (x ^ Math.imul(x, 0x53a22864)) >>> 0;
    return reverseBits(x);
  },
});

/**
 * Returns the coordinate's 32 bits, scrambled by the seed of its dimension.
 *
 * @param state the coordinate of a point.
 * @param table of `sobolTable`.
 * @example
 * import { sobolScrambled, sobolStart, sobolTable } from "feynkac/random";
 *
 * const table = await sobolTable({ dimensions: 1, seed: 42 });
 * const state = sobolStart({ table, stream: 0, part: 0 });
 * console.log(sobolScrambled({ state, table }) > 0); // true
 * @stable
 */
export const sobolScrambled = fn({
  name: "sobolScrambled",
  params: { state: SobolState, table: read(u32) },
  env: { owenScramble },
  body: ({ state: { word, row }, table }, _gpu, { owenScramble }) => owenScramble(word, table[row]),
});

/** The settings of a table of Sobol' points, with the direction numbers. */
export interface SobolTableSettings {
  /** The direction numbers, 32 of each dimension. */
  readonly rows: Uint32Array;
  /** The index of the first point. */
  readonly offset: number;
  /** The number of points from one part's start to the next. */
  readonly partLength: number;
  /** The seed of the scrambling. */
  readonly seed: bigint;
}

/**
 * Returns the table that `sobolStart`, `sobolNext` and `sobolScrambled` read. The seed of dimension d is a word of
 * Philox, whose key is the seed and whose counter is d.
 */
export function sobolTableOf({ rows, offset, partLength, seed }: SobolTableSettings): Uint32Array {
  const dimensions = rows.length / SOBOL_BITS;
  const table = new Uint32Array(HEADER + dimensions * ROW);
  table.set([offset, partLength]);
  const [x, y] = wordsOf(seed, 2);
  for (let d = 0; d < dimensions; d++) {
    table[HEADER + d * ROW] = philox4x32({ counter: { x: d, y: 0, z: 0, w: 0 }, key: { x, y } }).x;
    table.set(rows.subarray(d * SOBOL_BITS, (d + 1) * SOBOL_BITS), HEADER + d * ROW + 1);
  }
  return table;
}

/** The options of `sobolTable`. @stable */
export interface SobolTableOptions {
  /** The dimensions, from 1 to 21,201. */
  readonly dimensions: number;
  /** The index of part 0's first point, 0 by default. */
  readonly offset?: number;
  /** The number of points from one part's start to the next, 1 by default. */
  readonly partLength?: number;
  /** The seed of the scrambling, 0 by default. */
  readonly seed?: number | bigint;
}

/**
 * Returns the table from which users' kernels generate Sobol' points: write it to a buffer of u32, and pass it as
 * `read(u32)` to `sobolStart`, `sobolNext` and `sobolScrambled`. 132 bytes per dimension.
 *
 * @param options the dimensions, the first point, and the seed of the scrambling.
 * @throws SpecError for more dimensions than there are direction numbers, or an index beyond 32 bits.
 * @example
 * import { sobolTable } from "feynkac/random";
 *
 * console.log((await sobolTable({ dimensions: 3 })).length); // 101
 * @stable
 */
export async function sobolTable(options: SobolTableOptions): Promise<Uint32Array> {
  const { dimensions, offset = 0, partLength = 1, seed = 0 } = options;
  checkWholeNumber("sobolTable: dimensions", dimensions, 1, MAX_DIMENSIONS);
  checkWholeNumber("sobolTable: offset", offset, 0, 2 ** 32 - 1);
  checkWholeNumber("sobolTable: partLength", partLength, 1, 2 ** 32 - 1);
  return sobolTableOf({ rows: await sobolDirections(dimensions), offset, partLength, seed: seedOf(seed) });
}
