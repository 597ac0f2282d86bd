/** The WebGPU device itself: order, cutting, limits, errors, the life of its buffers. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { WebGpuDevice } from "../../src/device/webgpu/index.ts";
import {
  DisposedError,
  KernelError,
  OutOfMemoryError,
  PrecisionError,
  ShapeError,
  SpecError,
} from "../../src/base/errors.ts";
import { i32, kernel, read, real, u32, write } from "../../src/kernel/index.ts";
import { openWebGpuForTests } from "../support/webgpu.ts";

const f32 = { precision: "f32" } as const;

/** out[i] += by */
const increment = kernel({
  name: "increment",
  params: { by: real, out: write(real) },
  body({ by, out }, gpu) {
    const i = gpu.globalId();
    out[i] = out[i] + by;
  },
});

/** Counts the visits of each work item, in groups of one, so that a launch has many groups. */
const visit = kernel({
  name: "visit",
  groupSize: 1,
  params: { visits: write(u32) },
  body({ visits }, gpu) {
    gpu.atomicAdd(visits, gpu.globalId(), gpu.u32(1));
  },
});

/** out[group] = the sum of the group's items of u */
const groupSum = kernel({
  name: "groupSum",
  groupSize: 8,
  params: { u: read(real), out: write(real) },
  *body({ u, out }, gpu) {
    const shared = gpu.sharedReal(8);
    const l = gpu.localId();
    shared[l] = u[gpu.globalId()];
    yield;
    for (let half = 4; half > 0; half >>= 1) {
      if (l < half) shared[l] = shared[l] + shared[l + half];
      yield;
    }
    if (l === 0) out[gpu.groupId()] = shared[0];
  },
});

let shared: WebGpuDevice | undefined;
beforeAll(async () => {
  shared = await openWebGpuForTests();
});
afterAll(() => shared?.[Symbol.dispose]());

describe("WebGPU device", () => {
  let device: WebGpuDevice;
  beforeEach(({ skip }) => {
    if (shared === undefined) return skip("no WebGPU adapter");
    device = shared;
  });
  afterEach(() => {
    if (shared !== undefined) expect(shared.liveBuffers).toBe(0);
  });

  test("buffers start as zeros, also empty ones", async () => {
    using five = device.createBuffer("u32", 5);
    using none = device.createBuffer("f32", 0);
    expect(await device.read(five)).toEqual(new Uint32Array(5));
    expect(await device.read(none)).toEqual(new Float32Array(0));
    device.write(none, new Float32Array(0));
  });

  test("writes, launches and reads happen in the order in which they are recorded", async () => {
    const compiled = await device.compile(increment, f32);
    using out = device.createBuffer("f32", 3);
    const values = new Float32Array([1, 2, 3]);
    device.write(out, values);
    device.launch(compiled, { by: 10, out }, { items: 3 });
    const before = device.read(out);
    values.fill(7); // the device has its own copy
    device.write(out, values.subarray(0, 1), 1);
    device.launch(compiled, { by: 0.5, out }, { items: 2 });
    expect([...(await before)]).toEqual([11, 12, 13]);
    expect([...(await device.read(out))]).toEqual([11.5, 7.5, 13]);
    expect([...(await device.read(out, 1, 1))]).toEqual([7.5]);
  });

  test("numbers are converted to the buffer's element type", async () => {
    using reals = device.createBuffer("f32", 2);
    using ints = device.createBuffer("i32", 2);
    device.write(reals, new Float64Array([0.1, -2]));
    device.write(ints, new Float64Array([-3, 4]));
    expect(await device.read(reals)).toEqual(Float32Array.of(0.1, -2));
    expect(await device.read(ints)).toEqual(Int32Array.of(-3, 4));
  });

  test("a thousand launches are one time loop", async () => {
    const compiled = await device.compile(increment, f32);
    using out = device.createBuffer("f32", 65);
    for (let step = 0; step < 1000; step++) device.launch(compiled, { by: 1, out }, { items: 65 });
    await device.finish();
    expect(await device.read(out)).toEqual(new Float32Array(65).fill(1000));
  });

  test("more than 65,535 groups fold into y, in pieces; every item runs once", async () => {
    const compiled = await device.compile(visit, f32);
    const items = 140_003;
    using visits = device.createBuffer("u32", items + 100_000);
    for (let launch = 0; launch < 3; launch++) device.launch(compiled, { visits }, { items });
    const got = await device.read(visits);
    expect(got.subarray(0, items).every((count) => count === 3)).toBe(true);
    expect(got.subarray(items).every((count) => count === 0)).toBe(true);
  });

  test("a cooperative launch cut into pieces keeps its group numbers", async () => {
    const compiled = await device.compile(groupSum, f32);
    const groups = 3001;
    using u = device.createBuffer("f32", groups * 8);
    using out = device.createBuffer("f32", groups + 1);
    device.write(
      u,
      Float32Array.from({ length: groups * 8 }, (_, i) => i),
    );
    device.launch(compiled, { u, out }, { groups });
    const expected = Float32Array.from({ length: groups + 1 }, (_, g) => (g < groups ? 64 * g + 28 : 0));
    expect(await device.read(out)).toEqual(expected);
  });

  test("a buffer may be disposed while launches that use it still wait", async () => {
    const fresh = kernel({
      name: "copyAll",
      groupSize: 1,
      params: { u: read(real), out: write(real) },
      body({ u, out }, gpu) {
        const i = gpu.globalId();
        out[i] = u[i];
      },
    });
    const compiled = await device.compile(fresh, f32);
    using out = device.createBuffer("f32", 1000);
    {
      using u = device.createBuffer("f32", 1000);
      device.write(u, new Float32Array(1000).fill(3));
      device.launch(compiled, { u, out }, { items: 1000 }); // never measured: starts with a small piece
    }
    expect(await device.read(out)).toEqual(new Float32Array(1000).fill(3));
  });

  test("equal kernels are compiled once", async () => {
    const again = await device.compile({ ...increment }, f32);
    expect(again.compileMs).toBe(0);
    expect(again.code).toContain("@compute @workgroup_size(64)");
  });

  test("arguments that do not fit are refused by name", async () => {
    const compiled = await device.compile(groupSum, f32);
    const plain = await device.compile(increment, f32);
    using u = device.createBuffer("f32", 8);
    using out = device.createBuffer("f32", 8);
    using ints = device.createBuffer("i32", 8);
    const launch = (args: Record<string, unknown>, size: object) => () =>
      device.launch(compiled, args as never, size as never);
    expect(launch({ u }, { groups: 1 })).toThrow(
      "groupSum: argument out: got nothing, expected a buffer of this device",
    );
    expect(launch({ u, out: u }, { groups: 1 })).toThrow("u and out are the same buffer");
    expect(launch({ u: ints, out: u }, { groups: 1 })).toThrow("a buffer of i32, expected f32");
    expect(launch({ u, out, extra: 1 }, { groups: 1 })).toThrow("unknown argument extra");
    expect(launch({ u, out: u }, { items: 8 })).toThrow("expected { groups }");
    expect(launch({ u, out: u }, { groups: 0.5 })).toThrow("expected a whole number of groups");
    expect(() => device.launch(plain, { by: true, out: u }, { items: 1 })).toThrow(
      "argument by: got true, expected a number",
    );
    expect(() => device.write(u, new Float32Array(9))).toThrow(ShapeError);
    await expect(device.read(u, 7, 2)).rejects.toThrow(ShapeError);
  });

  test("there is no f64 but an emulated one, which has to be asked for", async () => {
    await expect(device.compile(increment, { precision: "f64" })).rejects.toThrow(PrecisionError);
    expect(device.precisions).toEqual(["f32"]);
  });

  test("needs beyond the device's limits are named with their size", async () => {
    expect(() => device.createBuffer("f32", 2 ** 40)).toThrow(OutOfMemoryError);
    expect(() => device.createBuffer("f32", -1)).toThrow(SpecError);
    const large = kernel({
      name: "large",
      params: { out: write(real) },
      body({ out }, gpu) {
        const row = gpu.privateReal(2049);
        const i = gpu.globalId();
        row[i] = 1;
        out[i] = row[i];
      },
    });
    await expect(device.compile(large, f32)).rejects.toThrow("large: needs 8196 bytes of private arrays per item");
  });

  test("a disposed buffer is refused", async () => {
    const compiled = await device.compile(increment, f32);
    const out = device.createBuffer("f32", 4);
    out[Symbol.dispose]();
    out[Symbol.dispose]();
    expect(out.disposed).toBe(true);
    expect(() => device.launch(compiled, { by: 1, out }, { items: 4 })).toThrow(DisposedError);
    expect(() => device.write(out, new Float32Array(4))).toThrow(DisposedError);
  });

  test("a launch of nothing runs nothing", async () => {
    const compiled = await device.compile(increment, f32);
    using out = device.createBuffer("f32", 1);
    device.launch(compiled, { by: 1, out }, { items: 0 });
    expect([...(await device.read(out))]).toEqual([0]);
  });

  test("whole numbers are checked against their type's range", async () => {
    const store = kernel({
      name: "store",
      params: { n: i32, m: u32, out: write(i32) },
      body({ n, m, out }, gpu) {
        out[0] = n;
        out[1] = gpu.i32(m);
      },
    });
    const compiled = await device.compile(store, f32);
    using out = device.createBuffer("i32", 2);
    device.launch(compiled, { n: -(2 ** 31), m: 2 ** 32 - 1, out }, { items: 1 });
    expect(await device.read(out)).toEqual(Int32Array.of(-(2 ** 31), -1));
    expect(() => device.launch(compiled, { n: 0.5, m: 0, out }, { items: 1 })).toThrow(ShapeError);
    expect(() => device.launch(compiled, { n: 0, m: -1, out }, { items: 1 })).toThrow(ShapeError);
  });
});

describe("WebGPU device, on its own", () => {
  test("after disposal everything is refused, and what waited is told", async ({ skip }) => {
    const device = await openWebGpuForTests();
    if (device === undefined) return skip("no WebGPU adapter");
    const out = device.createBuffer("f32", 4);
    const pending = device.read(out);
    device[Symbol.dispose]();
    await expect(pending).rejects.toThrow(DisposedError);
    expect(() => device.createBuffer("f32", 1)).toThrow(DisposedError);
    await expect(device.finish()).rejects.toThrow(DisposedError);
  });

  test("a lost device says so to whoever waits, and afterwards", async ({ skip }) => {
    const device = await openWebGpuForTests();
    if (device === undefined) return skip("no WebGPU adapter");
    const out = device.createBuffer("f32", 4);
    device.opened.device.destroy(); // as a driver reset would look
    expect(await device.lost).toBeTypeOf("string");
    await expect(device.finish()).rejects.toThrow("lost");
    await expect(device.read(out)).rejects.toMatchObject({ code: "DEVICE_LOST" });
    device[Symbol.dispose]();
  });

  test("a failed allocation is told to whoever waits, and the device remains usable", async ({ skip }) => {
    const device = await openWebGpuForTests();
    if (device === undefined) return skip("no WebGPU adapter");
    const gpuDevice = device.opened.device;
    const { popErrorScope } = gpuDevice;
    gpuDevice.popErrorScope = async function () {
      await popErrorScope.call(this);
      return { message: "made up" };
    };
    const failed = device.createBuffer("f32", 4);
    gpuDevice.popErrorScope = popErrorScope;
    await expect(device.read(failed)).rejects.toMatchObject({ code: "OUT_OF_MEMORY" });
    using fine = device.createBuffer("f32", 4);
    expect(await device.read(fine)).toEqual(new Float32Array(4));
    expect(() => device.write(failed, new Float32Array(4))).toThrow("no memory");
    device[Symbol.dispose]();
  });

  test("work that WebGPU rejects later is told to whoever waits next, once", async ({ skip }) => {
    using device = await openWebGpuForTests();
    if (device === undefined) return skip("no WebGPU adapter");
    const compiled = await device.compile(increment, f32);
    using broken = device.createBuffer("f32", 4);
    broken.memory.destroy();
    device.launch(compiled, { by: 1, out: broken }, { items: 4 });
    await expect(device.finish()).rejects.toThrow(/WebGPU rejected recorded work: .*destroyed/);
    using fine = device.createBuffer("f32", 4);
    device.launch(compiled, { by: 1, out: fine }, { items: 4 });
    expect(await device.read(fine)).toEqual(Float32Array.of(1, 1, 1, 1));
  });

  test("WGSL that is rejected becomes a KernelError with the compiler's message", async ({ skip }) => {
    const device = await openWebGpuForTests();
    if (device === undefined) return skip("no WebGPU adapter");
    const { createShaderModule } = device.opened.device;
    device.opened.device.createShaderModule = function (descriptor) {
      return createShaderModule.call(this, {
        ...descriptor,
        code: `${descriptor.code} fn broken() -> f32 { return 1u; }`,
      });
    };
    const compiling = device.compile(increment, f32);
    await expect(compiling).rejects.toThrow(KernelError);
    await expect(compiling).rejects.toThrow(/increment: the WGSL compiler rejects[^]*u32/);
    device[Symbol.dispose]();
  });
});
