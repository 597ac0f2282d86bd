/**
 * XORWOW (Marsaglia 2003), cuRAND's default generator: a linear recurrence of five words over GF(2), and a counter d:
 *
 *   t = x ⊕ (x >> 2);  (x, y, z, w) ← (y, z, w, v);  v ← v ⊕ (v << 4) ⊕ t ⊕ (t << 1);  d ← d + 362437;  output v + d
 *
 * A jump over s steps is the polynomial xˢ mod P(x), where P is the characteristic polynomial of the recurrence, of
 * degree 160. By the theorem of Cayley and Hamilton, the state after the jump is the sum of the states after i steps,
 * over the powers xⁱ in that polynomial (Haramoto et al. 2008). The polynomial takes 5 words, a matrix 800.
 */
import { fn, i32, read, record, u32, type ValueOf } from "../../../kernel/index.ts";
import type { JumpGroup, TableFunctions } from "./generator.ts";
import { wordsOf } from "./words.ts";

/** The state of XORWOW, by Marsaglia's names. In cuRAND x, y, z, w, v are v[0] … v[4]. @stable */
export const XorwowState = record({ x: u32, y: u32, z: u32, w: u32, v: u32, d: u32 });
type State = ValueOf<typeof XorwowState>;

/** A step without the counter. */
const shift = fn({
  name: "xorwowShift",
  params: { state: XorwowState },
  body({ state: { x, y, z, w, v, d } }): State {
    const t = x ^ (x >>> 2);
    return { x: y, y: z, z: w, w: v, v: (v ^ (v << 4) ^ t ^ (t << 1)) >>> 0, d };
  },
});

/**
 * Returns the next state of XORWOW.
 *
 * Cost: 8 integer operations. Source: G. Marsaglia, Xorshift RNGs, Journal of Statistical Software 8 (14), 2003.
 * Verified: test/numerics/random, against its published seed and cuRAND's printed numbers.
 *
 * @param state the state before.
 * @example
 * import { MARSAGLIA_XORWOW, xorwowNext, xorwowWord } from "feynkac/random";
 *
 * const [x, y, z, w, v, d] = MARSAGLIA_XORWOW;
 * console.log(xorwowWord({ state: xorwowNext({ state: { x, y, z, w, v, d } }) })); // 246875399
 * @stable
 */
export const xorwowNext = fn({
  name: "xorwowNext",
  params: { state: XorwowState },
  env: { shift },
  body({ state }, _gpu, { shift }): State {
    const { x, y, z, w, v, d } = shift({ state });
    return { x, y, z, w, v, d: (d + 362437) >>> 0 };
  },
});

/**
 * Returns the output of XORWOW, 32 bits: (v + d) mod 2³².
 *
 * @param state the state after `xorwowNext`.
 * @example
 * import { xorwowWord } from "feynkac/random";
 *
 * console.log(xorwowWord({ state: { x: 0, y: 0, z: 0, w: 0, v: 2, d: 3 } })); // 5
 * @stable
 */
export const xorwowWord = fn({
  name: "xorwowWord",
  params: { state: XorwowState },
  body: ({ state: { v, d } }) => (v + d) >>> 0,
});

/** The kernel functions that read the states and jumps of XORWOW from a table. */
export const xorwowTable: TableFunctions<State> = {
  load: fn({
    name: "xorwowLoad",
    params: { table: read(u32), at: i32 },
    body: ({ table, at }): State => ({
      x: table[at],
      y: table[at + 1],
      z: table[at + 2],
      w: table[at + 3],
      v: table[at + 4],
      d: table[at + 5],
    }),
  }),
  // By Horner's scheme, from the highest power. Cost: 160 steps of 14 operations.
  jump: fn({
    name: "xorwowJump",
    params: { state: XorwowState, table: read(u32), at: i32 },
    env: { shift },
    body({ state, table, at }, gpu, { shift }): State {
      let sum = { x: gpu.u32(0), y: gpu.u32(0), z: gpu.u32(0), w: gpu.u32(0), v: gpu.u32(0), d: gpu.u32(0) };
      for (let word = 4; word >= 0; word--) {
        let bits = table[at + word];
        for (let bit = 0; bit < 32; bit++) {
          const { x, y, z, w, v } = shift({ state: sum });
          // The highest bit, in all places.
          const mask = bits >> 31;
          sum = {
            x: (x ^ (state.x & mask)) >>> 0,
            y: (y ^ (state.y & mask)) >>> 0,
            z: (z ^ (state.z & mask)) >>> 0,
            w: (w ^ (state.w & mask)) >>> 0,
            v: (v ^ (state.v & mask)) >>> 0,
            d: gpu.u32(0),
          };
          bits = (bits << 1) >>> 0;
        }
      }
      const { x, y, z, w, v } = sum;
      return { x, y, z, w, v, d: (state.d + table[at + 5]) >>> 0 };
    },
  }),
};

/** xˢ mod P, and what s steps add to the counter. */
interface Jump {
  readonly remainder: bigint;
  readonly counter: bigint;
}

/** The characteristic polynomial of XORWOW's recurrence, which test/numerics/random/skip-ahead.test.ts derives. */
export const XORWOW_POLYNOMIAL = 0x100000f0e0f3c0035000621210861003000060001n;
const DEGREE = 160;
const COUNTER = 0xffffffffn;

/** a·b mod P over GF(2), four bits of b at a time. */
function product(a: bigint, b: bigint): bigint {
  const multiples = Array.from({ length: 16 }, (_, k) => {
    let sum = 0n;
    for (let bit = 0; bit < 4; bit++) if (((k >> bit) & 1) === 1) sum ^= a << BigInt(bit);
    return sum;
  });
  let result = 0n;
  for (const digit of b.toString(16)) {
    result = (result << 4n) ^ multiples[Number.parseInt(digit, 16)];
    for (let power = 3; power >= 0; power--)
      if (((result >> BigInt(DEGREE + power)) & 1n) === 1n) result ^= XORWOW_POLYNOMIAL << BigInt(power);
  }
  return result;
}

/** The jumps of XORWOW over any number of steps, on the host. */
export const xorwowJumps: JumpGroup<Jump> = {
  stateWords: 6,
  jumpWords: 6,
  cycle: ((1n << BigInt(DEGREE)) - 1n) << 32n,
  none: { remainder: 1n, counter: 0n },
  step: { remainder: 2n, counter: 362437n },
  compose: (a, b) => ({
    remainder: product(a.remainder, b.remainder),
    counter: (a.counter + b.counter) & COUNTER,
  }),
  words: ({ remainder, counter }) => [...wordsOf(remainder, 5), Number(counter)],
  apply(jump, [x, y, z, w, v, d]) {
    const after = xorwowTable.jump({ state: { x, y, z, w, v, d }, table: Uint32Array.from(this.words(jump)), at: 0 });
    return [after.x, after.y, after.z, after.w, after.v, after.d];
  },
};

/**
 * Marsaglia's state x, y, z, w, v, d, for use as a seed of `randomNumbers`. It gives his sequence, whereas a seed that
 * is a number gives cuRAND's.
 * @stable
 */
export const MARSAGLIA_XORWOW = Object.freeze([123456789, 362436069, 521288629, 88675123, 5783321, 6615241] as const);

/**
 * Returns the state of cuRAND's `curand_init(seed, 0, 0)` for a seed of 64 bits. Source: the initialisation in cuRAND's
 * public header. The values are those that cuRAND prints.
 */
export function curandXorwowState(seed: bigint): readonly number[] {
  const [low, high] = wordsOf(seed, 2);
  const t0 = Math.imul(1099087573, low ^ 0xaad26b49) >>> 0;
  const t1 = Math.imul(2591861531, high ^ 0xf7dcefdd) >>> 0;
  const [x, y, z, w, v, d] = MARSAGLIA_XORWOW;
  return [x + t0, y ^ t0, z + t1, w ^ t1, v + t0, d + t1 + t0].map((word) => word >>> 0);
}
