import { describe, expect, it } from "vitest";

import { createCpuDevice, CpuDevice, type CpuDeviceOptions } from "../../src/device/cpu/index.ts";
import { MAX_PROGRAMS } from "../../src/device/max-programs.ts";
import { startThread, type Thread, type ThreadEvents } from "../../src/device/cpu/thread.ts";
import type { Device, LaunchSize, PartsUser } from "../../src/device/device.ts";
import { DisposedError, KernelRuntimeError, OutOfMemoryError, ShapeError, SpecError } from "../../src/base/errors.ts";
import { bool, i32, type Kernel, kernel, kernelFromSource, read, real, u32, write } from "../../src/kernel/index.ts";

/** out = scale·u + shift, after some turns of a loop, to make it last. */
const affine = kernel({
  name: "affine",
  params: { scale: real, shift: i32, turns: i32, u: read(real), out: write(real) },
  body({ scale, shift, turns, u, out }, gpu) {
    const i = gpu.globalId();
    let x = u[i];
    for (let k = 0; k < turns; k++) x = x + 1 - 1;
    out[i] = scale * x + gpu.real(shift);
  },
});

const increment = kernel({
  name: "increment",
  params: { turns: i32, u: write(real) },
  body({ turns, u }, gpu) {
    const i = gpu.globalId();
    let x = u[i];
    for (let k = 0; k < turns; k++) x = x * 2 - x;
    u[i] = x + 1;
  },
});

async function affineOn(device: Device, items: number, turns: number): Promise<Float64Array> {
  const compiled = await device.compile(affine, { precision: "f64" });
  using u = device.createBuffer("f64", items);
  using out = device.createBuffer("f64", items);
  device.write(
    u,
    Float64Array.from({ length: items }, (_, i) => i),
  );
  device.launch(compiled, { scale: 2, shift: -3, turns, u, out }, { items });
  return await device.read(out);
}

const expected = (items: number): Float64Array => Float64Array.from({ length: items }, (_, i) => 2 * i - 3);

describe("CPU device", () => {
  it("says what it is", () => {
    using device = createCpuDevice({ threads: 3 });
    expect(device.name).toBe("CPU, 3 threads, WebAssembly SIMD");
    expect(device.backend).toBe("cpu");
    expect(device.precisions).toEqual(["f64", "f32"]);
    expect(device.parallelism).toBeGreaterThan(0);
    expect(() => createCpuDevice({ threads: 0 })).toThrow(SpecError);
  });

  for (const options of [
    { threads: 1 },
    { threads: 2 },
    { threads: 2, share: "always" },
    { threads: 5, share: "always" },
    { sharedMemory: false },
  ] as const) {
    it(`runs short and long launches, ${JSON.stringify(options)}`, async () => {
      using device = createCpuDevice(options);
      for (const [items, turns] of [
        [0, 1],
        [1, 1],
        [1001, 10],
        [4003, 20_000],
        [1001, 10],
      ]) {
        expect(await affineOn(device, items, turns)).toEqual(expected(items));
      }
      expect(device.liveBuffers).toBe(0);
    });

    it(`keeps the order of what is recorded, ${JSON.stringify(options)}`, async () => {
      using device = createCpuDevice(options);
      const compiled = await device.compile(increment, { precision: "f64" });
      const items = 2000;
      using u = device.createBuffer("f64", items);
      const reads: Promise<Float64Array>[] = [];
      const values = new Float64Array(items);
      for (let round = 0; round < 6; round++) {
        values.fill(100 * round);
        device.write(u, values);
        for (let k = 0; k < 5; k++) device.launch(compiled, { turns: round % 2 === 0 ? 20_000 : 1, u }, { items });
        reads.push(device.read(u));
        device.launch(compiled, { turns: 1, u }, { items });
      }
      const results = await Promise.all(reads);
      results.forEach((result, round) => expect(result).toEqual(new Float64Array(items).fill(100 * round + 5)));
    });
  }

  it("survives more launches under way than it has room for", async () => {
    using device = createCpuDevice({ threads: 2, share: "always" });
    const compiled = await device.compile(increment, { precision: "f64" });
    using u = device.createBuffer("f64", 3000);
    for (let k = 0; k < 2500; k++) device.launch(compiled, { turns: k < 2 ? 5_000 : 1, u }, { items: 3000 });
    expect(await device.read(u, 17, 2)).toEqual(Float64Array.of(2500, 2500));
  });

  it("keeps launches that share a buffer in order, while others overlap them", async () => {
    using device = createCpuDevice({ threads: 4, share: "always" });
    const step = await device.compile(increment, { precision: "f64" });
    const copy = await device.compile(affine, { precision: "f64" });
    const items = 3001; // more for some threads than for others
    using u = device.createBuffer("f64", items);
    using v = device.createBuffer("f64", items);
    using w = device.createBuffer("f64", items);
    for (let k = 0; k < 60; k++) {
      device.launch(step, { turns: k % 3 === 0 ? 20_000 : 1, u }, { items });
      device.launch(step, { turns: k % 4 === 0 ? 10_000 : 1, u: v }, { items });
      if (k % 10 === 9) device.launch(copy, { scale: 3, shift: 1, turns: 1, u, out: w }, { items });
      if (k === 29) expect(await device.read(w)).toEqual(new Float64Array(items).fill(91));
    }
    device.launch(copy, { scale: 1, shift: 0, turns: 1, u: v, out: w }, { items });
    device.launch(copy, { scale: 1, shift: 0, turns: 1, u: w, out: u }, { items });
    expect(await device.read(v)).toEqual(new Float64Array(items).fill(60));
    expect(await device.read(u)).toEqual(new Float64Array(items).fill(60));
  });

  it("gives workers memory that came after them", async () => {
    using device = createCpuDevice({ threads: 2, share: "always" });
    const roomy = kernel({
      params: { u: write(real) },
      body({ u }, gpu) {
        const w = gpu.privateReal(100_000);
        for (let k = 0; k < 100_000; k++) w[k] = gpu.real(k);
        u[gpu.globalId()] = w[gpu.i32(u[gpu.globalId()])];
      },
    });
    const length = 1000;
    using first = device.createBuffer("f64", length);
    const [quick, slow] = [
      await device.compile(increment, { precision: "f64" }),
      await device.compile(roomy, { precision: "f64" }),
    ];
    for (let k = 0; k < 2; k++) device.launch(quick, { turns: 20_000, u: first }, { items: length });
    using second = device.createBuffer("f64", 10_000_000);
    for (let k = 0; k < 3; k++) device.launch(slow, { u: second }, { items: length });
    device.launch(quick, { turns: 20_000, u: second }, { items: length });
    expect(await device.read(second, 0, length)).toEqual(new Float64Array(length).fill(1));
    expect(await device.read(first)).toEqual(new Float64Array(length).fill(2));
  });

  it("does without workers where they are forbidden", async () => {
    const startThread = () => {
      throw new Error("forbidden");
    };
    using device = new CpuDevice({ threads: 2, shared: true, vectors: undefined, startThread, alwaysShare: true });
    expect(await affineOn(device, 2000, 100_000)).toEqual(expected(2000));
  });

  it("compiles equal kernels once, in each precision", async () => {
    using device = createCpuDevice({ threads: 1 });
    const twin = (scale: number) =>
      kernel({
        params: { u: write(real) },
        env: { scale },
        body({ u }, gpu, { scale }) {
          u[gpu.globalId()] = scale;
        },
      });
    const first = await device.compile(twin(1), { precision: "f64" });
    expect((await device.compile(twin(1), { precision: "f64" })).code).toBe(first.code);
    expect((await device.compile(twin(1), { precision: "f64" })).compileMs).toBe(0);
    for (const other of [twin(0), twin(-0), twin(NaN)])
      expect((await device.compile(other, { precision: "f64" })).compileMs).toBeGreaterThan(0);
    const single = await device.compile(twin(1), { precision: "f32" });
    expect(single.code).toContain("4 lanes");
    expect(first.code).toContain("u[gpu.globalId()] = scale");
  });

  it("forgets programs long unused, its workers too, and makes them again", async () => {
    const held = new Set<number>();
    let max = 0;
    let posted = 0;
    const counting = (events: ThreadEvents): Thread => {
      const thread = startThread(events);
      const post: Thread["post"] = (message) => {
        if (message.kind === "program") {
          posted++;
          held.add(message.id);
        } else if (message.kind === "forget") held.delete(message.id);
        max = Math.max(max, held.size);
        thread.post(message);
      };
      return { ...thread, post };
    };
    const settings = { threads: 1, shared: true, vectors: 1, alwaysShare: true } as const;
    using device = new CpuDevice({ ...settings, startThread: counting });
    using u = device.createBuffer("f64", 4);
    const numbered = (k: number) =>
      kernel({
        params: { u: write(real) },
        env: { k },
        body({ u }, gpu, { k }) {
          u[gpu.globalId()] = u[gpu.globalId()] + k;
        },
      });
    const first = await device.compile(numbered(1), { precision: "f64" });
    let sum = 0;
    for (let k = 1; k <= MAX_PROGRAMS + 8; k++) {
      const compiled = await device.compile(numbered(k), { precision: "f64" });
      device.launch(compiled, { u }, { items: 4 });
      sum += k;
    }
    expect(await device.read(u)).toEqual(new Float64Array(4).fill(sum));
    expect(max).toBeLessThanOrEqual(MAX_PROGRAMS + 1);
    expect(posted).toBe(MAX_PROGRAMS + 8);
    expect((await device.compile(numbered(MAX_PROGRAMS), { precision: "f64" })).compileMs).toBe(0);
    expect((await device.compile(numbered(1), { precision: "f64" })).compileMs).toBeGreaterThan(0);
    device.launch(first, { u }, { items: 4 });
    expect(await device.read(u)).toEqual(new Float64Array(4).fill(sum + 1));
    expect(posted).toBe(MAX_PROGRAMS + 9);
  });

  it("converts what is written, and keeps it", async () => {
    using device = createCpuDevice({ threads: 1 });
    using n = device.createBuffer("i32", 4);
    using m = device.createBuffer("u32", 0);
    const values = Float64Array.of(1.9, -1.9);
    device.write(n, values, 1);
    values.fill(7);
    expect(await device.read(n)).toEqual(Int32Array.of(0, 1, -1, 0));
    expect(await device.read(n, 2, 1)).toEqual(Int32Array.of(-1));
    expect(await device.read(m)).toEqual(new Uint32Array(0));
  });

  it("gives zeros in memory that was used before", async () => {
    using device = createCpuDevice({ threads: 1 });
    for (let k = 0; k < 3; k++) {
      using u = device.createBuffer("f64", 1000);
      expect((await device.read(u)).every((x) => x === 0)).toBe(true);
      device.write(u, new Float64Array(1000).fill(1));
    }
  });

  it("keeps the memory of a disposed buffer until the workers are done with it", async () => {
    using device = createCpuDevice({ threads: 2, share: "always" });
    const compiled = await device.compile(increment, { precision: "f64" });
    const items = 2000;
    for (let round = 0; round < 3; round++) {
      {
        using u = device.createBuffer("f64", items);
        device.launch(compiled, { turns: 20_000, u }, { items });
      }
      using next = device.createBuffer("f64", items);
      await device.finish();
      expect(await device.read(next)).toEqual(new Float64Array(items));
    }
  });

  it("runs out of memory and goes on", async () => {
    using device = createCpuDevice({ threads: 1 });
    const held = [];
    expect(() => device.createBuffer("f64", device.limits.maxBufferBytes)).toThrow(OutOfMemoryError);
    try {
      // Address space only: these pages are never touched.
      for (let k = 0; k < 100; k++) held.push(device.createBuffer("f32", 2 ** 26));
    } catch (error) {
      expect(error).toBeInstanceOf(OutOfMemoryError);
    }
    expect(held.length).toBeLessThan(100);
    expect(device.liveBuffers).toBe(held.length);
    for (const buffer of held) buffer[Symbol.dispose]();
    expect(await affineOn(device, 100, 1)).toEqual(expected(100));
  });

  it("reports an access far outside as an error of the kernel", async () => {
    for (const share of ["when-quicker", "always"] as const) await strayOn({ threads: 2, share });
  });

  async function strayOn(options: CpuDeviceOptions): Promise<void> {
    using device = createCpuDevice(options);
    const stray = kernel({
      name: "stray",
      params: { n: i32, u: write(real) },
      body({ n, u }, gpu) {
        u[gpu.globalId() * n] = 1;
      },
    });
    const compiled = await device.compile(stray, { precision: "f64" });
    using u = device.createBuffer("f64", 8);
    device.launch(compiled, { n: 2 ** 28, u }, { items: 8 });
    await expect(device.finish()).rejects.toThrow(KernelRuntimeError);
    expect(await affineOn(device, 10, 1)).toEqual(expected(10));
  }
});

describe("CPU device: arguments", () => {
  const declared = kernel({
    name: "declared",
    params: { x: real, n: i32, m: u32, flag: bool, u: read(real), v: write(real) },
    body({ x, n, m, flag, u, v }, gpu) {
      v[gpu.globalId()] = u[0] + x + gpu.real(n) + gpu.real(m) + gpu.real(flag);
    },
  });

  async function launching(device: CpuDevice, change: object, size: object = { items: 1 }): Promise<void> {
    const compiled = await device.compile(declared, { precision: "f64" });
    using u = device.createBuffer("f64", 1);
    using v = device.createBuffer("f64", 1);
    device.launch(compiled, { x: 0, n: 0, m: 0, flag: true, u, v, ...change }, size as LaunchSize);
    await device.finish();
  }

  it("accepts what the kernel declares", async () => {
    using device = createCpuDevice({ threads: 1 });
    await launching(device, { x: NaN, n: -(2 ** 31), m: 2 ** 32 - 1 });
  });

  it("refuses everything else, by name", async () => {
    using device = createCpuDevice({ threads: 1 });
    using other = createCpuDevice({ threads: 1 });
    using foreign = other.createBuffer("f64", 1);
    using ints = device.createBuffer("i32", 1);
    using twice = device.createBuffer("f64", 1);
    const bad: readonly [object, RegExp][] = [
      [{ x: "1" }, /argument x: got "1", expected a number/],
      [{ n: 1.5 }, /argument n: got 1.5/],
      [{ m: -1 }, /argument m: got -1/],
      [{ flag: 1 }, /argument flag: got 1, expected a boolean/],
      [{ u: undefined }, /argument u: got nothing/],
      [{ u: foreign }, /argument u: a buffer of another device/],
      [{ u: ints }, /argument u: a buffer of i32, expected f64/],
      [{ u: twice, v: twice }, /u and v are the same buffer/],
      [{ w: 1 }, /unknown argument w/],
    ];
    for (const [change, message] of bad) {
      await expect(launching(device, change)).rejects.toThrow(ShapeError);
      await expect(launching(device, change)).rejects.toThrow(message);
    }
    for (const size of [{ groups: 1 }, { items: -1 }, { items: 0.5 }, { items: 2 ** 31 }]) {
      await expect(launching(device, {}, size)).rejects.toThrow(ShapeError);
    }
  });

  it("disposes of what it keeps with itself, and at once if it is gone", () => {
    const device = createCpuDevice({ threads: 2 });
    const gone: string[] = [];
    const resource = (name: string): PartsUser => ({
      ended: Promise.resolve(),
      [Symbol.dispose]: () => void gone.push(name),
    });
    device.parts?.keep(resource("kept"));
    expect(gone).toEqual([]);
    device[Symbol.dispose]();
    device.parts?.keep(resource("late"));
    expect(gone).toEqual(["kept", "late"]);
  });

  it("refuses what was disposed, and ranges outside", async () => {
    const device = createCpuDevice({ threads: 1 });
    const u = device.createBuffer("f64", 4);
    expect(() => device.write(u, new Float64Array(4), 1)).toThrow(ShapeError);
    await expect(device.read(u, 2, 3)).rejects.toThrow(ShapeError);
    expect(() => device.createBuffer("f64", -1)).toThrow(SpecError);
    u[Symbol.dispose]();
    u[Symbol.dispose]();
    expect(device.liveBuffers).toBe(0);
    await expect(launching(device, { u })).rejects.toThrow(DisposedError);
    await expect(device.read(u)).rejects.toThrow(DisposedError);
    device[Symbol.dispose]();
    expect(() => device.createBuffer("f64", 1)).toThrow(DisposedError);
    await expect(device.finish()).rejects.toThrow(DisposedError);
  });

  it("refuses kernels beyond its limits", async () => {
    using device = createCpuDevice({ threads: 1 });
    const huge = kernel({
      params: { u: write(real) },
      body({ u }, gpu) {
        const w = gpu.privateReal(1_000_000);
        w[gpu.i32(u[0])] = 1;
        u[0] = w[0];
      },
    });
    await expect(device.compile(huge, { precision: "f64" })).rejects.toThrow(/at most 1048576 on the CPU device/);
    // 1 MiB is 131,072 reals of f64, and 262,144 of f32.
    const filled = (length: number): Kernel =>
      kernelFromSource({
        params: { u: write(real) },
        source: `({ u }, gpu) => { const w = gpu.privateReal(${length}); w[gpu.i32(u[0])] = 1; u[0] = w[0]; }`,
      });
    await device.compile(filled(131_072), { precision: "f64" });
    await expect(device.compile(filled(131_073), { precision: "f64" })).rejects.toThrow(
      "1048584 bytes of private arrays, at most 1048576",
    );
    await device.compile(filled(262_144), { precision: "f32" });
  });
});

it.each([false, true])("gives items that differ what JavaScript does, a few at a time, brief: %s", async (brief) => {
  using device = createCpuDevice({ threads: 1 });
  const sums = kernel({
    name: "sums",
    params: { terms: read(i32), out: write(real) },
    body({ terms, out }, gpu) {
      const i = gpu.globalId();
      let sum = 0.0;
      for (let k = 1; k <= terms[i]; k++) sum = sum + 1 / gpu.real(k + i);
      out[i] = sum;
    },
  });
  const compiled = await device.compile(sums, { precision: "f64" });
  // 210 items in all: the first of them by the entry point for a few.
  for (let items = 1; items <= 20; items++) {
    const terms = Int32Array.from({ length: items }, (_, i) => ((i + items) * 7) % 23);
    using termsBuffer = device.createBuffer("i32", items);
    using out = device.createBuffer("f64", items);
    device.write(termsBuffer, terms);
    device.launch(compiled, { terms: termsBuffer, out }, { items, ...(brief ? { microsecondsEach: 1 } : {}) });
    const expected = Float64Array.from(terms, (count, i) => {
      let sum = 0;
      for (let k = 1; k <= count; k++) sum += 1 / (k + i);
      return sum;
    });
    expect(await device.read(out)).toEqual(expected);
  }
});
