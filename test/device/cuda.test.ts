/** The CUDA device, on the emulator: memory, copies, launches, compilations. */
import { describe, expect, test, vi } from "vitest";
import type { CudaDevice } from "../../src/device/cuda/index.ts";
import { roundedBlockBytes } from "../../src/device/cuda/memory/blocks.ts";
import {
  DisposedError,
  KernelError,
  OutOfMemoryError,
  PrecisionError,
  ShapeError,
  SpecError,
} from "../../src/base/errors.ts";
import { i32, kernel, real, u32, write } from "../../src/kernel/index.ts";
import { affine, type Emulation, emulation, increment, ramp } from "./cuda-kernels.ts";

const emulated = await emulation();

async function affineOn(device: CudaDevice, items: number): Promise<Float64Array> {
  const compiled = await device.compile(affine, { precision: "f64" });
  using u = device.createBuffer("f64", items);
  using out = device.createBuffer("f64", items);
  device.write(u, ramp(items));
  device.launch(compiled, { scale: 2, shift: -3, u, out }, { items });
  return await device.read(out);
}

describe.skipIf(emulated === undefined)("the CUDA device", () => {
  const { open, control } = emulated ?? ({} as Emulation);

  test("says what it is", async () => {
    using device = await open();
    expect(device.name).toBe("Emulated GPU (CUDA)");
    expect(device.backend).toBe("cuda");
    expect(device.precisions).toEqual(["f64", "f32"]);
    expect(device.parallelism).toBe(4 * 2048);
    expect(device.limits).toMatchObject({ maxGroupSize: 1024, maxWorkgroupBytes: 232_448, maxBufferBytes: 2 ** 33 });
  });

  test.each([1, 2, 255, 256, 257, 100_003])("runs %i items", async (items) => {
    using device = await open();
    expect(await affineOn(device, items)).toEqual(ramp(items).map((x) => 2 * x - 3));
    expect(device.liveBuffers).toBe(0);
  });

  test("launches nothing for no items, and knows empty buffers", async () => {
    using device = await open();
    const compiled = await device.compile(affine, { precision: "f64" });
    using u = device.createBuffer("f64", 0);
    using out = device.createBuffer("f64", 0);
    device.write(u, new Float64Array(0));
    device.launch(compiled, { scale: 1, shift: 0, u, out }, { items: 0 });
    expect(await device.read(out)).toEqual(new Float64Array(0));
  });

  test("compiles equal kernels once, each contraction and precision by itself", async () => {
    using device = await open();
    const first = await device.compile(affine, { precision: "f64" });
    expect(first.compileMs).toBeGreaterThan(0);
    expect((await device.compile(affine, { precision: "f64" })).compileMs).toBe(0);
    expect((await device.compile(affine, { precision: "f64", fma: "contract" })).compileMs).toBe(0);
    expect((await device.compile(affine, { precision: "f64", fma: "exact" })).compileMs).toBeGreaterThan(0);
    expect((await device.compile(affine, { precision: "f32" })).compileMs).toBeGreaterThan(0);
    expect(first.code).toContain("affine");
    await expect(device.compile(affine, { precision: "f32x2" })).rejects.toThrow(PrecisionError);
  });

  test("refuses a kernel beyond its limits, and one of another device", async () => {
    using device = await open();
    using other = await open();
    const large = kernel({
      name: "large",
      params: { out: write(real) },
      body({ out }, gpu) {
        const t = gpu.privateReal(10_000);
        const i = gpu.globalId();
        for (let k = 0; k < 10_000; k++) t[k] = out[i];
        out[i] = t[17];
      },
    });
    await expect(device.compile(large, { precision: "f64" })).rejects.toThrow(
      /large: 80000 bytes of private arrays, at most 65536/,
    );
    const compiled = await other.compile(increment, { precision: "f64" });
    using u = device.createBuffer("f64", 4);
    expect(() => device.launch(compiled, { u }, { items: 4 })).toThrow(ShapeError);
  });

  test("takes every kind of scalar", async () => {
    const scalars = kernel({
      name: "scalars",
      params: { a: real, b: i32, c: u32, out: write(real) },
      body({ a, b, c, out }, gpu) {
        out[gpu.globalId()] = a + gpu.real(b) + gpu.real(c);
      },
    });
    using device = await open();
    for (const precision of ["f64", "f32"] as const) {
      const compiled = await device.compile(scalars, { precision });
      using out = device.createBuffer(precision, 1);
      device.launch(compiled, { a: 0.5, b: -7, c: 4_000_000_000, out }, { items: 1 });
      expect((await device.read(out))[0]).toBe(precision === "f64" ? 3_999_999_993.5 : Math.fround(3_999_999_993.5));
    }
  });

  describe("memory", () => {
    test("starts as zeros, where it has been used before too", async () => {
      using device = await open({ memory: "reuse" });
      for (let i = 0; i < 3; i++) {
        using buffer = device.createBuffer("f64", 1000);
        expect(await device.read(buffer)).toEqual(new Float64Array(1000));
        device.write(buffer, new Float64Array(1000).fill(7));
      }
    });

    test("a thousand buffers of like sizes take turns in the same blocks", async () => {
      using device = await open({ memory: "reuse" });
      const before = control.live.allocations;
      for (let i = 0; i < 1000; i++) {
        using a = device.createBuffer("f64", 1000 + (i % 7));
        using b = device.createBuffer("i32", 50_000);
        device.write(a, new Float64Array(10));
        expect(b.length).toBe(50_000);
      }
      await device.finish();
      expect(control.live.allocations - before).toBeLessThanOrEqual(4);
    });

    test("is used again while work on it is under way, in order", async () => {
      using device = await open({ memory: "reuse" });
      const compiled = await device.compile(increment, { precision: "f64" });
      const results: Promise<Float64Array>[] = [];
      for (let round = 0; round < 20; round++) {
        using u = device.createBuffer("f64", 300);
        device.write(u, new Float64Array(300).fill(round));
        device.launch(compiled, { u }, { items: 300 });
        results.push(device.read(u));
      }
      for (const [round, values] of (await Promise.all(results)).entries())
        expect(values).toEqual(new Float64Array(300).fill(round + 1));
    });

    test("idle blocks make room before memory is said to be out", async () => {
      control.set("memory", 64 * 2 ** 20);
      using device = await open({ memory: "reuse" });
      device.createBuffer("f64", 2 ** 20)[Symbol.dispose](); // 8 MiB, idle
      using large = device.createBuffer("f64", 7 * 2 ** 20 + 2 ** 19); // 60 MiB
      expect(large.length).toBe(7 * 2 ** 20 + 2 ** 19);
    });

    test("when out, the device goes on", async () => {
      control.set("memory", 16 * 2 ** 20);
      using device = await open();
      expect(() => device.createBuffer("f64", 2 ** 22)).toThrow(OutOfMemoryError);
      using half = device.createBuffer("f64", 2 ** 20);
      expect(() => device.createBuffer("f64", 3 * 2 ** 19)).toThrow(/no memory for a buffer of 12582912 bytes/);
      device.write(half, Float64Array.of(5));
      expect((await device.read(half, 0, 1))[0]).toBe(5);
      expect(device.liveBuffers).toBe(1);
    });

    test("pinned memory, when out, too", async () => {
      using device = await open();
      using buffer = device.createBuffer("f64", 4);
      control.set("oom_host_at", 1);
      expect(() => device.write(buffer, ramp(4))).toThrow(OutOfMemoryError);
      control.set("oom_host_at", "");
      device.write(buffer, ramp(4));
      control.set("oom_host_at", 1);
      await expect(device.read(buffer)).rejects.toThrow(OutOfMemoryError);
      control.set("oom_host_at", "");
      expect(await device.read(buffer)).toEqual(ramp(4));
    });

    test("lengths that are none are refused", async () => {
      using device = await open();
      expect(() => device.createBuffer("f64", -1)).toThrow(SpecError);
      expect(() => device.createBuffer("f64", 1.5)).toThrow(SpecError);
      expect(() => device.createBuffer("f16" as "f32", 1)).toThrow(SpecError);
      expect(() => device.createBuffer("f64", 2 ** 40)).toThrow(OutOfMemoryError);
    });

    test("blocks waste an eighth at most, and beyond a gigabyte nothing to speak of", () => {
      for (const bytes of [1, 513, 5000, 123_456, 2 ** 20 + 1, 987_654_321, 2 ** 30 + 1, 100 * 2 ** 30 + 5]) {
        const block = roundedBlockBytes(bytes);
        expect(block % 512).toBe(0);
        expect(block).toBeGreaterThanOrEqual(bytes);
        expect(block - bytes).toBeLessThan(
          Math.max(512, Math.min(bytes / 8 + 1, bytes > 2 ** 30 ? 2 ** 21 : Infinity)),
        );
      }
    });
  });

  describe("copies", () => {
    test("take the host's values at once, converted to the buffer's type", async () => {
      using device = await open();
      using buffer = device.createBuffer("f32", 6);
      const values = Float64Array.of(0.1, 2, 3);
      device.write(buffer, values, 2);
      values.fill(99);
      expect([...(await device.read(buffer))]).toEqual([0, 0, Math.fround(0.1), 2, 3, 0]);
      expect([...(await device.read(buffer, 3, 2))]).toEqual([2, 3]);
    });

    test("larger than all pinned memory come through whole", async () => {
      using device = await open();
      const length = 12 * 2 ** 20; // 96 MiB; pinned are 32 for writing and 64 for reading
      using buffer = device.createBuffer("f64", length);
      const values = ramp(length);
      device.write(buffer, values);
      const back = await device.read(buffer);
      expect(Buffer.compare(new Uint8Array(back.buffer), new Uint8Array(values.buffer))).toBe(0);
      expect(control.live.pinned).toBeLessThanOrEqual(32);
    });

    test("see what was recorded before them, never what comes after", async () => {
      using device = await open();
      const compiled = await device.compile(increment, { precision: "f64" });
      const length = 10 * 2 ** 20;
      using u = device.createBuffer("f64", length);
      const before = device.read(u);
      device.launch(compiled, { u }, { items: length });
      const after = device.read(u);
      device.write(u, new Float64Array(length).fill(9));
      expect((await before).every((x) => x === 0)).toBe(true);
      expect((await after).every((x) => x === 1)).toBe(true);
      expect((await device.read(u, length - 1))[0]).toBe(9);
    });

    test("are right when the buffer is disposed before they arrive", async () => {
      using device = await open({ memory: "reuse" });
      const u = device.createBuffer("f64", 10 * 2 ** 20);
      device.write(u, Float64Array.of(1, 2, 3));
      const reading = device.read(u);
      u[Symbol.dispose]();
      using other = device.createBuffer("f64", 10 * 2 ** 20);
      device.write(other, new Float64Array(100).fill(8));
      expect((await reading).subarray(0, 4)).toEqual(Float64Array.of(1, 2, 3, 0));
    });

    test("small ones may be hundreds at a time", async () => {
      using device = await open();
      using u = device.createBuffer("i32", 1000);
      device.write(
        u,
        Int32Array.from({ length: 1000 }, (_, i) => i),
      );
      const pieces = await Promise.all(Array.from({ length: 500 }, (_, i) => device.read(u, 2 * i, 2)));
      expect(pieces.flatMap((piece) => [...piece])).toEqual(Array.from({ length: 1000 }, (_, i) => i));
    });

    test("out of range, or of a disposed buffer, are refused", async () => {
      using device = await open();
      using u = device.createBuffer("f64", 4);
      expect(() => device.write(u, ramp(3), 2)).toThrow(ShapeError);
      await expect(device.read(u, 3, 2)).rejects.toThrow(ShapeError);
      u[Symbol.dispose]();
      expect(() => device.write(u, ramp(1))).toThrow(DisposedError);
      await expect(device.read(u)).rejects.toThrow(DisposedError);
    });
  });

  describe("the event loop", () => {
    test("turns while work is waited for", async () => {
      control.set("polls", 100_000);
      using device = await open();
      const compiled = await device.compile(increment, { precision: "f64" });
      using u = device.createBuffer("f64", 8);
      device.launch(compiled, { u }, { items: 8 });
      let turns = 0;
      const count = (): void => void (turns++, (timer = setImmediate(count)));
      let timer = setImmediate(count);
      const ready = device.finish();
      await vi.waitFor(() => expect(turns).toBeGreaterThan(5), { timeout: 60_000, interval: 5 });
      control.set("polls", 0);
      await ready;
      clearImmediate(timer);
    });
  });

  describe("sequences", () => {
    test("run their launches again and again", async () => {
      using device = await open();
      const [once, twice] = [
        await device.compile(increment, { precision: "f64" }),
        await device.compile(affine, { precision: "f64" }),
      ];
      using u = device.createBuffer("f64", 300);
      using out = device.createBuffer("f64", 300);
      using sequence = device.record(() => {
        device.launch(once, { u }, { items: 300 });
        device.launch(once, { u }, { items: 300 });
        device.launch(twice, { scale: 10, shift: 1, u, out }, { items: 300 });
      });
      expect((await device.read(u))[0]).toBe(0); // recorded, not run
      for (let i = 0; i < 5; i++) sequence.run();
      expect((await device.read(u))[299]).toBe(10);
      expect((await device.read(out))[299]).toBe(101);
    });

    test("hold launches only, and the device is as before after a failure inside", async () => {
      using device = await open();
      const compiled = await device.compile(increment, { precision: "f64" });
      using u = device.createBuffer("f64", 4);
      expect(() => device.record(() => device.write(u, ramp(4)))).toThrow(/holds launches only/);
      expect(() => device.record(() => device.createBuffer("f64", 4))).toThrow(ShapeError);
      expect(() => device.record(() => device.record(() => {}))).toThrow(ShapeError);
      const reads: Promise<unknown>[] = [];
      device.record(() => reads.push(device.read(u), device.finish()))[Symbol.dispose]();
      for (const read of reads) await expect(read).rejects.toThrow(ShapeError);
      expect(() =>
        device.record(() => {
          device.launch(compiled, { u }, { items: 4 });
          throw new RangeError("mine");
        }),
      ).toThrow(RangeError);
      device.launch(compiled, { u }, { items: 4 });
      expect(await device.read(u)).toEqual(Float64Array.of(1, 1, 1, 1));
      expect(control.live.graph_execs + control.live.graphs).toBe(0);
    });

    test("do not outlive what they use", async () => {
      using device = await open();
      const compiled = await device.compile(increment, { precision: "f64" });
      using u = device.createBuffer("f64", 4);
      const sequence = device.record(() => device.launch(compiled, { u }, { items: 4 }));
      u[Symbol.dispose]();
      expect(() => sequence.run()).toThrow(DisposedError);
      sequence[Symbol.dispose]();
      expect(() => sequence.run()).toThrow(DisposedError);
      expect(sequence.disposed).toBe(true);
    });
  });

  test("times what is recorded", async () => {
    using device = await open();
    const compiled = await device.compile(increment, { precision: "f64" });
    using u = device.createBuffer("f64", 100_000);
    const milliseconds = await device.timed(() => {
      for (let i = 0; i < 5; i++) device.launch(compiled, { u }, { items: 100_000 });
    });
    expect(milliseconds).toBeGreaterThan(0);
    expect((await device.read(u, 0, 1))[0]).toBe(5);
  });

  test("quotes what the compiler says", async () => {
    using device = await open();
    control.set("gxx", "false"); // a compiler that only fails
    const fresh = kernel({
      name: "fresh",
      params: { u: write(real) },
      body({ u }, gpu) {
        u[gpu.globalId()] = 4711;
      },
    });
    control.set("objects", "/nonexistent");
    await expect(device.compile(fresh, { precision: "f64" })).rejects.toThrow(KernelError);
    control.reset();
    using u = device.createBuffer("f64", 1);
    device.launch(await device.compile(fresh, { precision: "f64" }), { u }, { items: 1 });
    expect(await device.read(u)).toEqual(Float64Array.of(4711));
  });

  test("leaves nothing behind over many cycles", async () => {
    const before = control.live;
    for (let i = 0; i < 30; i++) {
      using device = await open();
      expect((await affineOn(device, 100))[99]).toBe(195);
    }
    expect(control.live).toEqual(before);
  });

  test("disposed with work under way, it rejects what waits", async () => {
    control.set("polls", 1e9);
    const device = await open();
    const buffer = device.createBuffer("f64", 4);
    const waiting = [device.finish(), device.read(buffer)];
    device[Symbol.dispose]();
    device[Symbol.dispose]();
    for (const one of waiting) await expect(one).rejects.toThrow(DisposedError);
    buffer[Symbol.dispose]();
    expect(device.liveBuffers).toBe(0);
    expect(() => device.createBuffer("f64", 1)).toThrow(DisposedError);
  });
});
