/** Jumps equal steps, for every generator; streams are blocks; the polynomial of XORWOW is what its recurrence has. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { C1, C2, M1, M2, reduce, reduceSmall } from "../../../src/numerics/random/generators/mrg32k3a.ts";
import { XORWOW_POLYNOMIAL } from "../../../src/numerics/random/generators/xorwow.ts";
import {
  drand48Start,
  MARSAGLIA_XORWOW,
  mrg32k3aStart,
  mrg32k3aWord,
  philoxNext,
  philoxStart,
  randomSpec,
  skipAhead,
  streamTable,
  xorwowStart,
} from "../../../src/numerics/random/index.ts";
import { stepped, STEPPING, take } from "./support.ts";

const GENERATORS = [...STEPPING, "philox"] as const;
const fieldsOf = { drand48: drand48Start, mrg32k3a: mrg32k3aStart, xorwow: xorwowStart, philox: philoxStart } as const;

describe.each(STEPPING)("%s", (generator) => {
  const { state } = randomSpec({ generator, seed: 20261120 });

  test.each([1, 2, 63, 64, 65, 1000, 4097])("a jump over %i steps is as many steps", (steps) => {
    const words = take(stepped(generator, state), steps + 3);
    expect(take(stepped(generator, skipAhead(generator, state, steps)), 3)).toEqual(words.slice(steps));
  });
});

describe.each(GENERATORS)("%s", (generator) => {
  const { state } = randomSpec({ generator, seed: 4711 });
  const steps = fc.bigInt({ min: 0n, max: (1n << 100n) - 1n });

  test("jumps add up, and go back", () => {
    fc.assert(
      fc.property(steps, steps, (m, n) => {
        const there = skipAhead(generator, state, m);
        expect(skipAhead(generator, there, n)).toEqual(skipAhead(generator, state, m + n));
        expect(skipAhead(generator, there, -m)).toEqual(state);
      }),
      { numRuns: 20, seed: 1 },
    );
  });

  test.each([1, 2, 63, 64, 65, 5000])("the start of stream k of %i in a table is a jump of k blocks", (streams) => {
    const [blockLength, offset] = [1_000_004n, 12];
    const table = streamTable({ generator, seed: 4711, streams, blockLength, offset });
    const block = generator === "philox" ? blockLength / 4n : blockLength;
    for (const k of [0, 1, 62, 63, 64, 4095, 4096, streams - 1].filter((one) => one < streams)) {
      const start = Object.values(fieldsOf[generator]({ table, stream: k, part: 0 }));
      expect(start).toEqual(skipAhead(generator, state, BigInt(k) * block + BigInt(offset)));
    }
  });
});

test("a whole cycle of drand48 and of the counter of philox leads back", () => {
  expect(skipAhead("drand48", [1, 2], 1n << 48n)).toEqual([1, 2]);
  expect(skipAhead("philox", [1, 2, 3, 4, 5, 6], 1n << 128n)).toEqual([1, 2, 3, 4, 5, 6]);
});

test("2¹⁶⁰ − 1 steps lead XORWOW's five words back, and no divisor by 3, 5, 11 or 17 of it does", () => {
  const period = (1n << 160n) - 1n;
  const five = (steps: bigint): readonly number[] => skipAhead("xorwow", MARSAGLIA_XORWOW, steps).slice(0, 5);
  expect(five(period)).toEqual(MARSAGLIA_XORWOW.slice(0, 5));
  for (const prime of [3n, 5n, 11n, 17n]) expect(five(period / prime)).not.toEqual(MARSAGLIA_XORWOW.slice(0, 5));
});

test("the polynomial of XORWOW annihilates a bit of its sequence, and no shorter one does (Berlekamp and Massey)", () => {
  let [x, y, z, w, v] = MARSAGLIA_XORWOW as readonly number[];
  const bits: number[] = [];
  for (let n = 0; n < 400; n++) {
    const t = x ^ (x >>> 2);
    [x, y, z, w] = [y, z, w, v];
    v = (v ^ (v << 4) ^ t ^ (t << 1)) >>> 0;
    bits.push(v & 1);
  }
  const { length, connection } = shortestRegister(bits);
  let reversed = 0n;
  for (let i = 0n; i <= 160n; i++) reversed |= ((connection >> i) & 1n) << (160n - i);
  expect(length).toBe(160);
  expect(reversed).toBe(XORWOW_POLYNOMIAL);
});

/** J. L. Massey, Shift-register synthesis and BCH decoding (1969), over GF(2). */
function shortestRegister(bits: readonly number[]): { readonly length: number; readonly connection: bigint } {
  let [connection, before, length, distance] = [1n, 1n, 0, 1];
  for (const [n] of bits.entries()) {
    let discrepancy = 0;
    for (let i = 0; i <= length; i++) discrepancy ^= Number((connection >> BigInt(i)) & 1n) & bits[n - i];
    if (discrepancy === 0) {
      distance++;
      continue;
    }
    const old = connection;
    connection ^= before << BigInt(distance);
    if (2 * length <= n) [length, before, distance] = [n + 1 - length, old, 1];
    else distance++;
  }
  return { length, connection };
}

test("products modulo m₁ and m₂ from words of 32 bits are exact, at the ends too", () => {
  const ends = [
    0,
    1,
    2,
    208,
    209,
    22_852,
    22_853,
    0x7fffffff,
    0x80000000,
    M2 - 1,
    M2,
    M1 - 1,
    M1,
    0xfffffffe,
    0xffffffff,
  ];
  const word = fc.oneof(fc.constantFrom(...ends), fc.integer({ min: 0, max: 0xffffffff }));
  const remainder = (high: number, low: number, m: number): number =>
    Number(((BigInt(high) << 32n) | BigInt(low)) % BigInt(m));
  fc.assert(
    fc.property(word, word, (high, low) => {
      expect(reduce(high, low, C1)).toBe(remainder(high, low, M1));
      expect(reduce(high, low, C2)).toBe(remainder(high, low, M2));
      const small = high % Math.floor(2 ** 31 / 209);
      expect(reduceSmall(small, low, C1)).toBe(remainder(small, low, M1));
    }),
    { numRuns: 5000, seed: 1 },
  );
  for (const high of ends)
    for (const low of ends) {
      expect(reduce(high, low, C1)).toBe(remainder(high, low, M1));
      expect(reduce(high, low, C2)).toBe(remainder(high, low, M2));
    }
});

test("MRG32k3a gives m₁ where both components are equal", () => {
  const equal = { x0: 1, x1: 2, x2: 77, y0: 3, y1: 4, y2: 77 };
  expect(mrg32k3aWord({ state: equal })).toBe(M1);
  expect(mrg32k3aWord({ state: { ...equal, x2: 76 } })).toBe(M1 - 1);
});

test("the counter of philox carries from each word to the next", () => {
  const top = 0xffffffff;
  const next = (x: number, y: number, z: number, w: number): readonly number[] =>
    Object.values(philoxNext({ state: { x, y, z, w, k0: 5, k1: 6 } }));
  expect(next(top, 0, 0, 0)).toEqual([0, 1, 0, 0, 5, 6]);
  expect(next(top, top, 0, 0)).toEqual([0, 0, 1, 0, 5, 6]);
  expect(next(top, top, top, 0)).toEqual([0, 0, 0, 1, 5, 6]);
  expect(next(top, top, top, top)).toEqual([0, 0, 0, 0, 5, 6]);
  // Sums of 128 bits against the host's: a carry that meets a sum of all ones, and one that does not.
  for (const [from, by] of [
    [(1n << 96n) - 1n, (1n << 64n) + 1n],
    [(1n << 64n) - 1n, (1n << 96n) - 1n],
    [0xffffffff_00000000_ffffffffn, 0xffffffff_00000001n],
  ])
    expect(counterAfter(from, by)).toBe((from + by) & ((1n << 128n) - 1n));
});

/** The counter of philox after a jump over `by` blocks. */
function counterAfter(from: bigint, by: bigint): bigint {
  const words = [0n, 32n, 64n, 96n].map((shift) => Number((from >> shift) & 0xffffffffn));
  const found = skipAhead("philox", [...words, 5, 6], by);
  return [0, 1, 2, 3].reduce((sum, k) => sum + (BigInt(found[k]) << BigInt(32 * k)), 0n);
}
