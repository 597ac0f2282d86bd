/** A CUDA device for tests: the machine's own GPU, or the emulator that runs kernels on the CPU. */
import { createCudaDevice, type CudaDevice, type CudaDeviceOptions } from "../../src/device/cuda/index.ts";
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

/** The folder of kernels that test files share (test/support/compiled.ts), or none that was named. */
const SHARED = /^$|\/\.cache\/kernels$/;

/** The emulator's own cache of compiled kernels is enough; its images must not meet a real driver's. */
export async function openEmulatedCuda(options: CudaDeviceOptions = {}): Promise<CudaDevice | undefined> {
  const libraries = await buildCudaEmulator();
  if (libraries === undefined) return undefined;
  if (SHARED.test(process.env["FEYNKAC_CACHE"] ?? "")) process.env["FEYNKAC_CACHE"] = "off";
  return createCudaDevice({ memory: "exact", ...libraries, ...options });
}
