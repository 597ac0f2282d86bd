/** The limits of a kernel on a CUDA device. */
import { checkLimits } from "../capabilities.ts";
import type { KernelIR } from "../../kernel/index.ts";
import type { DeviceLimits } from "../device.ts";
import type { CudaDeviceInfo } from "./list.ts";

/** Parameters of a kernel: 4 KiB on every driver; a buffer takes its address and its length. */
const PARAMETER_BYTES = 4096;
const MAX_BUFFERS = 128;

/**
 * Local memory goes to every thread that the GPU can hold at once, whether it runs or not: at 64 KiB each an H200 would
 * set aside 17 GB.
 */
const MAX_PRIVATE_BYTES = 2 ** 16;

/** Returns the limits of a CUDA device. */
export function limitsOf({
  multiprocessors,
  memoryBytes,
  maxGroupSize,
  maxWorkgroupBytes,
}: CudaDeviceInfo): DeviceLimits {
  return {
    maxBufferBytes: memoryBytes,
    maxBuffers: MAX_BUFFERS,
    maxGroupSize,
    maxWorkgroupBytes,
    multiprocessors,
    subgroupSize: 32,
    maxPrivateBytes: MAX_PRIVATE_BYTES,
  };
}

/** Checks a kernel against the limits of a CUDA device. @throws SpecError */
export function checkCudaLimits(ir: KernelIR, limits: DeviceLimits, device: string): void {
  const parameters = 8 + 16 * ir.buffers.length + 8 * ir.scalars.length;
  checkLimits(ir, limits, device, ["bytes of parameters", parameters, PARAMETER_BYTES]);
}
