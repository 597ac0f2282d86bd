/** What threads and processes share of a GPU: a context, and kernels on disk. */
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { KernelCache } from "../../src/device/cache/kernel-cache.ts";
import { ProgramStore } from "../../src/device/cache/stored.ts";
import type { CudaDevice } from "../../src/device/cuda/index.ts";
import type { CudaImage } from "../../src/device/cuda/program/compiler.ts";
import { thisHost } from "../../src/device/host.ts";
import { ShapeError } from "../../src/base/errors.ts";
import { affine, type Emulation, emulation, increment, ramp, stray } from "./cuda-kernels.ts";

const emulated = await emulation();

async function incremented(device: CudaDevice): Promise<Float64Array> {
  const compiled = await device.compile(increment, { precision: "f64" });
  using u = device.createBuffer("f64", 1000);
  device.write(u, ramp(1000));
  device.launch(compiled, { u }, { items: 1000 });
  return await device.read(u);
}
const expected = ramp(1000).map((x) => x + 1);

describe.skipIf(emulated === undefined)("a context", () => {
  const { open, control } = emulated ?? ({} as Emulation);

  test("is shared by devices of several threads, each with a stream of its own, and ends with its owner", async () => {
    const owner = await open();
    const shared = owner.parts?.options[0].shared;
    if (shared === undefined) throw new Error("a single core has no parts");
    const other = await open({ shared });
    expect(control.live).toMatchObject({ contexts: 1, streams: 2 });
    expect(await Promise.all([incremented(owner), incremented(other)])).toEqual([expected, expected]);
    const foreign = await owner.compile(increment, { precision: "f64" });
    using u = other.createBuffer("f64", 1000);
    expect(() => other.launch(foreign, { u }, { items: 1000 })).toThrow(ShapeError);
    expect(control.live.modules).toBe(1);
    other[Symbol.dispose]();
    expect(control.live).toMatchObject({ contexts: 1, streams: 1 });
    expect(await incremented(owner)).toEqual(expected);
    owner[Symbol.dispose]();
    expect(control.live.contexts).toBe(0);
  });

  test("of each of several GPUs serves every second thread; the device's own work runs on the first", async () => {
    control.set("devices", 2);
    const device = await open({ device: [1, 0] });
    expect([device.name, device.info.index]).toEqual(["2 × Emulated GPU (CUDA)", 1]);
    const options = device.parts?.options ?? [];
    expect(options.slice(0, 2).map((part) => part.device)).toEqual([1, 0]);
    expect(options[0].shared?.context).not.toBe(options[1].shared?.context);
    const parts = await Promise.all(
      options.slice(0, 2).map(({ device: index, shared }) => open({ device: index!, shared: shared! })),
    );
    expect(await Promise.all(parts.map(incremented))).toEqual([expected, expected]);
    expect(await incremented(device)).toEqual(expected);
    for (const one of [...parts, device]) one[Symbol.dispose]();
    expect(control.live.contexts).toBe(0);
    await expect(open({ device: [0, 5] })).rejects.toThrow("no GPU 5");
    expect(control.live.contexts).toBe(0);
  });

  test("outlives its owner until the threads that use it have ended", async () => {
    const owner = await open();
    let end = (): void => {};
    const ended = new Promise<void>((resolve) => (end = resolve));
    let isTold = false;
    owner.parts?.keep({ ended, [Symbol.dispose]: () => void (isTold = true) });
    owner[Symbol.dispose]();
    expect([isTold, control.live.contexts]).toEqual([true, 1]);
    end();
    await ended;
    await Promise.resolve();
    await Promise.resolve();
    expect(control.live.contexts).toBe(0);
  });
});

describe.skipIf(emulated === undefined)("kernels on disk", () => {
  const { open, control } = emulated ?? ({} as Emulation);

  test("are compiled once, and again where the driver turns them down", async () => {
    const folder = mkdtempSync(join(tmpdir(), "feynkac-cuda-"));
    try {
      const host = { ...thisHost(), environment: { FEYNKAC_CACHE: folder } };
      const stored = new ProgramStore<CudaImage>("CUDA", "build 1", new KernelCache(host));
      const compilations = (): number => control.done.compiler_runs + control.done.cache_hits;
      const before = compilations();
      const devices = await Promise.all([open({ stored }), open({ stored }), open({ stored })]);
      expect(await Promise.all(devices.map(incremented))).toEqual([expected, expected, expected]);
      expect(compilations()).toBe(before + 1);
      for (const device of devices) device[Symbol.dispose]();

      const damaged = new ProgramStore<CudaImage>("CUDA", "build 1", new KernelCache(host));
      const find = damaged.find.bind(damaged);
      damaged.find = (text) => {
        const image = find(text);
        return image && { ...image, bytes: new Uint8Array(100) };
      };
      using device = await open({ stored: damaged });
      expect(await incremented(device)).toEqual(expected);
      expect(compilations()).toBe(before + 2);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test("are those, too, that are likely to follow one that is compiled", async () => {
    const folder = mkdtempSync(join(tmpdir(), "feynkac-cuda-"));
    try {
      const host = { ...thisHost(), environment: { FEYNKAC_CACHE: folder } };
      const stored = new ProgramStore<CudaImage>("CUDA", "build 1", new KernelCache(host));
      const compilations = (): number => control.done.compiler_runs + control.done.cache_hits;
      const before = compilations();
      using device = await open({ stored });
      await device.compile(increment, { precision: "f64", followers: () => [affine, increment] });
      await vi.waitFor(
        () => expect(readdirSync(folder).filter((name) => name.endsWith(".kernel"))).toHaveLength(2),
        60_000,
      );
      expect(control.live.modules).toBe(1);
      using other = await open({ stored });
      await other.compile(increment, { precision: "f64", followers: () => [stray] }); // found, so nothing follows
      await other.compile(affine, { precision: "f64" });
      expect(compilations()).toBe(before + 2);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
