/**
 * What conformance does not reach because it is particular to CUDA: partial warps, much shared memory, C++'s undefined
 * corners.
 */
import { i32, kernel, kernelFromSource, read, real, u32, write } from "../../src/kernel/index.ts";
import { type ConformanceCase, i32s, pairs, range, u32s, uniforms, words } from "../conformance/case.ts";

const CORNERS = [0, 1, -1, 2, -2, 7, -7, 31, 32, 33, -32, 0x7fffffff, -0x80000000, -0x7fffffff, 0x40000000, 65536];
const [A, B] = pairs(CORNERS);
const COUNT = A.length;

const signed: ConformanceCase = {
  name: "i32 at its limits: overflow, division, shifts",
  kernel: kernel({
    name: "signedCorners",
    params: { a: read(i32), b: read(i32), out: write(i32) },
    body({ a, b, out }, gpu) {
      const i = gpu.globalId();
      const x = a[i];
      const y = b[i];
      out[16 * i] = (x + y) | 0;
      out[16 * i + 1] = (x - y) | 0;
      out[16 * i + 2] = Math.imul(x, y);
      out[16 * i + 3] = (x / y) | 0;
      out[16 * i + 4] = x % y;
      out[16 * i + 5] = x << y;
      out[16 * i + 6] = x >> y;
      out[16 * i + 7] = gpu.i32(x >>> y);
      out[16 * i + 8] = -x;
      out[16 * i + 9] = Math.abs(x);
      out[16 * i + 10] = Math.min(x, y);
      out[16 * i + 11] = Math.max(x, y);
      out[16 * i + 12] = (x / -1) | 0;
      out[16 * i + 13] = x % -1;
      out[16 * i + 14] = Math.clz32(x);
      out[16 * i + 15] = gpu.popcount(x);
    },
  }),
  size: { items: COUNT },
  args: () => ({ a: i32s(...A), b: i32s(...B), out: new Int32Array(16 * COUNT) }),
};

const unsigned: ConformanceCase = {
  name: "u32 at its limits",
  kernel: kernel({
    name: "unsignedCorners",
    params: { a: read(u32), b: read(u32), out: write(u32) },
    body({ a, b, out }, gpu) {
      const i = gpu.globalId();
      const x = a[i];
      const y = b[i];
      out[8 * i] = (x + y) >>> 0;
      out[8 * i + 1] = (x - y) >>> 0;
      out[8 * i + 2] = Math.imul(x, y) >>> 0;
      out[8 * i + 3] = (x / y) >>> 0;
      out[8 * i + 4] = x % y;
      out[8 * i + 5] = (x << y) >>> 0;
      out[8 * i + 6] = x >>> y;
      out[8 * i + 7] = gpu.mulHigh(x, y);
    },
  }),
  size: { items: COUNT },
  args: () => ({ a: u32s(...A), b: u32s(...B), out: new Uint32Array(8 * COUNT) }),
};

/** Bit patterns of every kind, by exponent; no NaN, whose bits are nobody's business. */
const WILD = [
  ...words(200).map((word, i) => (i % 2 === 0 ? 1 : -1) * (1 + word / 2 ** 32) * 2 ** ((word % 290) - 160)),
  0,
  -0,
  0.5,
  -0.5,
  1.5,
  2.5,
  2147483647.5,
  -2147483648.5,
  4294967295.5,
  1e30,
  -1e30,
  Infinity,
  -Infinity,
  5e-324,
  2 ** -149,
  2 ** 127,
];

const conversions: ConformanceCase = {
  name: "reals of every size: conversions, rounding, fields, ldexp",
  kernel: kernel({
    name: "wildReals",
    params: { a: read(real), n: read(i32), ints: write(i32), out: write(real) },
    body({ a, n, ints, out }, gpu) {
      const i = gpu.globalId();
      const x = a[i];
      ints[4 * i] = gpu.i32(x);
      ints[4 * i + 1] = gpu.i32(gpu.u32(x));
      ints[4 * i + 2] = (Number.isNaN(x - x) ? 1 : 0) + (Number.isFinite(x) ? 2 : 0);
      ints[4 * i + 3] = gpu.i32(x - x); // of NaN, 0
      out[8 * i] = gpu.ldexp(x, n[i]);
      out[8 * i + 1] = Math.trunc(x);
      out[8 * i + 2] = gpu.nearest(x);
      out[8 * i + 3] = Math.floor(x) + Math.ceil(x);
      out[8 * i + 4] = Math.sqrt(Math.abs(x));
      out[8 * i + 5] = gpu.headBits(x);
      out[8 * i + 6] = gpu.copysign(3, x);
      out[8 * i + 7] = 1 / x;
    },
  }),
  size: { items: WILD.length },
  args: ({ real, zeros }) => ({
    a: real(WILD),
    n: i32s(...words(WILD.length).map((word) => (word % 4201) - 2100)),
    ints: new Int32Array(4 * WILD.length),
    out: zeros(8 * WILD.length),
  }),
};

const remainders: ConformanceCase = {
  name: "remainders of reals far apart",
  kernel: kernel({
    name: "wildRemainders",
    params: { a: read(real), b: read(real), out: write(real) },
    body({ a, b, out }, gpu) {
      const i = gpu.globalId();
      out[i] = a[i] % b[i];
    },
  }),
  size: { items: WILD.length },
  args: ({ real, zeros }) => ({ a: real(WILD), b: real(WILD.toReversed()), out: zeros(WILD.length) }),
};

const roundingOfProducts: ConformanceCase = {
  name: "sums of products round as often as they are written",
  kernel: kernel({
    name: "products",
    params: { a: read(real), b: read(real), out: write(real) },
    body({ a, b, out }, gpu) {
      const i = gpu.globalId();
      let sum = 0.1;
      for (let k = 0; k < 50; k++) sum = sum * a[i] + b[i] * (1 + sum / (k + 2.5));
      out[i] = sum;
    },
  }),
  size: { items: 100 },
  args: ({ real, zeros }) => ({ a: real(uniforms(100)), b: real(uniforms(101).slice(1)), out: zeros(100) }),
};

/** All exchanges, with distances that only run time knows, in groups of so many. */
function exchanges(groupSize: number): ConformanceCase {
  const items = 2 * groupSize;
  return {
    name: `exchanges in groups of ${groupSize}`,
    kernel: kernel({
      name: `exchanges ${groupSize}`,
      params: { u: read(real), by: read(i32), out: write(real), ints: write(i32), subgroupSize: write(i32) },
      groupSize,
      *body({ u, by, out, ints, subgroupSize }, gpu) {
        const i = gpu.globalId();
        if (i === 0) subgroupSize[0] = gpu.subgroupSize();
        const x = u[i];
        const n = gpu.i32(x * 8);
        for (let k = 0; k < by.length; k++) {
          const distance = by[k];
          const up: number = yield gpu.shuffleUp(x, distance);
          const down: number = yield gpu.shuffleDown(x, distance);
          const across: number = yield gpu.shuffleXor(n, distance);
          const chosen: number = yield gpu.shuffle(n, distance + gpu.subgroupLane());
          out[(2 * k + 0) * gpu.groupSize() * 2 + i] = up;
          out[(2 * k + 1) * gpu.groupSize() * 2 + i] = down;
          ints[(2 * k + 0) * gpu.groupSize() * 2 + i] = across;
          ints[(2 * k + 1) * gpu.groupSize() * 2 + i] = chosen;
        }
      },
    }),
    size: { groups: 2 },
    args: ({ real, zeros }) => ({
      u: real(range(items).map((i) => i / 8)),
      by: i32s(0, 1, 5, 16, 31, 32, 33, -1, -40, 0x7fffffff, -0x80000000),
      out: zeros(2 * 11 * items),
      ints: new Int32Array(2 * 11 * items),
      subgroupSize: new Int32Array(1),
    }),
  };
}

/** Small integers, so that sums do not depend on their order. */
function reductions(groupSize: number): ConformanceCase {
  const items = 3 * groupSize;
  return {
    name: `reductions in groups of ${groupSize}`,
    kernel: kernel({
      name: `reductions ${groupSize}`,
      params: { u: read(real), a: read(i32), out: write(real), ints: write(i32), subgroupSize: write(i32) },
      groupSize,
      *body({ u, a, out, ints, subgroupSize }, gpu) {
        const i = gpu.globalId();
        if (i === 0) subgroupSize[0] = gpu.subgroupSize();
        const sum: number = yield gpu.subgroupAdd(u[i]);
        const least: number = yield gpu.subgroupMin(u[i]);
        const most: number = yield gpu.subgroupMax(u[i]);
        out[3 * i] = sum;
        out[3 * i + 1] = least;
        out[3 * i + 2] = most;
        const total: number = yield gpu.subgroupAdd(a[i]);
        const low: number = yield gpu.subgroupMin(gpu.u32(a[i]));
        const high: number = yield gpu.subgroupMax(a[i]);
        const first: number = yield gpu.subgroupBroadcast(a[i], 0);
        ints[4 * i] = total;
        ints[4 * i + 1] = gpu.i32(low);
        ints[4 * i + 2] = high;
        ints[4 * i + 3] = first;
      },
    }),
    size: { groups: 3 },
    args: ({ real, zeros }) => ({
      u: real(words(items).map((word) => (word % 1001) - 500)),
      a: i32s(...words(items)),
      out: zeros(3 * items),
      ints: new Int32Array(4 * items),
      subgroupSize: new Int32Array(1),
    }),
  };
}

const muchShared: ConformanceCase = {
  name: "more than 48 KiB of shared memory, in three arrays",
  kernel: kernel({
    name: "muchShared",
    params: { u: read(real), out: write(real) },
    groupSize: 64,
    *body({ u, out }, gpu) {
      const odd = gpu.sharedI32(3);
      const table = gpu.sharedReal(7001);
      const other = gpu.sharedReal(5003);
      const local = gpu.localId();
      if (local < 3) odd[local] = local + 1;
      for (let i = local; i < 7001; i += 64) table[i] = u[i % 64] + gpu.real(i);
      for (let i = local; i < 5003; i += 64) other[i] = gpu.real(i);
      yield;
      let sum = gpu.real(odd[0] + odd[1] + odd[2]);
      for (let i = 0; i < 60; i++) sum += table[(local * 131 + i * 113) % 7001] - other[(local * 61 + i * 97) % 5003];
      out[gpu.globalId()] = sum;
    },
  }),
  size: { groups: 3 },
  args: ({ real, zeros }) => ({ u: real(range(64)), out: zeros(192) }),
};

/**
 * A loop that ends when one item has counted far enough in a buffer: the others must load it anew after each barrier.
 */
const countdown: ConformanceCase = {
  name: "what one item stores before a barrier the others load after it",
  kernel: kernel({
    name: "countdown",
    params: { n: i32, counter: write(i32), out: write(i32) },
    groupSize: 64,
    *body({ n, counter, out }, gpu) {
      const local = gpu.localId();
      const before = counter[gpu.groupId() + 2];
      yield;
      if (local === 5) counter[gpu.groupId() + 2] = 9;
      let sum = 0;
      for (let k = 0; k < n; k++) {
        const seen = counter[gpu.groupId()];
        yield;
        sum += seen;
        if (local === 3) counter[gpu.groupId()] = seen + 1;
        yield;
      }
      out[gpu.globalId()] = sum * 100 + before * 10 + counter[gpu.groupId() + 2];
    },
  }),
  size: { groups: 2 },
  args: () => ({ n: 7, counter: i32s(1, 2, 3, 4), out: new Int32Array(128) }),
};

/** `continue` where the update has more than assignments, and a test after statements. */
const loops: ConformanceCase = {
  name: "continue in loops whose update stores",
  kernel: kernel({
    name: "updates",
    params: { v: read(i32), w: write(i32), out: write(i32) },
    body({ v, w, out }, gpu) {
      const i = gpu.globalId();
      let sum = 0;
      let k = 0;
      for (; k < 12; w[i] = k++) {
        if ((v[i] + k) % 3 === 0) continue;
        sum += k;
        if (sum > 30) break;
      }
      do {
        k--;
        if (k % 2 === 0) continue;
        sum ^= k;
      } while (k > v[i] % 5);
      out[i] = sum;
    },
  }),
  size: { items: 40 },
  args: () => ({ v: i32s(...range(40)), w: new Int32Array(40), out: new Int32Array(40) }),
};

/** `(1 + u[i] * (1 + u[i] * …))`, deeper than is printed at once. */
const nested = (depth: number): string => (depth === 0 ? "u[i]" : `(1 + u[i] * ${nested(depth - 1)})`);

const deep: ConformanceCase = {
  name: "deep expressions that are evaluated lazily",
  kernel: kernelFromSource({
    name: "deep",
    params: { n: i32, u: read(real), out: write(real) },
    source: `({ n, u, out }, gpu) => {
      const i = gpu.globalId();
      for (let k = 0; i < n && ${nested(70)} > gpu.real(k); k++) out[i] += i + k < n ? ${nested(60)} : 0.5;
    }`,
  }),
  size: { items: 9 },
  args: ({ real, zeros }) => ({ n: 5, u: real(uniforms(9)), out: zeros(9) }),
};

export const cudaCases: readonly ConformanceCase[] = [
  signed,
  unsigned,
  conversions,
  remainders,
  roundingOfProducts,
  ...[7, 32, 50, 64].flatMap((groupSize) => [exchanges(groupSize), reductions(groupSize)]),
  muchShared,
  countdown,
  loops,
  deep,
];
