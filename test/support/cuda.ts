/** A CUDA device for tests: the machine's own GPU, or the emulator that runs kernels on the CPU. */
import { createCudaDevice, type CudaDevice, type CudaDeviceOptions } from "../../src/device/cuda/index.ts";
import { buildId, ProgramStore } from "../../src/device/cache/stored.ts";
import type { CudaImage } from "../../src/device/cuda/program/compiler.ts";
import { cudaMayBeHere } from "../../src/device/cuda/library/driver-paths.ts";
import { DeviceUnavailableError } from "../../src/base/errors.ts";
import { buildCudaEmulator } from "../../tools/cuda-emulator/index.ts";
import { isRequired } from "./required.ts";

/**
 * Opens a device; undefined where there is neither a GPU nor a compiler for the emulator, and none is required. Memory
 * is exact, since the emulator watches the edges of every allocation.
 */
export async function openCudaForTests(options: CudaDeviceOptions = {}): Promise<CudaDevice | undefined> {
  try {
    if (cudaMayBeHere()) return await createCudaDevice({ memory: "exact", ...options });
  } catch (error) {
    if (!(error instanceof DeviceUnavailableError) || isRequired("cuda")) throw error;
  }
  return openEmulatedCuda(options);
}

/** Opens the emulator. Its images are kept by its own name, since they must not meet a real driver's. */
export async function openEmulatedCuda(options: CudaDeviceOptions = {}): Promise<CudaDevice | undefined> {
  const libraries = await buildCudaEmulator();
  if (libraries === undefined) return undefined;
  const stored = new ProgramStore<CudaImage>(`CUDA by ${libraries.nvrtc}`, buildId() ?? "sources");
  return createCudaDevice({ memory: "exact", stored, ...libraries, ...options });
}
