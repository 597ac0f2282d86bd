/** Buffers and private arrays: constant and run-time indexes, lengths, gathers and scatters. */
import { i32, kernel, read, real, u32, write } from "../../../src/kernel/index.ts";
import { type ConformanceCase, i32s, range, u32s, uniforms, words } from "../case.ts";

const stencil: ConformanceCase = {
  name: "a guarded stencil",
  kernel: kernel({
    name: "secondDifference",
    params: { n: i32, inverseDx2: real, u: read(real), out: write(real) },
    body({ n, inverseDx2, u, out }, gpu) {
      const i = gpu.globalId();
      if (i <= 0 || i >= n - 1) return;
      out[i] = (u[i - 1] - 2 * u[i] + u[i + 1]) * inverseDx2;
    },
  }),
  size: { items: 1001 },
  args: ({ real, zeros }) => ({ n: 1001, inverseDx2: 16, u: real(range(1001).map((i) => i * i)), out: zeros(1001) }),
};

const gather: ConformanceCase = {
  name: "gathers and scatters through an index buffer",
  kernel: kernel({
    name: "permute",
    params: { index: read(i32), u: read(real), gathered: write(real), scattered: write(real) },
    body({ index, u, gathered, scattered }, gpu) {
      const i = gpu.globalId();
      gathered[i] = u[index[i]];
      scattered[index[i]] = u[i];
    },
  }),
  size: { items: 101 },
  args: ({ real, zeros }) => ({
    index: i32s(...range(101).map((i) => (i * 37) % 101)),
    u: real(uniforms(101)),
    gathered: zeros(101),
    scattered: zeros(101),
  }),
};

const besideIndexes: ConformanceCase = {
  name: "constants beside an index of each item's own",
  kernel: kernel({
    name: "besideIndexes",
    params: { index: read(i32), u: read(real), counts: read(i32), gathered: write(real), scattered: write(i32) },
    body({ index, u, counts, gathered, scattered }, gpu) {
      const i = gpu.globalId();
      const t = gpu.privateReal(40);
      for (let k = 0; k < 40; k++) t[k] = u[k] + 0.5 * gpu.real(k);
      // From −16 on, so that the constant alone brings it into the array.
      const at = index[i];
      t[at + 17] = 3;
      t[20 + at] = 2 * t[at + 16];
      gathered[i] = u[at + 16] - 2 * u[16 + at + 1] + t[at + 16] * t[at + 18] - t[20 + at] + t[at + 34 - 1];
      scattered[5 * at + 80 + 3] = counts[at + 16] - counts[at + 1 + 15];
      scattered[at * 5 + 82] = counts[at + 26];
    },
  }),
  size: { items: 23 },
  args: ({ real, zeros }) => ({
    index: i32s(...range(23).map((i) => ((i * 7) % 23) - 16)),
    // Exact in f32 with their products, contracted or not.
    u: real(range(40).map((i) => (i * i) / 4)),
    counts: i32s(...range(40).map((i) => i * i)),
    gathered: zeros(23),
    scattered: new Int32Array(200),
  }),
};

const conditional: ConformanceCase = {
  name: "loads and stores under a divergent condition",
  kernel: kernel({
    name: "conditionalAccess",
    params: { u: read(real), out: write(real) },
    body({ u, out }, gpu) {
      const i = gpu.globalId();
      const at = 3 * i;
      if (at < u.length) out[i] = u[at];
      else if (i % 2 === 0) out[i] = -1;
    },
  }),
  size: { items: 90 },
  args: ({ real, zeros }) => ({ u: real(uniforms(100)), out: zeros(90) }),
};

const lengths: ConformanceCase = {
  name: "lengths of buffers and of arrays",
  kernel: kernel({
    name: "lengths",
    params: { a: read(real), b: read(u32), out: write(i32) },
    body({ a, b, out }, gpu) {
      const i = gpu.globalId();
      const t = gpu.privateReal(9);
      if (i === 0) out[0] = a.length;
      if (i === 1) out[1] = b.length;
      if (i === 2) out[2] = out.length;
      if (i === 3) out[3] = t.length;
    },
  }),
  size: { items: 4 },
  args: ({ zeros }) => ({ a: zeros(17), b: new Uint32Array(3), out: new Int32Array(5) }),
};

const constantIndexes: ConformanceCase = {
  name: "private arrays at constant indexes",
  kernel: kernel({
    name: "privateConstant",
    params: { u: read(real), out: write(real) },
    body({ u, out }, gpu) {
      const i = gpu.globalId();
      const t = gpu.privateReal(4);
      t[0] = u[i];
      t[1] = t[0] + 1;
      t[2] = t[1] * t[0];
      t[3] = t[2] - t[1];
      t[0] = t[3] + t[0];
      out[i] = t[0] + t[1] + t[2] + t[3];
    },
  }),
  size: { items: 37 },
  args: ({ real, zeros }) => ({ u: real(range(37)), out: zeros(37) }),
};

/** Thomas' algorithm in private memory: indexes that are uniform, run-time and go both ways. */
const thomas: ConformanceCase = {
  name: "private arrays at run-time indexes: a tridiagonal solve",
  kernel: kernel({
    name: "thomas",
    params: { n: i32, rhs: read(real), out: write(real) },
    env: { MAX: 40 },
    body({ n, rhs, out }, gpu, { MAX }) {
      const system = gpu.globalId();
      const c = gpu.privateReal(MAX);
      const d = gpu.privateReal(MAX);
      c[0] = -0.25;
      d[0] = rhs[system * n] / 4;
      for (let i = 1; i < n; i++) {
        const m = 4 + c[i - 1];
        c[i] = -1 / m;
        d[i] = (rhs[system * n + i] + d[i - 1]) / m;
      }
      for (let i = n - 2; i >= 0; i--) d[i] -= c[i] * d[i + 1];
      for (let i = 0; i < n; i++) out[system * n + i] = d[i];
    },
  }),
  size: { items: 19 },
  args: ({ real, zeros }) => ({ n: 33, rhs: real(uniforms(19 * 33)), out: zeros(19 * 33) }),
  webgpu: { absolute: 1e-6, because: "WGSL divides to 2.5 ulp and may contract; the system is well conditioned" },
};

const divergentIndexes: ConformanceCase = {
  name: "private arrays at indexes that differ between items",
  kernel: kernel({
    name: "histogram",
    params: { seeds: read(u32), out: write(i32), where: write(i32) },
    body({ seeds, out, where }, gpu) {
      const i = gpu.globalId();
      const counts = gpu.privateI32(8);
      for (let k = 0; k < 8; k++) counts[k] = 0;
      let state = seeds[i];
      const draws = 3 + (i % 6);
      for (let k = 0; k < draws; k++) {
        state = state * 1664525 + 1013904223;
        counts[state >>> 29] += k + 1;
      }
      let best = 0;
      for (let k = 1; k < 8; k++) if (counts[k] > counts[best]) best = k;
      out[i] = counts[best];
      where[i] = best;
    },
  }),
  size: { items: 83 },
  args: () => ({ seeds: u32s(...words(83)), out: new Int32Array(83), where: new Int32Array(83) }),
  notJavaScript: "u32 locals do not wrap in JavaScript",
};

const underMasks: ConformanceCase = {
  name: "private arrays written in divergent branches",
  kernel: kernel({
    name: "maskedPrivate",
    params: { out: write(i32), unsigned: write(u32) },
    body({ out, unsigned }, gpu) {
      const i = gpu.globalId();
      const t = gpu.privateI32(6);
      const w = gpu.privateU32(3);
      for (let k = 0; k < 6; k++) t[k] = k;
      w[0] = 1;
      w[1] = 2;
      w[2] = 0xffffffff;
      if (i % 3 === 1) {
        t[i % 6] = 100;
        w[1] = gpu.u32(i);
      } else if (i % 3 === 2) {
        for (let k = 0; k < i % 5; k++) t[k] += t[k + 1];
      }
      let sum = 0;
      for (let k = 5; k >= 0; k--) sum = 3 * sum + t[k];
      out[i] = sum;
      unsigned[i] = w[0] + w[1] + w[2];
    },
  }),
  size: { items: 50 },
  args: () => ({ out: new Int32Array(50), unsigned: new Uint32Array(50) }),
};

const sorting: ConformanceCase = {
  name: "an insertion sort in private memory",
  kernel: kernel({
    name: "insertionSort",
    params: { u: read(real), out: write(real) },
    body({ u, out }, gpu) {
      const i = gpu.globalId();
      const t = gpu.privateReal(7);
      for (let k = 0; k < 7; k++) {
        const x = u[7 * i + k];
        let at = k;
        while (at > 0 && t[at - 1] > x) {
          t[at] = t[at - 1];
          at--;
        }
        t[at] = x;
      }
      for (let k = 0; k < 7; k++) out[7 * i + k] = t[k];
    },
  }),
  size: { items: 23 },
  args: ({ real, zeros }) => ({ u: real(uniforms(161)), out: zeros(161) }),
};

const counts = [1, 2, 63, 64, 65, 127, 1000, 4099];

/** Items that do not fill the last vector, the last workgroup, the last slice of a thread. */
const shapes: readonly ConformanceCase[] = counts.map((items) => ({
  name: `${items} item${items === 1 ? "" : "s"}, and none beyond`,
  kernel: kernel({
    name: "fill",
    params: { u: read(real), out: write(real) },
    body({ u, out }, gpu) {
      const i = gpu.globalId();
      out[i] = u[i] * 2 + gpu.real(i);
    },
  }),
  size: { items },
  args: ({ real, zeros }) => ({ u: real(range(items + 70)), out: zeros(items + 70) }),
}));

const nothing: ConformanceCase = {
  name: "no items: nothing happens",
  kernel: shapes[0].kernel,
  size: { items: 0 },
  args: ({ real, zeros }) => ({ u: real([1]), out: zeros(1) }),
};

const groupSizes: readonly ConformanceCase[] = [1, 7, 32, 64, 100, 256].map((groupSize) => ({
  name: `groups of ${groupSize} do not show in an ordinary kernel`,
  kernel: kernel({
    name: "ordinary",
    params: { out: write(i32) },
    groupSize,
    body({ out }, gpu) {
      out[gpu.globalId()] = gpu.globalId() * 2 + gpu.groupSize();
    },
  }),
  size: { items: 333 },
  args: () => ({ out: new Int32Array(400) }),
}));

const eightBuffers: ConformanceCase = {
  name: "eight buffers",
  kernel: kernel({
    name: "eightBuffers",
    params: {
      a: read(real),
      b: read(i32),
      c: read(u32),
      d: read(real),
      e: read(real),
      f: write(real),
      g: write(i32),
      h: write(u32),
    },
    body({ a, b, c, d, e, f, g, h }, gpu) {
      const i = gpu.globalId();
      f[i] = a[i] + d[i] + e[i];
      g[i] = b[i] + 1;
      h[i] = c[i] + 2;
    },
  }),
  size: { items: 20 },
  args: ({ real, zeros }) => ({
    a: real(range(20)),
    b: i32s(...range(20)),
    c: u32s(...range(20)),
    d: real(range(20)),
    e: real(range(20)),
    f: zeros(20),
    g: new Int32Array(20),
    h: new Uint32Array(20),
  }),
};

export const arrayCases: readonly ConformanceCase[] = [
  stencil,
  gather,
  besideIndexes,
  conditional,
  lengths,
  constantIndexes,
  thomas,
  divergentIndexes,
  underMasks,
  sorting,
  ...shapes,
  nothing,
  ...groupSizes,
  eightBuffers,
];
