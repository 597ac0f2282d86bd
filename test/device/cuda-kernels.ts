/** Kernels, and an emulated GPU, for the tests of the CUDA device. */
import { afterEach, beforeAll } from "vitest";
import type { CudaDevice, CudaDeviceOptions } from "../../src/device/cuda/index.ts";
import { i32, kernel, read, real, write } from "../../src/kernel/index.ts";
import {
  buildCudaEmulator,
  controlCudaEmulator,
  type CudaEmulatorControl,
  type CudaEmulatorPaths,
} from "../../tools/cuda-emulator/index.ts";
import { openEmulatedCuda } from "../support/cuda.ts";

export const affine = kernel({
  name: "affine",
  params: { scale: real, shift: i32, u: read(real), out: write(real) },
  body({ scale, shift, u, out }, gpu) {
    const i = gpu.globalId();
    out[i] = scale * u[i] + gpu.real(shift);
  },
});

export const increment = kernel({
  name: "increment",
  params: { u: write(real) },
  body({ u }, gpu) {
    const i = gpu.globalId();
    u[i] = u[i] + 1;
  },
});

/** Writes far beyond its buffer. */
export const stray = kernel({
  name: "stray",
  params: { u: write(real) },
  body({ u }, gpu) {
    u[gpu.globalId() + 1_000_000_000] = 1;
  },
});

export const ramp = (length: number): Float64Array => Float64Array.from({ length }, (_, i) => i);

export interface Emulation {
  readonly libraries: CudaEmulatorPaths;
  readonly control: CudaEmulatorControl;
  open(options?: CudaDeviceOptions): Promise<CudaDevice>;
}

export const NO_EMULATOR = "no g++ here to build the CUDA emulator with";

/** Settings of the emulator are taken back after each test. */
export async function emulation(): Promise<Emulation | undefined> {
  const libraries = await buildCudaEmulator();
  const control = libraries && (await controlCudaEmulator(libraries));
  if (libraries === undefined || control === undefined) return undefined;
  beforeAll(() => control.reset());
  afterEach(() => control.reset());
  const open = async (options?: CudaDeviceOptions): Promise<CudaDevice> => {
    const device = await openEmulatedCuda(options);
    if (device === undefined) throw new Error(NO_EMULATOR);
    return device;
  };
  return { libraries, control, open };
}
