/**
 * Runs of loads and stores of neighbouring words, which become whole vectors (emit/wasm/blocks.ts), against the
 * interpreter bit for bit.
 */
import { describe, expect, it } from "vitest";
import { createCpuDevice } from "../../src/device/cpu/index.ts";
import { i32, type Kernel, kernel, type Precision, read, real, write } from "../../src/kernel/index.ts";
import { expectSame, type HostArray } from "./wasm-support.ts";

const ITEMS = [1, 4, 8, 37];

const numbers = (precision: Precision, length: number, first = 0): HostArray => {
  const values = Array.from({ length }, (_, i) => Math.fround(Math.sin(first + i)));
  return precision === "f64" ? new Float64Array(values) : new Float32Array(values);
};

/** Each item turns a row of `words` around, in the same array or another, and leaves `gap` words between rows. */
const reversed = (words: number, gap: number) =>
  kernel({
    params: { from: read(real), to: write(real) },
    env: { words, gap },
    body({ from, to }, gpu, { words, gap }) {
      const at = gpu.globalId() * (words + gap);
      const held = gpu.privateReal(words);
      for (let k = 0; k < words; k++) held[k] = from[at + k];
      for (let k = 0; k < words; k++) to[at + k] = held[words - 1 - k] * 2;
    },
  });

async function code(k: Kernel, precision: Precision): Promise<string> {
  using device = createCpuDevice({ threads: 1 });
  return (await device.compile(k, { precision })).code.split("under masks")[0];
}

describe.each(["f64", "f32"] as const)("%s", (precision) => {
  const lanes = precision === "f64" ? 2 : 4;
  it.each([1, 2, 3, 4, 5, 8, 11])("rows of %i words", async (words) => {
    const k = reversed(words, 3);
    for (const items of ITEMS) {
      const length = items * (words + 3);
      await expectSame(
        k,
        precision,
        { from: numbers(precision, length), to: numbers(precision, length, 0.5) },
        { items },
      );
    }
    const text = await code(k, precision);
    const single = new RegExp(`v128.load${precision === "f64" ? 64 : 32}_lane`).test(text);
    expect(single).toBe(words % lanes !== 0);
    expect(/v128.store(32|64)_lane/.test(text)).toBe(words % lanes !== 0);
  });

  it("a value that has just been stored is seen", async () => {
    const k = kernel({
      params: { u: write(real) },
      body({ u }, gpu) {
        const at = gpu.globalId() * 5;
        u[at + 1] = u[at];
        u[at + 2] = u[at + 1] + 1;
        u[at + 3] = u[at + 2] + 1;
        u[at + 4] = u[at + 3] + 1;
      },
    });
    for (const items of ITEMS) await expectSame(k, precision, { u: numbers(precision, 5 * items) }, { items });
  });

  it("a local that is assigned twice, and words that do not follow one another", async () => {
    const k = kernel({
      params: { from: read(real), to: write(real) },
      body({ from, to }, gpu) {
        const at = gpu.globalId() * 8;
        let a = from[at];
        a = from[at + 1];
        const b = from[at + 2];
        const c = from[at + 4];
        const d = from[at + 3];
        to[at + 7] = a;
        to[at + 6] = b;
        to[at + 5] = c;
        to[at] = d;
        to[at + 1] = a;
        to[at + 2] = 1;
        to[at + 3] = b - c;
        to[at + 4] = d;
      },
    });
    for (const items of ITEMS) {
      const args = { from: numbers(precision, 8 * items), to: numbers(precision, 8 * items, 0.5) };
      await expectSame(k, precision, args, { items });
    }
  });

  it("indexes that are assigned, and used as numbers", async () => {
    const k = kernel({
      params: { to: write(real) },
      body({ to }, gpu) {
        let at = gpu.globalId() * 9;
        let t = at + 1;
        to[t] = gpu.real(t);
        t = at + 2;
        to[t] = gpu.real(t);
        t = at + 3;
        to[t] = gpu.real(at);
        t = at + 4;
        to[t] = gpu.real(at);
        at = at + 5;
        to[at] = 1;
        at = at + 1;
        to[at] = 2;
        at = at + 1;
        to[at] = 3;
        to[at + 1] = gpu.real(t);
      },
    });
    for (const items of ITEMS) await expectSame(k, precision, { to: numbers(precision, 9 * items) }, { items });
  });

  it("before a condition around the rest of the kernel, after which nothing may be stored again", async () => {
    const k = kernel({
      params: { u: write(real) },
      body({ u }, gpu) {
        const at = gpu.globalId() * 5;
        const a = u[at + 1];
        const b = u[at + 2];
        const c = u[at + 3];
        const d = u[at + 4];
        u[at + 1] = a + 1;
        u[at + 2] = b + 2;
        u[at + 3] = c + 3;
        u[at + 4] = d + 4;
        if (a < 0) return;
        let x = 0.5;
        for (let i = 0; i < 40; i++) {
          x = x * b + c * x - d;
          x = Math.min(Math.max(x, -1), 1) * 0.25 + Math.abs(x) * 0.125;
          x = Math.sqrt(Math.abs(x * a)) - x * x * b + (c - x) * (d + x) * 0.0625;
        }
        u[at] = x;
      },
    });
    for (const items of ITEMS) await expectSame(k, precision, { u: numbers(precision, 5 * items) }, { items });
  });

  it("in branches that only some items take, and in workgroups", async () => {
    const some = kernel({
      params: { from: read(real), to: write(real) },
      body({ from, to }, gpu) {
        const i = gpu.globalId();
        const at = i * 4;
        if (i % 3 > 0) {
          const a = from[at];
          const b = from[at + 1];
          const c = from[at + 2];
          const d = from[at + 3];
          to[at] = d;
          to[at + 1] = c;
          to[at + 2] = b;
          to[at + 3] = a;
        }
      },
    });
    for (const items of ITEMS) {
      const args = { from: numbers(precision, 4 * items), to: numbers(precision, 4 * items, 0.5) };
      await expectSame(some, precision, args, { items });
    }
    const shared = kernel({
      groupSize: 24,
      params: { to: write(real) },
      *body({ to }, gpu) {
        const held = gpu.sharedReal(100);
        const at = gpu.localId() * 4;
        held[at] = gpu.real(at);
        held[at + 1] = gpu.real(at) + 1;
        held[at + 2] = gpu.real(at) * 2;
        held[at + 3] = 3;
        yield;
        const other = (23 - gpu.localId()) * 4;
        const a = held[other];
        const b = held[other + 1];
        const c = held[other + 2];
        const d = held[other + 3];
        to[gpu.globalId()] = a + 2 * b + 3 * c + 4 * d;
      },
    });
    await expectSame(shared, precision, { to: numbers(precision, 48) }, { groups: 2 });
  });
});

it("integers, beside reals of either width", async () => {
  const k = kernel({
    params: { from: read(i32), to: write(i32), sum: write(real) },
    body({ from, to, sum }, gpu) {
      const at = gpu.globalId() * 4;
      const a = from[at];
      const b = from[at + 1];
      const c = from[at + 2];
      const d = from[at + 3];
      to[at] = d;
      to[at + 1] = c - 1;
      to[at + 2] = b;
      to[at + 3] = a;
      sum[gpu.globalId()] = gpu.real(a + b + c + d);
    },
  });
  for (const precision of ["f64", "f32"] as const)
    for (const items of ITEMS) {
      const from = Int32Array.from({ length: 4 * items }, (_, i) => 7 * i - 30);
      await expectSame(
        k,
        precision,
        { from, to: new Int32Array(4 * items), sum: numbers(precision, items) },
        { items },
      );
    }
});
