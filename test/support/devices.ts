/** Which devices this machine has, for tests that run on all of them. */
import { createCpuDevice } from "../../src/device/cpu/index.ts";
import type { Device } from "../../src/device/device.ts";
import { openCudaForTests } from "./cuda.ts";
import { isRequired } from "./required.ts";
import { openWebGpuForTests } from "./webgpu.ts";

export interface TestDevice {
  readonly label: string;
  readonly device: Device | undefined;
  /** Why there is no device; shown with the skipped test. */
  readonly missing: string;
}

export interface TestDeviceOptions {
  /** Whether WebGPU shall offer f32x2: its test takes a software adapter some seconds. */
  readonly emulatedDouble?: boolean;
}

/** Opens every back end. One that is absent is reported, or fails if FEYNKAC_REQUIRE names it. The caller disposes. */
export async function openTestDevices(options: TestDeviceOptions = {}): Promise<TestDevice[]> {
  return [openCpu(1), openCpu(3), await openWebGpu(options), await openCuda()];
}

/** One thread, and more threads than most items divide by. */
function openCpu(threads: number): TestDevice {
  const label = threads === 1 ? "cpu, 1 thread" : `cpu, ${threads} threads`;
  return { label, device: createCpuDevice({ threads, share: "always" }), missing: "" };
}

async function openWebGpu({ emulatedDouble = false }: TestDeviceOptions): Promise<TestDevice> {
  const device = await openWebGpuForTests();
  const missing = "no WebGPU adapter here (set FEYNKAC_REQUIRE=webgpu to fail instead)";
  if (device === undefined && isRequired("webgpu")) throw new Error(missing);
  if (emulatedDouble) await device?.enableEmulatedDouble();
  return { label: "webgpu", device, missing };
}

/** A GPU, or the emulator. */
async function openCuda(): Promise<TestDevice> {
  const device = await openCudaForTests();
  const missing = "no NVIDIA GPU here, and no g++ for the emulator (set FEYNKAC_REQUIRE=cuda to fail instead)";
  return { label: device?.info.name.startsWith("Emulated") ? "cuda, emulated" : "cuda", device, missing };
}

export function disposeAll(devices: readonly TestDevice[]): void {
  for (const { device } of devices) device?.[Symbol.dispose]();
}
