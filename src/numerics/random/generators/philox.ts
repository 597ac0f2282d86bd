/**
 * Philox4x32-10 (Salmon et al. 2011): four random words are a bijective function of a counter of 128 bits, selected by
 * a key of 64 bits. Any number of the sequence costs the same, and a jump is an addition to the counter.
 */
import { fn, i32, read, record, u32, type ValueOf } from "../../../kernel/index.ts";
import type { JumpGroup, TableFunctions } from "./generator.ts";
import { fromWords, wordsOf } from "./words.ts";

/** Four words of 32 bits: a counter, the lowest word first, or the numbers generated from one. @stable */
export const PhiloxBlock = record({ x: u32, y: u32, z: u32, w: u32 });
/** A key of two words, the lowest first. @stable */
export const PhiloxKey = record({ x: u32, y: u32 });
type Block = ValueOf<typeof PhiloxBlock>;

/**
 * Returns four random words of 32 bits from a counter and a key: Philox4x32 with ten rounds. A counter made of the
 * numbers of trade, path and step gives every work item its own numbers, whatever thread it runs on.
 *
 * Cost of four words: 40 integer operations and 40 products. Source: J. K. Salmon, M. A. Moraes, R. O. Dror, D. E.
 * Shaw, Parallel random numbers: as easy as 1, 2, 3, SC'11. Verified: test/numerics/random, against the known answers
 * of Random123.
 *
 * @param counter selects the four words in the sequence.
 * @param key selects the sequence: the seed.
 * @example
 * import { philox4x32 } from "feynkac/random";
 *
 * const { x } = philox4x32({ counter: { x: 0, y: 0, z: 0, w: 0 }, key: { x: 0, y: 0 } });
 * console.log(x.toString(16)); // 6627e8d5
 * @stable
 */
export const philox4x32 = fn({
  name: "philox4x32",
  params: { counter: PhiloxBlock, key: PhiloxKey },
  body({ counter, key }, gpu): Block {
    let { x, y, z, w } = counter;
    let k0 = key.x;
    let k1 = key.y;
    for (let round = 0; round < 10; round++) {
      const high0 = gpu.mulHigh(x, 0xd2511f53);
      const high1 = gpu.mulHigh(z, 0xcd9e8d57);
      const low0 = Math.imul(x, 0xd2511f53) >>> 0;
      const low1 = Math.imul(z, 0xcd9e8d57) >>> 0;
      x = (high1 ^ y ^ k0) >>> 0;
      z = (high0 ^ w ^ k1) >>> 0;
      y = low1;
      w = low0;
      k0 = (k0 + 0x9e3779b9) >>> 0;
      k1 = (k1 + 0xbb67ae85) >>> 0;
    }
    return { x, y, z, w };
  },
});

/**
 * The state of Philox: a counter x, y, z, w and a key k0, k1. The subsequence is in the counter's upper two words, as
 * in cuRAND.
 * @stable
 */
export const PhiloxState = record({ x: u32, y: u32, z: u32, w: u32, k0: u32, k1: u32 });
type State = ValueOf<typeof PhiloxState>;

/** Adds a block to the counter. */
const add = fn({
  name: "philoxAdd",
  params: { state: PhiloxState, by: PhiloxBlock },
  body({ state, by }, gpu): State {
    const x = (state.x + by.x) >>> 0;
    const carryX = gpu.u32(x < by.x ? 1 : 0);
    const sumY = (state.y + by.y) >>> 0;
    const y = (sumY + carryX) >>> 0;
    const carryY = gpu.u32(sumY < by.y || y < carryX ? 1 : 0);
    const sumZ = (state.z + by.z) >>> 0;
    const z = (sumZ + carryY) >>> 0;
    const carryZ = gpu.u32(sumZ < by.z || z < carryY ? 1 : 0);
    return { x, y, z, w: (state.w + by.w + carryZ) >>> 0, k0: state.k0, k1: state.k1 };
  },
});

/**
 * Returns the state of the next four numbers: the counter plus one.
 *
 * @param state the state before.
 * @example
 * import { philoxNext } from "feynkac/random";
 *
 * const state = philoxNext({ state: { x: 0xffffffff, y: 0, z: 0, w: 0, k0: 42, k1: 0 } });
 * console.log(state.x, state.y); // 0 1
 * @stable
 */
export const philoxNext = fn({
  name: "philoxNext",
  params: { state: PhiloxState },
  env: { add },
  body({ state }, gpu, { add }): State {
    return add({ state, by: { x: gpu.u32(1), y: gpu.u32(0), z: gpu.u32(0), w: gpu.u32(0) } });
  },
});

/** The kernel functions that read the states and jumps of Philox from a table. */
export const philoxTable: TableFunctions<State> = {
  load: fn({
    name: "philoxLoad",
    params: { table: read(u32), at: i32 },
    body: ({ table, at }): State => ({
      x: table[at],
      y: table[at + 1],
      z: table[at + 2],
      w: table[at + 3],
      k0: table[at + 4],
      k1: table[at + 5],
    }),
  }),
  jump: fn({
    name: "philoxJump",
    params: { state: PhiloxState, table: read(u32), at: i32 },
    env: { add },
    body({ state, table, at }, _gpu, { add }): State {
      return add({ state, by: { x: table[at], y: table[at + 1], z: table[at + 2], w: table[at + 3] } });
    },
  }),
};

const MASK = (1n << 128n) - 1n;

/** The jumps of Philox over any number of steps, on the host. */
export const philoxJumps: JumpGroup<bigint> = {
  stateWords: 6,
  jumpWords: 4,
  cycle: 1n << 128n,
  none: 0n,
  step: 1n,
  compose: (a, b) => (a + b) & MASK,
  words: (jump) => wordsOf(jump, 4),
  apply: (jump, state) => [...wordsOf((fromWords(state.slice(0, 4)) + jump) & MASK, 4), ...state.slice(4)],
};
