/** Integers: wrapping arithmetic, division, bits, shifts, comparisons. */
import { i32, kernel, read, u32, write } from "../../../src/kernel/index.ts";
import { type ConformanceCase, i32s, pairs, u32s, words } from "../case.ts";

const SIGNED = [0, 1, -1, 2, -7, 31, 33, 1000003, 0x7fffffff, -0x80000000];
const [SIGNED_LEFT, SIGNED_RIGHT] = pairs(SIGNED);
const UNSIGNED = [0, 1, 2, 7, 32, 65537, 0x7fffffff, 0x80000000, 0xfffffff9, 0xffffffff];
const [UNSIGNED_LEFT, UNSIGNED_RIGHT] = pairs(UNSIGNED);
const COUNT = 100;

const signedArguments = (width: number) => (): Record<string, Int32Array> => ({
  a: i32s(...SIGNED_LEFT),
  b: i32s(...SIGNED_RIGHT),
  out: new Int32Array(width * COUNT),
});
const unsignedArguments = (width: number) => (): Record<string, Uint32Array> => ({
  a: u32s(...UNSIGNED_LEFT),
  b: u32s(...UNSIGNED_RIGHT),
  out: new Uint32Array(width * COUNT),
});

const i32Arithmetic: ConformanceCase = {
  name: "i32 + − × wrap, ÷ and % truncate, division by zero gives zero",
  kernel: kernel({
    name: "i32Arithmetic",
    params: { a: read(i32), b: read(i32), out: write(i32) },
    body({ a, b, out }, gpu) {
      const i = gpu.globalId();
      const x = a[i];
      const y = b[i];
      out[7 * i] = x + y;
      out[7 * i + 1] = x - y;
      out[7 * i + 2] = Math.imul(x, y);
      out[7 * i + 3] = x * y;
      out[7 * i + 4] = (x / y) | 0;
      out[7 * i + 5] = x % y;
      out[7 * i + 6] = -x;
    },
  }),
  size: { items: COUNT },
  args: signedArguments(7),
  notJavaScript: "x * y is rounded beyond 2⁵³ before it is wrapped",
};

const i32Bits: ConformanceCase = {
  name: "i32 bit operations; shifts count modulo 32",
  kernel: kernel({
    name: "i32Bits",
    params: { a: read(i32), b: read(i32), out: write(i32) },
    body({ a, b, out }, gpu) {
      const i = gpu.globalId();
      const x = a[i];
      const y = b[i];
      out[6 * i] = x & y;
      out[6 * i + 1] = x | y;
      out[6 * i + 2] = x ^ y;
      out[6 * i + 3] = ~x;
      out[6 * i + 4] = x << y;
      out[6 * i + 5] = x >> y;
    },
  }),
  size: { items: COUNT },
  args: signedArguments(6),
};

const i32Functions: ConformanceCase = {
  name: "i32 min, max, abs, clz, popcount",
  kernel: kernel({
    name: "i32Functions",
    params: { a: read(i32), b: read(i32), out: write(i32) },
    body({ a, b, out }, gpu) {
      const i = gpu.globalId();
      const x = a[i];
      out[5 * i] = Math.min(x, b[i]);
      out[5 * i + 1] = Math.max(x, b[i], 3);
      out[5 * i + 2] = Math.abs(x);
      out[5 * i + 3] = Math.clz32(x);
      out[5 * i + 4] = gpu.popcount(x);
    },
  }),
  size: { items: COUNT },
  args: signedArguments(5),
};

const i32Comparisons: ConformanceCase = {
  name: "i32 comparisons are signed",
  kernel: kernel({
    name: "i32Comparisons",
    params: { a: read(i32), b: read(i32), out: write(i32) },
    body({ a, b, out }, gpu) {
      const i = gpu.globalId();
      const x = a[i];
      const y = b[i];
      out[i] = x < y ? 1 : x === y ? 2 : 4;
      if (x <= y) out[i] += 8;
      if (x > y) out[i] += 16;
      if (x >= y) out[i] += 32;
      if (x !== y) out[i] += 64;
    },
  }),
  size: { items: COUNT },
  args: signedArguments(1),
};

const u32Arithmetic: ConformanceCase = {
  name: "u32 + − × wrap, ÷ and %, mulHigh",
  kernel: kernel({
    name: "u32Arithmetic",
    params: { a: read(u32), b: read(u32), out: write(u32) },
    body({ a, b, out }, gpu) {
      const i = gpu.globalId();
      const x = a[i];
      const y = b[i];
      out[6 * i] = x + y;
      out[6 * i + 1] = x - y;
      out[6 * i + 2] = x * y;
      out[6 * i + 3] = (x / y) >>> 0;
      out[6 * i + 4] = x % y;
      out[6 * i + 5] = gpu.mulHigh(x, y);
    },
  }),
  size: { items: COUNT },
  args: unsignedArguments(6),
  notJavaScript: "x * y is rounded beyond 2⁵³ before it is wrapped",
};

const u32Bits: ConformanceCase = {
  name: "u32 bit operations, logical shift, clz, popcount",
  kernel: kernel({
    name: "u32Bits",
    params: { a: read(u32), b: read(u32), out: write(u32) },
    body({ a, b, out }, gpu) {
      const i = gpu.globalId();
      const x = a[i];
      const y = b[i];
      out[8 * i] = (x & y) >>> 0;
      out[8 * i + 1] = (x | y) >>> 0;
      out[8 * i + 2] = (x ^ y) >>> 0;
      out[8 * i + 3] = ~x >>> 0;
      out[8 * i + 4] = (x << y) >>> 0;
      out[8 * i + 5] = x >>> y;
      out[8 * i + 6] = gpu.u32(Math.clz32(x));
      out[8 * i + 7] = gpu.u32(gpu.popcount(x));
    },
  }),
  size: { items: COUNT },
  args: unsignedArguments(8),
};

const u32Comparisons: ConformanceCase = {
  name: "u32 comparisons, min and max are unsigned",
  kernel: kernel({
    name: "u32Comparisons",
    params: { a: read(u32), b: read(u32), out: write(u32) },
    body({ a, b, out }, gpu) {
      const i = gpu.globalId();
      const x = a[i];
      const y = b[i];
      let bits = gpu.u32(0);
      if (x < y) bits += 1;
      if (x <= y) bits += 2;
      if (x > y) bits += 4;
      if (x >= y) bits += 8;
      if (x === y) bits += 16;
      out[3 * i] = bits;
      out[3 * i + 1] = Math.min(x, y);
      out[3 * i + 2] = Math.max(x, y);
    },
  }),
  size: { items: COUNT },
  args: unsignedArguments(3),
};

const byConstants: ConformanceCase = {
  name: "division and shifts by constants",
  kernel: kernel({
    name: "byConstants",
    params: { a: read(i32), b: read(u32), out: write(i32), unsigned: write(u32) },
    body({ a, b, out, unsigned }, gpu) {
      const i = gpu.globalId();
      out[6 * i] = (a[i] / 7) | 0;
      out[6 * i + 1] = a[i] % 8;
      out[6 * i + 2] = (a[i] / -1) | 0;
      out[6 * i + 3] = a[i] >> 31;
      out[6 * i + 4] = a[i] << 5;
      out[6 * i + 5] = (a[i] / 0) | 0;
      unsigned[3 * i] = (b[i] / 10) >>> 0;
      unsigned[3 * i + 1] = b[i] % 1000;
      unsigned[3 * i + 2] = b[i] >>> 16;
    },
  }),
  size: { items: 10 },
  args: () => ({ a: i32s(...SIGNED), b: u32s(...UNSIGNED), out: new Int32Array(60), unsigned: new Uint32Array(30) }),
};

/** Ten rounds of the multiplications of Philox: the integer work of the random numbers. */
const philox: ConformanceCase = {
  name: "a counter-based generator's rounds",
  kernel: kernel({
    name: "philoxRounds",
    params: { counters: read(u32), key: u32, out: write(u32) },
    env: { ROUNDS: 10 },
    body({ counters, key, out }, gpu, { ROUNDS }) {
      const i = gpu.globalId();
      let left = counters[2 * i];
      let right = counters[2 * i + 1];
      let k = key;
      for (let round = 0; round < ROUNDS; round++) {
        const high = gpu.mulHigh(left, 0xd256d193);
        const low = left * 0xd256d193;
        left = (high ^ k ^ right) >>> 0;
        right = low;
        k += 0x9e3779b9;
      }
      out[2 * i] = left;
      out[2 * i + 1] = right;
    },
  }),
  size: { items: 129 },
  args: () => ({ counters: u32s(...words(258)), key: 0xdeadbeef, out: new Uint32Array(258) }),
  notJavaScript: "u32 locals do not wrap in JavaScript",
};

export const integerCases: readonly ConformanceCase[] = [
  i32Arithmetic,
  i32Bits,
  i32Functions,
  i32Comparisons,
  u32Arithmetic,
  u32Bits,
  u32Comparisons,
  byConstants,
  philox,
];
