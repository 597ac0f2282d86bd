/** Kernels that exercise control flow, atomics, subgroups and barriers on WebGPU, against the interpreter. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { LaunchSize } from "../../src/device/device.ts";
import type { WebGpuDevice } from "../../src/device/webgpu/index.ts";
import { bool, i32, type Kernel, kernel, lower, read, real, u32, write } from "../../src/kernel/index.ts";
import { type HostArguments, inInterpreter, onDevice } from "../support/against-interpreter.ts";
import { openWebGpuForTests } from "../support/webgpu.ts";

let native: WebGpuDevice | undefined;
let emulated: WebGpuDevice | undefined;
beforeAll(async () => {
  native = await openWebGpuForTests();
  emulated = await openWebGpuForTests({ subgroups: false });
});
afterAll(() => {
  native?.[Symbol.dispose]();
  emulated?.[Symbol.dispose]();
});

interface Case {
  readonly kernel: Kernel<any>;
  readonly args: HostArguments;
  readonly size: LaunchSize;
}

const zeros = (length: number) => ({
  f32: new Float32Array(length),
  i32: new Int32Array(length),
  u32: new Uint32Array(length),
});
const ramp = (length: number) => Float32Array.from({ length }, (_, i) => ((i * 37) % 101) - 50);

/** The load of the branch not taken would be far outside; continue has to run the update; a break leaves one loop. */
const controlFlow: Case = {
  kernel: kernel({
    name: "controlFlow",
    params: { n: i32, flip: bool, u: read(real), out: write(real) },
    body({ n, flip, u, out }, gpu) {
      const i = gpu.globalId();
      const far = i < n ? i : -1;
      let sum = far >= 0 && u[far] > 0 ? u[far] : far < 0 ? -1 : u[n - 1 - far];
      for (let j = 0; j < n; j++) {
        if (u[j] < 0) continue;
        let k = 0;
        while (true) {
          k++;
          if (k > j || gpu.real(k) > u[j]) break;
          sum += 0.25;
        }
        if (sum > 40) break;
      }
      if (i < n) out[i] = flip ? -sum : sum;
    },
  }),
  args: { n: 70, flip: true, u: ramp(70), out: zeros(70).f32 },
  size: { items: 131 },
};

const privateArrays: Case = {
  kernel: kernel({
    name: "privateArrays",
    params: { u: read(real), out: write(real) },
    body({ u, out }, gpu) {
      const i = gpu.globalId();
      const row = gpu.privateReal(9);
      const order = gpu.privateI32(9);
      for (let j = 0; j < 9; j++) {
        row[j] = u[i * 9 + j];
        order[j] = j;
      }
      for (let a = 1; a < 9; a++) {
        for (let b = a; b > 0 && row[order[b]] < row[order[b - 1]]; b--) {
          const swap = order[b];
          order[b] = order[b - 1];
          order[b - 1] = swap;
        }
      }
      for (let j = 0; j < 9; j++) out[i * 9 + j] = row[order[j]];
    },
  }),
  args: { u: ramp(90), out: zeros(90).f32 },
  size: { items: 10 },
};

/** Every kind of atomic, in an order that does not matter; and a maximum of reals by compare and exchange. */
const atomics: Case = {
  kernel: kernel({
    name: "atomics",
    params: { u: read(u32), sums: write(i32), bits: write(u32) },
    body({ u, sums, bits }, gpu) {
      const i = gpu.globalId();
      gpu.atomicAdd(sums, 0, gpu.i32(u[i]));
      gpu.atomicMin(sums, 1, -i);
      gpu.atomicMax(sums, 2, i);
      gpu.atomicXor(bits, 0, u[i]);
      gpu.atomicOr(bits, 1, u[i]);
      gpu.atomicAnd(bits, 2, gpu.u32(i));
      gpu.atomicAdd(bits, 3, gpu.u32(1));
      let seen = gpu.atomicLoad(bits, 4);
      while (seen < u[i]) {
        const before = gpu.atomicCompareExchange(bits, 4, seen, u[i]);
        if (before === seen) break;
        seen = before;
      }
    },
  }),
  args: {
    u: Uint32Array.from({ length: 300 }, (_, i) => Math.imul(i, 2654435761) >>> 0),
    sums: zeros(3).i32,
    bits: zeros(5).u32,
  },
  size: { items: 300 },
};

/**
 * The loop's condition is the same for all items, but only because the shared array says so: WGSL cannot prove that.
 */
const convergence: Case = {
  kernel: kernel({
    name: "convergence",
    groupSize: 8,
    params: { u: read(real), out: write(real), rounds: write(i32) },
    *body({ u, out, rounds }, gpu) {
      const shared = gpu.sharedReal(8);
      const l = gpu.localId();
      shared[l] = u[gpu.globalId()];
      yield;
      let count = 0;
      while (shared[0] + shared[7] > 1) {
        const next = 0.25 * (shared[l] + shared[(l + 1) & 7]);
        yield;
        shared[l] = next;
        yield;
        count++;
        if (shared[3] < 0) break;
        yield;
      }
      out[gpu.globalId()] = shared[l];
      if (l === 0) rounds[gpu.groupId()] = count;
    },
  }),
  args: {
    u: Float32Array.from({ length: 40 }, (_, i) => 10 + ((i * 7) % 50)),
    out: zeros(40).f32,
    rounds: zeros(5).i32,
  },
  size: { groups: 5 },
};

/** Groups of 10: the last subgroup is a partial one, of 2 items. */
const subgroups: Case = {
  kernel: kernel({
    name: "subgroups",
    groupSize: 10,
    params: { u: read(real), out: write(real), places: write(i32) },
    *body({ u, out, places }, gpu) {
      const i = gpu.globalId();
      const x = u[i];
      out[i * 8] = yield gpu.shuffle(x, 2);
      out[i * 8 + 1] = yield gpu.shuffleUp(x, 1);
      out[i * 8 + 2] = yield gpu.shuffleDown(x, 2);
      out[i * 8 + 3] = yield gpu.shuffleXor(x, 1);
      out[i * 8 + 4] = yield gpu.subgroupBroadcast(x, 0);
      out[i * 8 + 5] = yield gpu.subgroupAdd(x);
      out[i * 8 + 6] = yield gpu.subgroupMin(x);
      out[i * 8 + 7] = yield gpu.subgroupMax(x);
      places[i * 2] = gpu.subgroupLane();
      places[i * 2 + 1] = yield gpu.shuffleXor(i, 3);
    },
  }),
  args: { u: ramp(30), out: zeros(240).f32, places: zeros(60).i32 },
  size: { groups: 3 },
};

async function compare(
  device: WebGpuDevice | undefined,
  { kernel: spec, args, size }: Case,
  subgroupSize = 4,
): Promise<void> {
  const ir = lower(spec, "f32");
  expect(await onDevice(device!, ir, args, size)).toEqual(inInterpreter(ir, args, size, { subgroupSize }));
}

describe("WebGPU kernels", () => {
  test.for(Object.entries({ controlFlow, privateArrays, atomics, convergence }))("%s", async ([, one], { skip }) => {
    if (native === undefined) return skip("no WebGPU adapter");
    await compare(native, one);
  });

  test("subgroups of the adapter", async ({ skip }) => {
    if (native === undefined) return skip("no WebGPU adapter");
    if (native.subgroupSize === undefined) return skip("the adapter has no subgroups of one size");
    await compare(native, subgroups, native.subgroupSize);
  });

  test("subgroups through workgroup memory", async ({ skip }) => {
    if (emulated === undefined) return skip("no WebGPU adapter");
    expect(emulated.subgroupSize).toBe(8);
    await compare(emulated, subgroups, 8);
  });
});
