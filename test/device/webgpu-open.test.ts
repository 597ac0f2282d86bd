import { describe, expect, test } from "vitest";
import { createWebGpuDevice } from "../../src/device/webgpu/index.ts";
import { openDevice } from "../../src/device/index.ts";
import { DeviceUnavailableError, PrecisionError } from "../../src/base/errors.ts";
import { openWebGpuForTests } from "../support/webgpu.ts";

describe("openDevice", () => {
  test("opens the CPU by default, which has both precisions", async () => {
    using device = await openDevice({ threads: 1 });
    expect(device.backend).toBe("cpu");
    expect(device.precisions).toEqual(expect.arrayContaining(["f64", "f32"]));
  });

  test("never takes a software GPU for f32", async ({ skip }) => {
    using gpu = await openWebGpuForTests();
    if (gpu === undefined) return skip("no WebGPU adapter");
    using device = await openDevice({ precision: "f32", threads: 1 });
    expect(device.backend).toBe(gpu.software ? "cpu" : "webgpu");
  });

  test("refuses a back end without the precision that is asked for", async () => {
    const opening = openDevice({ backend: "cpu", precision: "f32x2" });
    await expect(opening).rejects.toThrow(PrecisionError);
    await expect(opening).rejects.toThrow("offers f64, f32, not f32x2");
  });

  test("says that CUDA is not here yet", async () => {
    await expect(openDevice({ backend: "cuda" })).rejects.toThrow(DeviceUnavailableError);
    await expect(openDevice({ backend: "metal" as never })).rejects.toThrow('unknown backend "metal"');
  });
});

describe("createWebGpuDevice", () => {
  const gpuWith = (adapter: Partial<GPUAdapter> | null) => ({ requestAdapter: async () => adapter }) as unknown as GPU;

  test("without an adapter it says what to install", async () => {
    const opening = createWebGpuDevice({ gpu: gpuWith(null) });
    await expect(opening).rejects.toThrow(DeviceUnavailableError);
    await expect(opening).rejects.toThrow(/libvulkan1/);
  });

  test("an adapter that gives no device is named, and the cause kept", async () => {
    const cause = new Error("no");
    const adapter = {
      info: { device: "Some GPU", description: "", vendor: "", architecture: "" } as GPUAdapterInfo,
      features: new Set<string>() as unknown as GPUSupportedFeatures,
      limits: {} as GPUSupportedLimits,
      requestDevice: () => Promise.reject(cause),
    };
    await expect(createWebGpuDevice({ gpu: gpuWith(adapter) })).rejects.toMatchObject({
      message: 'WebGPU: the adapter "Some GPU" gives no device',
      cause,
    });
  });
});
