/**
 * Subgroup operations. Their size is the device's; each kernel reports it, so that the interpreter can assume the same.
 */
import { i32, kernel, read, real, u32, write } from "../../../src/kernel/index.ts";
import { type ConformanceCase, range, u32s, uniforms, words } from "../case.ts";

const shuffles: ConformanceCase = {
  name: "shuffles of reals; instances outside give the item's own value",
  kernel: kernel({
    name: "shuffles",
    params: { u: read(real), out: write(real), subgroupSize: write(i32) },
    groupSize: 64,
    *body({ u, out, subgroupSize }, gpu) {
      const i = gpu.globalId();
      if (i === 0) subgroupSize[0] = gpu.subgroupSize();
      const x = u[i];
      const up: number = yield gpu.shuffleUp(x, 1);
      const down: number = yield gpu.shuffleDown(x, 3);
      const swapped: number = yield gpu.shuffleXor(x, 2);
      const first: number = yield gpu.subgroupBroadcast(x, 0);
      const mirrored: number = yield gpu.shuffle(x, gpu.subgroupSize() - 1 - gpu.subgroupLane());
      out[5 * i] = up;
      out[5 * i + 1] = down;
      out[5 * i + 2] = swapped;
      out[5 * i + 3] = first;
      out[5 * i + 4] = mirrored;
    },
  }),
  size: { groups: 2 },
  args: ({ real, zeros }) => ({ u: real(range(128)), out: zeros(640), subgroupSize: new Int32Array(1) }),
};

/**
 * Distances that are constants and that are not, runs shorter than any subgroup and longer than some, a group that is
 * not full.
 */
const runs: readonly ConformanceCase[] = [2, 8].flatMap((width) =>
  [32, 40].map((groupSize) => ({
    name: `shuffles within runs of ${width} instances, in groups of ${groupSize}`,
    kernel: kernel({
      name: "shufflesInRuns",
      params: { u: read(real), far: i32, out: write(real), subgroupSize: write(i32) },
      env: { width },
      groupSize,
      *body({ u, far, out, subgroupSize }, gpu, { width }) {
        const i = gpu.globalId();
        if (i === 0) subgroupSize[0] = gpu.subgroupSize();
        const up: number = yield gpu.shuffleUp(u[i], 1, width);
        const down: number = yield gpu.shuffleDown(u[i], 1, width);
        const farUp: number = yield gpu.shuffleUp(u[i], far, width);
        const farDown: number = yield gpu.shuffleDown(u[i], far, width);
        out[4 * i] = up;
        out[4 * i + 1] = down;
        out[4 * i + 2] = farUp;
        out[4 * i + 3] = farDown;
      },
    }),
    size: { groups: 2 },
    args: ({ real, zeros }) => ({
      u: real(range(2 * groupSize)),
      far: 3,
      out: zeros(8 * groupSize),
      subgroupSize: new Int32Array(1),
    }),
  })),
);

const integers: ConformanceCase = {
  name: "shuffles and reductions of i32 and u32",
  kernel: kernel({
    name: "integerSubgroups",
    params: { a: read(u32), out: write(u32), signed: write(i32), subgroupSize: write(i32) },
    groupSize: 32,
    *body({ a, out, signed, subgroupSize }, gpu) {
      const i = gpu.globalId();
      if (i === 0) subgroupSize[0] = gpu.subgroupSize();
      const x = a[i];
      const y = gpu.i32(x % 1000) - 500;
      const sum: number = yield gpu.subgroupAdd(x);
      const min: number = yield gpu.subgroupMin(x);
      const greatest: number = yield gpu.subgroupMax(x);
      const neighbour: number = yield gpu.shuffleXor(x, 1);
      out[4 * i] = sum;
      out[4 * i + 1] = min;
      out[4 * i + 2] = greatest;
      out[4 * i + 3] = neighbour;
      const signedSum: number = yield gpu.subgroupAdd(y);
      const signedLeast: number = yield gpu.subgroupMin(y);
      const signedUp: number = yield gpu.shuffleUp(y, 2);
      signed[3 * i] = signedSum;
      signed[3 * i + 1] = signedLeast;
      signed[3 * i + 2] = signedUp;
    },
  }),
  size: { groups: 3 },
  args: () => ({
    a: u32s(...words(96)),
    out: new Uint32Array(384),
    signed: new Int32Array(288),
    subgroupSize: new Int32Array(1),
  }),
};

const reals: ConformanceCase = {
  name: "reductions of reals (exact sums)",
  kernel: kernel({
    name: "realReductions",
    params: { u: read(real), out: write(real), subgroupSize: write(i32) },
    groupSize: 64,
    *body({ u, out, subgroupSize }, gpu) {
      const i = gpu.globalId();
      if (i === 0) subgroupSize[0] = gpu.subgroupSize();
      const x = u[i];
      const sum: number = yield gpu.subgroupAdd(x);
      const min: number = yield gpu.subgroupMin(x);
      const greatest: number = yield gpu.subgroupMax(-x);
      out[3 * i] = sum;
      out[3 * i + 1] = min;
      out[3 * i + 2] = greatest;
    },
  }),
  size: { groups: 2 },
  // Small integers, so that the order of the additions does not matter.
  args: ({ real, zeros }) => ({
    u: real(range(128).map((i) => (i * 37) % 101)),
    out: zeros(384),
    subgroupSize: new Int32Array(1),
  }),
};

const butterfly: ConformanceCase = {
  name: "a butterfly sum, by instances, in a loop",
  kernel: kernel({
    name: "butterfly",
    params: { u: read(real), out: write(real), subgroupSize: write(i32) },
    groupSize: 64,
    *body({ u, out, subgroupSize }, gpu) {
      const i = gpu.globalId();
      if (i === 0) subgroupSize[0] = gpu.subgroupSize();
      let sum = u[i];
      for (let step = 1; step < gpu.subgroupSize(); step *= 2) {
        const other: number = yield gpu.shuffleXor(sum, step);
        sum += other;
      }
      out[i] = sum;
    },
  }),
  size: { groups: 2 },
  args: ({ real, zeros }) => ({ u: real(uniforms(128)), out: zeros(128), subgroupSize: new Int32Array(1) }),
};

const odd: ConformanceCase = {
  name: "groups that subgroups do not divide",
  kernel: kernel({
    name: "partialSubgroup",
    params: { out: write(i32), subgroupSize: write(i32) },
    groupSize: 50,
    *body({ out, subgroupSize }, gpu) {
      const i = gpu.globalId();
      if (i === 0) subgroupSize[0] = gpu.subgroupSize();
      const down: number = yield gpu.shuffleDown(i, 1);
      const sum: number = yield gpu.subgroupAdd(gpu.localId());
      out[2 * i] = down;
      out[2 * i + 1] = sum;
    },
  }),
  size: { groups: 2 },
  args: () => ({ out: new Int32Array(200), subgroupSize: new Int32Array(1) }),
};

export const subgroupCases: readonly ConformanceCase[] = [shuffles, ...runs, integers, reals, butterfly, odd];
