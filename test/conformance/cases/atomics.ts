/** Atomics on buffers and workgroup arrays. What depends on the order of items is compared sorted, or not at all. */
import { i32, kernel, read, u32, write } from "../../../src/kernel/index.ts";
import { type ConformanceCase, i32s, range, u32s, words } from "../case.ts";

const VALUES = words(200).map((word) => word % 1000);

const reductions: ConformanceCase = {
  name: "atomic add, min, max, and, or, xor on i32",
  kernel: kernel({
    name: "atomicReductions",
    params: { a: read(i32), out: write(i32) },
    body({ a, out }, gpu) {
      const x = a[gpu.globalId()];
      gpu.atomicAdd(out, 0, x);
      gpu.atomicMin(out, 1, x);
      gpu.atomicMax(out, 2, x);
      gpu.atomicAnd(out, 3, x | 8);
      gpu.atomicOr(out, 4, x);
      gpu.atomicXor(out, 5, x);
    },
  }),
  size: { items: 200 },
  args: () => ({ a: i32s(...VALUES.map((x) => x - 500)), out: i32s(7, 0x7fffffff, -0x80000000, -1, 0, 0) }),
};

const unsigned: ConformanceCase = {
  name: "atomic add wraps, min and max are unsigned on u32",
  kernel: kernel({
    name: "atomicUnsigned",
    params: { a: read(u32), out: write(u32) },
    body({ a, out }, gpu) {
      const x = a[gpu.globalId()];
      gpu.atomicAdd(out, 0, x);
      gpu.atomicMin(out, 1, x);
      gpu.atomicMax(out, 2, x);
    },
  }),
  size: { items: 200 },
  args: () => ({ a: u32s(...words(200)), out: u32s(0, 0xffffffff, 0) }),
};

const histogram: ConformanceCase = {
  name: "a histogram: atomics at indexes that differ, some under a condition",
  kernel: kernel({
    name: "histogram",
    params: { a: read(u32), counts: write(i32) },
    body({ a, counts }, gpu) {
      const i = gpu.globalId();
      const bin = gpu.i32(a[i] % 16);
      gpu.atomicAdd(counts, bin, 1);
      if (i % 3 === 0) gpu.atomicAdd(counts, 16 + bin, i);
    },
  }),
  size: { items: 301 },
  args: () => ({ a: u32s(...words(301)), counts: new Int32Array(32) }),
};

const tickets: ConformanceCase = {
  name: "old values: every item draws a ticket of its own",
  kernel: kernel({
    name: "tickets",
    params: { counter: write(i32), out: write(i32) },
    body({ counter, out }, gpu) {
      out[gpu.globalId()] = gpu.atomicAdd(counter, 0, 2);
    },
  }),
  size: { items: 150 },
  args: () => ({ counter: i32s(10), out: new Int32Array(150) }),
  unordered: ["out"],
};

const compaction: ConformanceCase = {
  name: "stream compaction: an atomic's result as an index",
  kernel: kernel({
    name: "compact",
    params: { a: read(i32), counter: write(i32), out: write(i32) },
    body({ a, counter, out }, gpu) {
      const x = a[gpu.globalId()];
      if (x % 3 !== 0) return;
      const slot = gpu.atomicAdd(counter, 0, 1);
      out[slot] = x;
    },
  }),
  size: { items: 200 },
  args: () => ({ a: i32s(...VALUES), counter: i32s(0), out: new Int32Array(200) }),
  unordered: ["out"],
};

const own: ConformanceCase = {
  name: "exchange, compare-exchange, load and store on an item's own element",
  kernel: kernel({
    name: "ownElement",
    params: { u: write(u32), out: write(u32) },
    body({ u, out }, gpu) {
      const i = gpu.globalId();
      out[4 * i] = gpu.atomicExchange(u, i, gpu.u32(i) + 5);
      out[4 * i + 1] = gpu.atomicCompareExchange(u, i, 9, 100);
      out[4 * i + 2] = gpu.atomicLoad(u, i);
      gpu.atomicStore(u, i, gpu.atomicLoad(u, i) * 2);
      out[4 * i + 3] = gpu.atomicLoad(u, i);
    },
  }),
  size: { items: 10 },
  args: () => ({ u: u32s(...range(10)), out: new Uint32Array(40) }),
};

const shared: ConformanceCase = {
  name: "atomics on a workgroup array, between barriers",
  kernel: kernel({
    name: "sharedHistogram",
    params: { a: read(u32), counts: write(i32) },
    groupSize: 100,
    *body({ a, counts }, gpu) {
      const bins = gpu.sharedI32(10);
      const local = gpu.localId();
      if (local < 10) gpu.atomicStore(bins, local, 0);
      yield;
      const bin = gpu.i32(a[gpu.globalId()] % 10);
      gpu.atomicAdd(bins, bin, 1);
      gpu.atomicMax(bins, (bin + 1) % 10, 3);
      yield;
      if (local < 10) gpu.atomicAdd(counts, local, gpu.atomicLoad(bins, local) > 0 ? 1 : 0);
    },
  }),
  size: { groups: 3 },
  args: () => ({ a: u32s(...words(300)), counts: new Int32Array(10) }),
};

const lastGroup: ConformanceCase = {
  name: "one item of each group claims an element",
  kernel: kernel({
    name: "claim",
    params: { flags: write(i32), winners: write(i32) },
    groupSize: 64,
    *body({ flags, winners }, gpu) {
      const claimed = gpu.sharedI32(1);
      if (gpu.localId() === 0) gpu.atomicStore(claimed, 0, 0);
      yield;
      const before = gpu.atomicCompareExchange(claimed, 0, 0, 1);
      if (before === 0) gpu.atomicAdd(winners, 0, 1);
      gpu.atomicOr(flags, gpu.groupId(), 1 << (gpu.localId() % 31));
    },
  }),
  size: { groups: 4 },
  args: () => ({ flags: new Int32Array(4), winners: new Int32Array(1) }),
};

const lockFree: ConformanceCase = {
  name: "compare-exchange until it succeeds",
  kernel: kernel({
    name: "lockFree",
    params: { a: read(i32), out: write(i32) },
    body({ a, out }, gpu) {
      const x = a[gpu.globalId()];
      const bin = x & 3;
      let seen = gpu.atomicLoad(out, bin);
      for (let tries = 0; tries < 10000; tries++) {
        const old = gpu.atomicCompareExchange(out, bin, seen, seen + 2 * x);
        if (old === seen) break;
        seen = old;
      }
    },
  }),
  size: { items: 200 },
  args: () => ({ a: i32s(...VALUES), out: new Int32Array(4) }),
};

const inLoops: ConformanceCase = {
  name: "atomics in divergent loops, and results that nobody uses",
  kernel: kernel({
    name: "atomicLoops",
    params: { out: write(u32), last: write(i32) },
    body({ out, last }, gpu) {
      const i = gpu.globalId();
      let mine = 0;
      for (let k = 0; k < i % 7; k++) {
        if (k === 3) continue;
        gpu.atomicAdd(out, k, 1);
        mine += gpu.i32(gpu.atomicMax(out, 8 + (i & 7), gpu.u32(i))) >= 0 ? 1 : 0;
      }
      gpu.atomicExchange(last, 0, 5);
      gpu.atomicAdd(last, 1, mine);
    },
  }),
  size: { items: 120 },
  args: () => ({ out: new Uint32Array(16), last: new Int32Array(2) }),
};

export const atomicCases: readonly ConformanceCase[] = [
  reductions,
  unsigned,
  histogram,
  tickets,
  compaction,
  own,
  shared,
  lastGroup,
  lockFree,
  inLoops,
];
