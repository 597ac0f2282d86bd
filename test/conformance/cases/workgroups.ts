/** Cooperative kernels: workgroup arrays, barriers, the place of an item in its group. */
import { fn, i32, kernel, read, real, u32, write } from "../../../src/kernel/index.ts";
import { type ConformanceCase, range, u32s, uniforms, words } from "../case.ts";

const places: readonly ConformanceCase[] = [1, 32, 64, 100].map((groupSize) => ({
  name: `indexes in groups of ${groupSize}`,
  kernel: kernel({
    name: "places",
    params: { out: write(i32) },
    groupSize,
    body({ out }, gpu) {
      const at = 5 * gpu.globalId();
      out[at] = gpu.globalId();
      out[at + 1] = gpu.localId();
      out[at + 2] = gpu.groupId();
      out[at + 3] = gpu.groupCount();
      out[at + 4] = gpu.groupSize();
    },
  }),
  size: { groups: 5 },
  args: () => ({ out: new Int32Array(5 * 5 * groupSize) }),
}));

const reverse: readonly ConformanceCase[] = [32, 64, 100].map((groupSize) => ({
  name: `reversal within groups of ${groupSize}`,
  kernel: kernel({
    name: "reverse",
    params: { u: read(real), out: write(real) },
    groupSize,
    *body({ u, out }, gpu) {
      const tile = gpu.sharedReal(gpu.groupSize());
      const local = gpu.localId();
      tile[local] = u[gpu.globalId()];
      yield;
      out[gpu.globalId()] = tile[gpu.groupSize() - 1 - local];
    },
  }),
  size: { groups: 3 },
  args: ({ real, zeros }) => ({ u: real(uniforms(3 * groupSize)), out: zeros(3 * groupSize) }),
}));

const addUp = fn({
  name: "addUp",
  params: [write(real), i32],
  *body([tile, item], gpu) {
    const upper = gpu.part(tile, 8, 8);
    if (item < 8) tile[item] += upper[item];
    yield;
    for (let stride = 4; stride > 0; stride = stride >> 1) {
      if (item < stride) tile[item] = tile[item] + tile[item + stride];
      yield;
    }
    return tile[0] + gpu.real(tile.length);
  },
});

/** Two sums a group, each in its part of two arrays; parts of parts, compound assignments, atomics. */
const parts: ConformanceCase = {
  name: "parts of shared arrays",
  kernel: kernel({
    name: "parts",
    params: { u: read(real), out: write(real), counts: write(i32) },
    env: { addUp },
    groupSize: 32,
    *body({ u, out, counts }, gpu, { addUp }) {
      const side = gpu.localId() >> 4;
      const item = gpu.localId() & 15;
      const tile = gpu.part(gpu.sharedReal(32), side * 16, 16);
      const all = gpu.sharedI32(5);
      const count = gpu.part(all, 1 + side, 2);
      tile[item] = u[gpu.globalId()];
      if (gpu.localId() < 5) gpu.atomicStore(all, gpu.localId(), 0);
      yield;
      gpu.atomicAdd(count, 1, item);
      const sum: number = yield* addUp(tile, item);
      if (item === 0) {
        out[2 * gpu.groupId() + side] = sum;
        counts[2 * gpu.groupId() + side] = gpu.atomicLoad(count, 1);
      }
    },
  }),
  size: { groups: 3 },
  args: ({ real, zeros }) => ({ u: real(uniforms(96)), out: zeros(6), counts: new Int32Array(6) }),
};

const treeSum: ConformanceCase = {
  name: "a tree reduction: barriers in a loop",
  kernel: kernel({
    name: "treeSum",
    params: { n: i32, u: read(real), out: write(real) },
    groupSize: 64,
    *body({ n, u, out }, gpu) {
      const partial = gpu.sharedReal(64);
      const local = gpu.localId();
      const i = gpu.globalId();
      partial[local] = i < n ? u[i] : 0;
      yield;
      for (let stride = 32; stride > 0; stride >>= 1) {
        if (local < stride) partial[local] += partial[local + stride];
        yield;
      }
      if (local === 0) out[gpu.groupId()] = partial[0];
    },
  }),
  size: { groups: 4 },
  args: ({ real, zeros }) => ({ n: 230, u: real(uniforms(230)), out: zeros(4) }),
};

/** Of chunks of four words an item; three are on their way while one is reversed. */
const fetches: readonly ConformanceCase[] = [1, 2, 4].map((words) => ({
  name: `fetches of ${words} words, three chunks ahead`,
  kernel: kernel({
    name: "fetchAhead",
    params: { u: read(real), out: write(real) },
    env: { words, chunks: 7 },
    groupSize: 32,
    *body({ u, out }, gpu, { words, chunks }) {
      const ring = gpu.sharedReal(4 * 32 * words);
      const local = gpu.localId();
      const first = gpu.groupId() * chunks * 32 * words;
      for (let chunk = 0; chunk < 3; chunk++) {
        gpu.fetch(ring, (chunk * 32 + local) * words, u, first + (chunk * 32 + local) * words, words);
        yield gpu.awaitFetches(3);
      }
      for (let chunk = 0; chunk < chunks; chunk++) {
        yield gpu.awaitFetches(2);
        const next = chunk + 3;
        if (next < chunks)
          gpu.fetch(ring, ((next % 4) * 32 + local) * words, u, first + (next * 32 + local) * words, words);
        const from = ((chunk % 4) * 32 + 31 - local) * words;
        for (let k = 0; k < words; k++) out[first + (chunk * 32 + local) * words + k] = ring[from + k];
      }
    },
  }),
  size: { groups: 3 },
  args: ({ real, zeros }) => ({ u: real(uniforms(3 * 7 * 32 * words)), out: zeros(3 * 7 * 32 * words) }),
}));

const scan: ConformanceCase = {
  name: "a scan: two barriers a step, odd group size",
  kernel: kernel({
    name: "inclusiveScan",
    params: { u: read(i32), out: write(i32) },
    groupSize: 100,
    *body({ u, out }, gpu) {
      const sums = gpu.sharedI32(100);
      const local = gpu.localId();
      sums[local] = u[gpu.globalId()];
      yield;
      for (let distance = 1; distance < 100; distance *= 2) {
        const before = local >= distance ? sums[local - distance] : 0;
        yield;
        sums[local] += before;
        yield;
      }
      out[gpu.globalId()] = sums[local];
    },
  }),
  size: { groups: 2 },
  args: () => ({ u: Int32Array.from(range(200).map((i) => (i * 7) % 13)), out: new Int32Array(200) }),
};

const uniformBarriers: ConformanceCase = {
  name: "barriers under conditions and loops on parameters",
  kernel: kernel({
    name: "uniformBarriers",
    params: { steps: i32, twice: i32, u: read(real), out: write(real) },
    groupSize: 32,
    *body({ steps, twice, u, out }, gpu) {
      const tile = gpu.sharedReal(32);
      const local = gpu.localId();
      tile[local] = u[gpu.globalId()];
      for (let k = 0; k < steps; k++) {
        yield;
        const neighbour = tile[(local + 1) % 32];
        yield;
        tile[local] = neighbour * 0.5;
        if (twice === 1) {
          yield;
          const other = tile[(local + 5) % 32];
          yield;
          tile[local] += other;
        }
      }
      out[gpu.globalId()] = tile[local];
    },
  }),
  size: { groups: 2 },
  args: ({ real, zeros }) => ({ steps: 5, twice: 1, u: real(range(64)), out: zeros(64) }),
};

const bufferOrder: ConformanceCase = {
  name: "a barrier orders a group's buffer accesses",
  kernel: kernel({
    name: "throughBuffers",
    params: { scratch: write(real), out: write(real) },
    groupSize: 64,
    *body({ scratch, out }, gpu) {
      const base = gpu.groupId() * 64;
      const local = gpu.localId();
      scratch[base + local] = gpu.real(local);
      yield;
      const other = scratch[base + ((local + 17) % 64)];
      yield;
      scratch[base + 63 - local] = other;
      yield;
      out[base + local] = scratch[base + local] + 1;
    },
  }),
  size: { groups: 3 },
  args: ({ zeros }) => ({ scratch: zeros(192), out: zeros(192) }),
};

/** Locals and private arrays must live across barriers, for every item of the group. */
const alive: ConformanceCase = {
  name: "locals and private arrays survive barriers",
  kernel: kernel({
    name: "acrossBarriers",
    params: { u: read(real), out: write(real) },
    groupSize: 64,
    *body({ u, out }, gpu) {
      const tile = gpu.sharedReal(64);
      const own = gpu.privateReal(3);
      const local = gpu.localId();
      const x = u[gpu.globalId()];
      let odd = local % 2 === 1;
      own[0] = x;
      own[1] = x * 2;
      own[local % 3] = -x;
      if (local % 3 === 0) own[2] = 5;
      else if (local % 3 === 1) own[2] = 6;
      tile[local] = x + 1;
      yield;
      let y = tile[63 - local];
      if (odd) y += own[1];
      odd = !odd;
      yield;
      tile[local] = y;
      yield;
      out[gpu.globalId()] = tile[local ^ 1] + own[0] + own[2] + (odd ? x : 0);
    },
  }),
  size: { groups: 2 },
  args: ({ real, zeros }) => ({ u: real(range(128).map((i) => i / 4)), out: zeros(128) }),
};

const matrix: ConformanceCase = {
  name: "tiled matrix multiplication",
  kernel: kernel({
    name: "matmul",
    params: { n: i32, a: read(real), b: read(real), c: write(real) },
    env: { TILE: 8 },
    groupSize: 64,
    *body({ n, a, b, c }, gpu, { TILE }) {
      const left = gpu.sharedReal(TILE * TILE);
      const right = gpu.sharedReal(TILE * TILE);
      const row = (gpu.localId() / TILE) | 0;
      const column = gpu.localId() % TILE;
      const tiles = (n / TILE) | 0;
      const i = ((gpu.groupId() / tiles) | 0) * TILE + row;
      const j = (gpu.groupId() % tiles) * TILE + column;
      let sum = 0;
      for (let t = 0; t < tiles; t++) {
        left[row * TILE + column] = a[i * n + t * TILE + column];
        right[row * TILE + column] = b[(t * TILE + row) * n + j];
        yield;
        for (let k = 0; k < TILE; k++) sum += left[row * TILE + k] * right[k * TILE + column];
        yield;
      }
      c[i * n + j] = sum;
    },
  }),
  size: { groups: 9 },
  args: ({ real, zeros }) => ({
    n: 24,
    a: real(uniforms(576)),
    b: real(uniforms(600).slice(24)),
    c: zeros(576),
  }),
  webgpu: { absolute: 1e-5, because: "WGSL may contract; sums of 24 products below 1" },
};

const exchange = fn({
  name: "exchange",
  params: [write(real), i32, real],
  *body([tile, distance, x], gpu) {
    const local = gpu.localId();
    yield;
    tile[local] = x;
    yield;
    return tile[(local + distance) % 32];
  },
});

const barrierInFunction: ConformanceCase = {
  name: "barriers inside a function that is called",
  kernel: kernel({
    name: "callsBarriers",
    params: { u: read(real), out: write(real) },
    env: { exchange },
    groupSize: 32,
    *body({ u, out }, gpu, { exchange }) {
      const tile = gpu.sharedReal(32);
      const x = u[gpu.globalId()];
      const a = yield* exchange(tile, 3, x);
      const b = yield* exchange(tile, 31, a);
      out[gpu.globalId()] = a * 100 + b;
    },
  }),
  size: { groups: 2 },
  args: ({ real, zeros }) => ({ u: real(range(64)), out: zeros(64) }),
  notJavaScript: "a function called from JavaScript does not know its work item",
};

const twoKinds: ConformanceCase = {
  name: "workgroup arrays of every type",
  kernel: kernel({
    name: "sharedKinds",
    params: { a: read(u32), out: write(u32), signed: write(i32) },
    groupSize: 64,
    *body({ a, out, signed }, gpu) {
      const words = gpu.sharedU32(64);
      const places = gpu.sharedI32(64);
      const local = gpu.localId();
      words[local] = a[gpu.globalId()];
      places[local] = (local * 5) % 64;
      yield;
      out[gpu.globalId()] = words[places[local]];
      signed[gpu.globalId()] = places[places[local]];
    },
  }),
  size: { groups: 2 },
  args: () => ({ a: u32s(...words(128)), out: new Uint32Array(128), signed: new Int32Array(128) }),
};

const earlyReturn: ConformanceCase = {
  name: "items that return before the end, after the last barrier",
  kernel: kernel({
    name: "returnAfterBarrier",
    params: { n: i32, u: read(real), out: write(real) },
    groupSize: 64,
    *body({ n, u, out }, gpu) {
      const tile = gpu.sharedReal(64);
      const i = gpu.globalId();
      tile[gpu.localId()] = i < n ? u[i] : 0;
      yield;
      if (i >= n) return;
      out[i] = tile[63 - gpu.localId()] + 1;
    },
  }),
  size: { groups: 3 },
  args: ({ real, zeros }) => ({ n: 150, u: real(range(150)), out: zeros(150) }),
};

const loopExits: ConformanceCase = {
  name: "loops with barriers that break and continue on parameters",
  kernel: kernel({
    name: "uniformExits",
    params: { n: i32, stop: i32, out: write(i32) },
    groupSize: 64,
    *body({ n, stop, out }, gpu) {
      const tile = gpu.sharedI32(64);
      const local = gpu.localId();
      tile[local] = local;
      for (let k = 0; k < n; k++) {
        if (k % 3 === 2) continue;
        yield;
        const next = tile[(local + k + 1) % 64];
        if (k === stop) break;
        yield;
        tile[local] = next + k;
      }
      let trips = 0;
      while (true) {
        yield;
        const other = tile[63 - local];
        yield;
        tile[local] = other + 1;
        trips++;
        if (trips >= 3) break;
      }
      out[gpu.globalId()] = tile[local];
    },
  }),
  size: { groups: 2 },
  args: () => ({ n: 20, stop: 10, out: new Int32Array(128) }),
};

const privateAcross: ConformanceCase = {
  name: "private arrays at run-time indexes across barriers in a loop",
  kernel: kernel({
    name: "privateAcross",
    params: { u: read(real), out: write(real) },
    groupSize: 32,
    *body({ u, out }, gpu) {
      const tile = gpu.sharedReal(32);
      const own = gpu.privateReal(40);
      const local = gpu.localId();
      for (let k = 0; k < 40; k++) own[k] = u[gpu.globalId()] + gpu.real(k);
      for (let k = 0; k < 40; k++) {
        tile[local] = own[(k + local) % 40];
        yield;
        own[k] = tile[(local + 1) % 32] * 0.5;
        yield;
      }
      let sum = 0;
      for (let k = 0; k < 40; k++) sum += own[k];
      out[gpu.globalId()] = sum;
    },
  }),
  size: { groups: 3 },
  args: ({ real, zeros }) => ({ u: real(range(96)), out: zeros(96) }),
  webgpu: { ulps: 4, because: "WGSL may contract" },
};

const large: ConformanceCase = {
  name: "a group of 256 and the most shared memory that every device has",
  kernel: kernel({
    name: "largeGroup",
    params: { out: write(i32) },
    groupSize: 256,
    *body({ out }, gpu) {
      const tile = gpu.sharedI32(4000);
      const local = gpu.localId();
      for (let k = local; k < 4000; k += 256) tile[k] = k * 3;
      yield;
      let sum = 0;
      for (let k = 255 - local; k < 4000; k += 256) sum += tile[3999 - k];
      out[gpu.globalId()] = sum;
    },
  }),
  size: { groups: 2 },
  args: () => ({ out: new Int32Array(512) }),
};

const noGroups: ConformanceCase = {
  name: "no groups: nothing happens",
  kernel: large.kernel,
  size: { groups: 0 },
  args: () => ({ out: new Int32Array(4) }),
};

export const workgroupCases: readonly ConformanceCase[] = [
  ...places,
  ...reverse,
  ...fetches,
  parts,
  treeSum,
  scan,
  uniformBarriers,
  bufferOrder,
  alive,
  matrix,
  barrierInFunction,
  twoKinds,
  earlyReturn,
  loopExits,
  privateAcross,
  large,
  noGroups,
];
