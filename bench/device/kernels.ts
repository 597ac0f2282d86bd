import { i32, kernel, read, real, write } from "../../src/kernel/index.ts";

/** A copy, four words an item, one `stride` apart: so many loads are in flight at once. */
export const stridedCopy = kernel({
  name: "stridedCopy",
  groupSize: 256,
  params: { stride: i32, from: read(real), to: write(real) },
  body({ stride, from, to }, gpu) {
    const i = gpu.globalId();
    const a = from[i];
    const b = from[i + stride];
    const c = from[i + 2 * stride];
    const d = from[i + 3 * stride];
    to[i] = a;
    to[i + stride] = b;
    to[i + 2 * stride] = c;
    to[i + 3 * stride] = d;
  },
});

/** Words that a workgroup of `copy` copies. */
export const COPIED = 1024;

/** The same from a workgroup's 1,024 neighbours: each page of memory is visited once. */
export const copy = kernel({
  name: "copy",
  groupSize: 256,
  params: { from: read(real), to: write(real) },
  env: { copied: COPIED },
  body({ from, to }, gpu, { copied }) {
    const i = gpu.groupId() * copied + gpu.localId();
    const a = from[i];
    const b = from[i + 256];
    const c = from[i + 512];
    const d = from[i + 768];
    to[i] = a;
    to[i + 256] = b;
    to[i + 512] = c;
    to[i + 768] = d;
  },
});

/** Flops of an item of `multiplyAdd` for each of its rounds: 8 chains, 32 links in two halves, a product and a sum. */
export const flopsPerRound = 512;

/**
 * Eight independent chains of x ← a·x + b, 32 links a round of the loop: with 8 links WebGPU gave 86 % of an H200's
 * peak where CUDA gave 97 %, a counter that compilers of WGSL add to loops, so that none is endless, being its share.
 */
export const multiplyAdd = kernel({
  name: "multiplyAdd",
  groupSize: 256,
  params: { rounds: i32, a: real, b: real, out: write(real) },
  body({ rounds, a, b, out }, gpu) {
    const i = gpu.globalId();
    const x = gpu.privateReal(8);
    for (let k = 0; k < 8; k++) x[k] = gpu.real(i + k);
    for (let round = 0; round < rounds; round++) {
      // Each half is unrolled.
      for (let link = 0; link < 16; link++) for (let k = 0; k < 8; k++) x[k] = a * x[k] + b;
      for (let link = 0; link < 16; link++) for (let k = 0; k < 8; k++) x[k] = a * x[k] + b;
    }
    out[i] = x[0] + x[1] + (x[2] + x[3]) + (x[4] + x[5] + (x[6] + x[7]));
  },
});
