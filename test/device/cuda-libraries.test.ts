/** Where the driver and NVRTC are looked for, on machines that are only described. */
import { describe, expect, test } from "vitest";
import { driverPaths, mayHaveGpu } from "../../src/device/cuda/library/driver-paths.ts";
import { type Host, directoriesNewestFirst } from "../../src/device/host.ts";
import { nvrtcPaths } from "../../src/device/cuda/nvrtc.ts";

interface Machine {
  readonly platform?: string;
  readonly architecture?: string;
  readonly files?: readonly string[];
  readonly environment?: Record<string, string>;
}

function machine({ platform = "linux", architecture = "x64", files = [], environment = {} }: Machine): Host {
  const separator = platform === "win32" ? "\\" : "/";
  const below = (directory: string): string[] => files.filter((file) => file.startsWith(directory + separator));
  return {
    platform,
    architecture,
    environment,
    home: platform === "win32" ? "C:\\Users\\ada" : "/home/ada",
    exists: (path) => files.includes(path) || below(path).length > 0,
    list: (directory) => [
      ...new Set(below(directory).map((file) => file.slice(directory.length + 1).split(separator)[0])),
    ],
  };
}

const withPaths = (paths: readonly string[]): string[] => paths.filter((path) => /[\\/]/.test(path));

describe("the driver", () => {
  test("is the loader's first, then where it is known to hide", () => {
    const files = ["/usr/lib/wsl/lib/libcuda.so.1", "/usr/lib64/libcuda.so.1"];
    expect(driverPaths(machine({ files }))).toEqual(["libcuda.so.1", ...files]);
    expect(driverPaths(machine({}))).toEqual(["libcuda.so.1"]);
  });

  test("is what the environment names, and nothing else", () => {
    const environment = { FEYNKAC_CUDA_DRIVER: "/opt/fake/libcuda.so.1" };
    expect(driverPaths(machine({ environment, files: ["/usr/lib64/libcuda.so.1"] }))).toEqual([
      "/opt/fake/libcuda.so.1",
    ]);
  });

  test("is nvcuda.dll on Windows, and nowhere on macOS", () => {
    const dll = "D:\\Windows\\System32\\nvcuda.dll";
    const windows = machine({ platform: "win32", files: [dll], environment: { SystemRoot: "D:\\Windows" } });
    expect(driverPaths(windows)).toEqual([dll]);
    expect(driverPaths(machine({ platform: "darwin" }))).toEqual([]);
  });

  test.each([
    ["a data centre's machine", { files: ["/dev/nvidiactl"] }, true],
    ["the Windows subsystem", { files: ["/dev/dxg"] }, true],
    ["a laptop without", { files: ["/dev/dri/card0"] }, false],
    ["libcuda without a GPU", { files: ["/usr/lib64/libcuda.so.1"] }, false],
    [
      "a driver given by path",
      { files: ["/e/libcuda.so.1"], environment: { FEYNKAC_CUDA_DRIVER: "/e/libcuda.so.1" } },
      true,
    ],
    ["a driver given that is not there", { environment: { FEYNKAC_CUDA_DRIVER: "/e/libcuda.so.1" } }, false],
    ["macOS", { platform: "darwin", files: ["/dev/nvidiactl"] }, false],
    ["Windows without the driver", { platform: "win32" }, false],
  ])("on %s there may be a GPU: %#", (_, described, expected) => {
    expect(mayHaveGpu(machine(described))).toBe(expected);
  });
});

describe("NVRTC", () => {
  test.each([
    ["CUDA_PATH", { CUDA_PATH: "/opt/cuda-12.4" }, "/opt/cuda-12.4/lib64/libnvrtc.so.12"],
    ["CUDA_HOME", { CUDA_HOME: "/opt/c" }, "/opt/c/targets/x86_64-linux/lib/libnvrtc.so.13"],
    ["a conda environment", { CONDA_PREFIX: "/conda/e" }, "/conda/e/lib/libnvrtc.so.12"],
    [
      "pip, CUDA 13, in a virtual environment",
      { VIRTUAL_ENV: "/venv" },
      "/venv/lib/python3.12/site-packages/nvidia/cu13/lib/libnvrtc.so.13",
    ],
    [
      "pip, CUDA 12, in a conda environment",
      { CONDA_PREFIX: "/conda/e" },
      "/conda/e/lib/python3.11/site-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12",
    ],
  ])("of %s comes before the loader's", (_, environment, file) => {
    const places = nvrtcPaths(machine({ environment, files: [file, "/usr/local/cuda/lib64/libnvrtc.so.13"] }));
    expect(withPaths(places)).toEqual([file, "/usr/local/cuda/lib64/libnvrtc.so.13"]);
    expect(places.indexOf(file)).toBeLessThan(places.indexOf("libnvrtc.so.13"));
  });

  test("is found without any environment, the newest toolkit first", () => {
    const files = [
      "/usr/local/cuda-9.2/lib64/libnvrtc.so",
      "/usr/local/cuda-12.6/lib64/libnvrtc.so.12",
      "/usr/local/cuda-13.0/targets/x86_64-linux/lib/libnvrtc.so.13",
      "/opt/cuda/lib64/libnvrtc.so.12",
      "/opt/nvidia/hpc_sdk/Linux_x86_64/24.5/cuda/lib64/libnvrtc.so.12",
      "/usr/lib/x86_64-linux-gnu/libnvrtc.so.11.2",
      "/home/ada/.local/lib/python3.10/site-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12",
      "/usr/lib/python3/dist-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12",
    ];
    const places = nvrtcPaths(machine({ files }));
    expect(withPaths(places)).toEqual([files[2], files[1], files[0], ...files.slice(3)]);
    expect(places.slice(0, 4)).toEqual(["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so"]);
  });

  test("of 64-bit ARM lies in other folders", () => {
    const files = [
      "/usr/local/cuda/targets/sbsa-linux/lib/libnvrtc.so.13",
      "/usr/lib/aarch64-linux-gnu/libnvrtc.so.12",
    ];
    expect(withPaths(nvrtcPaths(machine({ architecture: "arm64", files })))).toEqual(files);
  });

  test("on Windows is found in toolkits, conda and pip", () => {
    const toolkit = "C:\\Program Files\\NVIDIA GPU Computing Toolkit\\CUDA";
    const files = [
      `${toolkit}\\v13.0\\bin\\x64\\nvrtc64_130_0.dll`,
      `${toolkit}\\v12.6\\bin\\nvrtc64_120_0.dll`,
      "C:\\conda\\Library\\bin\\nvrtc64_120_0.dll",
      "C:\\venv\\Lib\\site-packages\\nvidia\\cu13\\bin\\x86_64\\nvrtc64_130_0.dll",
    ];
    const environment = { ProgramFiles: "C:\\Program Files", CONDA_PREFIX: "C:\\conda", VIRTUAL_ENV: "C:\\venv" };
    const others = [
      `${toolkit}\\v12.6\\bin\\nvrtc64_120_0.alt.dll`,
      `${toolkit}\\v12.6\\bin\\nvrtc-builtins64_126.dll`,
    ];
    expect(nvrtcPaths(machine({ platform: "win32", environment, files: [...files, ...others] }))).toEqual(files);
  });

  test("is what the environment names, and nothing else", () => {
    const environment = { FEYNKAC_NVRTC: "/e/libnvrtc.so.13" };
    const files = ["/usr/local/cuda/lib64/libnvrtc.so.13"];
    expect(nvrtcPaths(machine({ environment, files }))).toEqual(["/e/libnvrtc.so.13"]);
  });
});

test("versions are compared as numbers", () => {
  const host = machine({ files: ["/r/cuda-9.2/x", "/r/cuda-10.1/x", "/r/cuda/x", "/r/cuda-10.0/x"] });
  expect(directoriesNewestFirst(host, "/r", /^cuda-[\d.]+$/)).toEqual(["/r/cuda-10.1", "/r/cuda-10.0", "/r/cuda-9.2"]);
});
