/** Opening CUDA devices: which there are, what is missing, what "auto" makes of it. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createCudaDevice, cudaDevices } from "../../src/device/cuda/index.ts";
import { quoteLog } from "../../src/device/cuda/program/compile.ts";
import { targetOf } from "../../src/device/cuda/program/target.ts";
import { devices, diagnoseCuda, openDevice } from "../../src/device/index.ts";
import { DeviceUnavailableError, SpecError } from "../../src/base/errors.ts";
import { buildCudaEmulator, controlCudaEmulator } from "../../tools/cuda-emulator/index.ts";
import { type Emulation, emulation, increment, ramp } from "./cuda-kernels.ts";

const emulated = await emulation();
const VARIABLES = ["FEYNKAC_CUDA_DRIVER", "FEYNKAC_NVRTC", "FEYNKAC_CACHE"];
let kept: (string | undefined)[];
beforeEach(() => (kept = VARIABLES.map((name) => process.env[name])));
afterEach(() => VARIABLES.forEach((name, i) => setVariable(name, kept[i])));

function setVariable(name: string, value: string | undefined): void {
  if (value === undefined) delete process.env[name];
  else process.env[name] = value;
}

describe.skipIf(emulated === undefined)("with a driver and NVRTC", () => {
  const { libraries, control } = emulated ?? ({} as Emulation);
  const point = (): void => {
    setVariable("FEYNKAC_CUDA_DRIVER", libraries.driver);
    setVariable("FEYNKAC_NVRTC", libraries.nvrtc);
    setVariable("FEYNKAC_CACHE", "off");
  };

  test("every GPU is listed, and can be had by its index", async () => {
    point();
    control.set("devices", 3);
    const found = await devices("cuda");
    expect(found.map(({ index }) => index)).toEqual([0, 1, 2]);
    expect(found[2]).toMatchObject({ memoryBytes: 2 ** 33, computeCapability: { major: 9, minor: 0 } });
    using device = await openDevice({ backend: "cuda", device: 2 });
    expect(device.name).toBe(`${found[2].name} (CUDA)`);
    await expect(openDevice({ backend: "cuda", device: 3 })).rejects.toThrow(/no GPU 3; expected 0 \(.*2 \(/);
    await expect(openDevice({ backend: "cpu", device: 1 })).rejects.toThrow(SpecError);
  });

  test("several work at the same time, from one thread", async () => {
    control.set("devices", 4);
    const all = await Promise.all([0, 1, 2, 3].map((device) => createCudaDevice({ ...libraries, device })));
    const buffers = all.map((device) => device.createBuffer("f64", 500));
    const compiled = await Promise.all(all.map((device) => device.compile(increment, { precision: "f64" })));
    for (let round = 0; round < 10; round++)
      for (const [i, device] of all.entries())
        for (let k = 0; k <= i; k++) device.launch(compiled[i], { u: buffers[i] }, { items: 500 });
    const results = await Promise.all(all.map((device, i) => device.read(buffers[i])));
    expect(results.map((values) => values[499])).toEqual([10, 20, 30, 40]);
    all[1][Symbol.dispose]();
    all[2].write(buffers[2], ramp(500));
    expect(await all[2].read(buffers[2])).toEqual(ramp(500));
    for (const device of all) device[Symbol.dispose]();
  });

  test("a driver without version 2 of cuCtxCreate serves as well", async () => {
    const other = await buildCudaEmulator({ without: ["cuCtxCreate_v2"] });
    using device = await createCudaDevice({ driver: other!.driver, nvrtc: libraries.nvrtc });
    using u = device.createBuffer("f64", 3);
    expect(await device.read(u)).toEqual(new Float64Array(3));
  });

  test("a driver that does not start says why", async () => {
    const other = await buildCudaEmulator({ without: ["cuMemGetInfo_v2"] }); // one that has not started yet
    const paths = { driver: other!.driver, nvrtc: libraries.nvrtc };
    const broken = await controlCudaEmulator(paths);
    broken!.set("init_error", 100);
    await expect(createCudaDevice(paths)).rejects.toThrow(/does not start: no NVIDIA GPU is visible .*CUDA_VISIBLE/);
    broken!.set("init_error", 803);
    await expect(createCudaDevice(paths)).rejects.toThrow(/of another version .*; reboot/);
    broken!.reset();
    (await createCudaDevice(paths))[Symbol.dispose]();
  });

  test("an old driver without a function that is needed is named", async () => {
    const other = await buildCudaEmulator({ without: ["cuGraphInstantiateWithFlags"] });
    using device = await createCudaDevice({ driver: other!.driver, nvrtc: libraries.nvrtc });
    expect(() => device.record(() => {})).toThrow(/has no function cuGraphInstantiateWithFlags; install a newer/);
    await device.finish();
  });

  test("auto is CUDA for f64 and f32", async () => {
    point();
    for (const options of [{}, { precision: "f64" }, { precision: "f32" }] as const) {
      using device = await openDevice(options);
      expect(device.backend).toBe("cuda");
    }
  });

  test("auto never fails because CUDA is there by half", async () => {
    point();
    setVariable("FEYNKAC_NVRTC", "/nowhere/libnvrtc.so.13");
    using device = await openDevice({});
    expect(device.backend).toBe("cpu");
    await expect(openDevice({ backend: "cuda" })).rejects.toThrow(/NVRTC, .*pip install nvidia-cuda-nvrtc/);
  });

  test("the parts are diagnosed", async () => {
    point();
    control.set("devices", 2);
    const parts = await diagnoseCuda();
    expect(parts.map(({ part, found }) => `${part} ${found}`)).toEqual([
      "koffi true",
      "driver true",
      "nvrtc true",
      "gpu true",
      "gpu true",
    ]);
    expect(parts[1].detail).toMatch(/^CUDA 13\.0, .*libcuda\.so\.1$/);
    expect(parts[4].detail).toMatch(/^1: .*, 8\.0 GiB, compute capability 9\.0$/);
    setVariable("FEYNKAC_NVRTC", "/nowhere/libnvrtc.so.13");
    expect((await diagnoseCuda())[2]).toMatchObject({ part: "nvrtc", found: false, remedy: expect.any(String) });
  });
});

describe("without", () => {
  test("a driver, the error says so and how to get it; auto is the CPU", async () => {
    setVariable("FEYNKAC_CUDA_DRIVER", "/nowhere/libcuda.so.1");
    for (const opening of [createCudaDevice(), cudaDevices(), openDevice({ backend: "cuda" })]) {
      await expect(opening).rejects.toThrow(DeviceUnavailableError);
      await expect(opening).rejects.toThrow(/driver.*is not here; install/);
    }
    using device = await openDevice({});
    expect(device.backend).toBe("cpu");
    expect(await diagnoseCuda()).toContainEqual(expect.objectContaining({ part: "driver", found: false }));
  });

  test("a driver that is no library, the error says why", async () => {
    const directory = mkdtempSync(join(tmpdir(), "feynkac-driver-"));
    try {
      mkdirSync(join(directory, "lib"));
      const file = join(directory, "lib", "libcuda.so.1");
      writeFileSync(file, "no library");
      await expect(createCudaDevice({ driver: file })).rejects.toThrow(file);
    } finally {
      rmSync(directory, { recursive: true });
    }
  });
});

describe("the target", () => {
  const nvrtc = { architectures: [75, 80, 86, 90, 100], version: { major: 13, minor: 0 }, path: "libnvrtc.so.13" };
  const gpu = (major: number, minor: number): Parameters<typeof targetOf>[0] => ({
    name: "GPU",
    computeCapability: { major, minor },
  });

  test("is the GPU's own architecture", () => {
    expect(targetOf(gpu(9, 0), nvrtc)).toEqual({ architecture: "sm_90", kind: "cubin" });
    expect(targetOf(gpu(10, 0), nvrtc)).toEqual({ architecture: "sm_100", kind: "cubin" });
  });

  test("is PTX of the newest known for a GPU that is newer, or between", () => {
    expect(targetOf(gpu(12, 1), nvrtc)).toEqual({ architecture: "compute_100", kind: "ptx" });
    expect(targetOf(gpu(8, 9), nvrtc)).toEqual({ architecture: "compute_86", kind: "ptx" });
  });

  test("is none for a GPU that NVRTC has dropped", () => {
    expect(() => targetOf(gpu(7, 0), nvrtc)).toThrow(/GPU has compute capability 7\.0, and NVRTC 13\.0 .* no longer/);
  });
});

test("a compiler's message is quoted with its line and where that comes from", () => {
  const code = ["extern {", "  // affine:3  out[i] = a;", "  out[i] = b;", "}"].join("\n");
  const log = ['affine.cu(3): error: identifier "b" is undefined', "    out[i] = b;", "", "1 error detected"].join(
    "\n",
  );
  expect(quoteLog(code, log)).toBe(
    'CUDA 3: error: identifier "b" is undefined\n  // affine:3  out[i] = a;\n    out[i] = b;',
  );
  expect(quoteLog(code, "nvrtc: error: failed to open libnvrtc-builtins\n")).toBe(
    "nvrtc: error: failed to open libnvrtc-builtins",
  );
});
