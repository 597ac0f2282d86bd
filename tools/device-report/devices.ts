/** Opens the devices that are here, says what they are made of, and why others are not. */
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { availableParallelism } from "node:os";
import { cpuName } from "../../bench/harness.ts";
import { createCpuDevice } from "../../src/device/cpu/index.ts";
import { createCudaDevice, diagnoseCuda } from "../../src/device/cuda/index.ts";
import type { BackendName, Device } from "../../src/device/device.ts";
import type { WebGpuDevice } from "../../src/device/webgpu/index.ts";
import type { Precision } from "../../src/kernel/index.ts";
import { openWebGpuHere } from "../../test/support/webgpu.ts";
import type { Target } from "./check.ts";

/** A device that is here. */
export interface Opened {
  readonly backend: BackendName;
  readonly device: Device;
  readonly name: string;
  /** Driver, libraries, adapter, with their versions. */
  readonly software: string;
  /** Precisions that it might offer and does not, each with the reason. */
  readonly missing: readonly { readonly precision: Precision; readonly reason: string }[];
}

/** More threads than this make nothing more certain. */
const MOST_THREADS = 8;

/** @throws whatever opening throws: the reason why the device is not here */
export async function open(backend: BackendName): Promise<Opened> {
  switch (backend) {
    case "cpu":
      return openCpu();
    case "cuda":
      return openCuda();
    case "webgpu":
      return openWebGpu();
    default:
      throw new Error(`unknown backend ${JSON.stringify(backend satisfies never)}`);
  }
}

function openCpu(): Opened {
  const device = createCpuDevice({ threads: Math.min(availableParallelism(), MOST_THREADS), share: "always" });
  return { backend: "cpu", device, name: cpuName(), software: device.name, missing: [] };
}

async function openCuda(): Promise<Opened> {
  const emulated = isEmulated();
  const device = await createCudaDevice(emulated ? { memory: "exact" } : {});
  const parts = await diagnoseCuda();
  const versions = parts.map(({ part, detail }) => `${part} ${withoutFolders(detail)}`);
  const software = [...kernelDriver(), ...versions].join("; ");
  return { backend: "cuda", device, name: device.name, software, missing: [] };
}

async function openWebGpu(): Promise<Opened> {
  const device = await openWebGpuHere();
  const { info } = device.opened.adapter;
  const adapter = [info.vendor, info.architecture, info.device, info.description].filter((text) => text !== "");
  const software = [`webgpu ${packageVersion("webgpu")}`, `adapter ${adapter.join(", ")}`, ...kernelDriver()].join(
    "; ",
  );
  return { backend: "webgpu", device, name: device.name, software, missing: await emulatedDouble(device) };
}

async function emulatedDouble(device: WebGpuDevice): Promise<Opened["missing"]> {
  try {
    await device.enableEmulatedDouble();
    return [];
  } catch (error) {
    return [{ precision: "f32x2", reason: messageOf(error) }];
  }
}

/** Each precision of a device; f64 of CUDA and f32 twice, with contraction and without. */
export function targetsOf({ device, name }: Opened): Target[] {
  const fmas = device.backend === "cuda" ? (["contract", "exact"] as const) : (["contract"] as const);
  return device.precisions.flatMap((precision) => fmas.map((fma) => ({ device, name, precision, fma })));
}

/**
 * Has CUDA's libraries be the emulator's. Everything that looks for them looks there first.
 * @throws Error (no g++; not a checkout)
 */
export async function useCudaEmulator(): Promise<void> {
  const libraries = await buildEmulator();
  if (libraries === undefined) throw new Error("--cuda-emulator: needs Linux and g++");
  process.env["FEYNKAC_CUDA_DRIVER"] = libraries.driver;
  process.env["FEYNKAC_NVRTC"] = libraries.nvrtc;
  process.env["FEYNKAC_CACHE"] = "off";
}

async function buildEmulator(): Promise<{ readonly driver: string; readonly nvrtc: string } | undefined> {
  try {
    const { buildCudaEmulator } = await import("../cuda-emulator/index.ts");
    return await buildCudaEmulator();
  } catch (cause) {
    throw new Error(`--cuda-emulator: works in a checkout, with g++: ${messageOf(cause)}`, { cause });
  }
}

/** "CUDA 13.0, /usr/lib/libcuda.so.1": where it lies says nothing elsewhere. */
const withoutFolders = (detail: string): string => detail.replaceAll(/\/[^ ,;]*\//g, "");

const isEmulated = (): boolean => /emulator/.test(process.env["FEYNKAC_CUDA_DRIVER"] ?? "");

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** "NVRM version: NVIDIA UNIX x86_64 Kernel Module 580.82.07 …" of Linux, down to the number. */
function kernelDriver(): string[] {
  const place = "/proc/driver/nvidia/version";
  if (!existsSync(place)) return [];
  const text = readFileSync(place, "utf8");
  return [`NVIDIA driver ${/\d+\.\d+(\.\d+)?/.exec(text)?.[0] ?? text.split("\n")[0]}`];
}

function packageVersion(name: string): string {
  try {
    const require = createRequire(import.meta.url);
    return (require(`${name}/package.json`) as { version: string }).version;
  } catch {
    return "of unknown version";
  }
}
