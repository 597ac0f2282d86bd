/** The CPU back end. Kernels run as WebAssembly SIMD on all cores. */
import { SpecError } from "../../base/errors.ts";
import { CpuDevice, checkVectors } from "./device.ts";
import { type ProgramStore, programStoreOf } from "../cache/stored.ts";
import type { ProgramImage } from "./programs.ts";
import { coreCount, startThread } from "./thread.ts";

export { CpuDevice } from "./device.ts";

/** The options of `createCpuDevice`. */
export interface CpuDeviceOptions {
  /** The number of worker threads; every core by default. With 1 the calling thread computes. */
  readonly threads?: number;
  /**
   * True for memory that is shared with worker threads, which is the default if SharedArrayBuffer exists. Without
   * shared memory there is one thread.
   */
  readonly sharedMemory?: boolean;
  /**
   * When launches run on worker threads. "when-quicker", the default, runs short launches on the calling thread.
   * "always" runs every launch on a worker thread, so that the calling thread stays responsive.
   */
  readonly share?: "when-quicker" | "always";
  /** The number of SIMD vectors that generated code computes side by side: 1, 2, 4 or 8. */
  readonly vectors?: number;
  /** The cache of compiled programs on disk; by default that of the built package, in Node. */
  readonly stored?: ProgramStore<ProgramImage>;
}

/** The largest number of threads that may be requested, so that a typing error does not start thousands of workers. */
const MAX_THREADS = 1024;

/** Creates a CPU device. @throws SpecError */
export function createCpuDevice(options: CpuDeviceOptions = {}): CpuDevice {
  const shared = options.sharedMemory ?? canShareMemory();
  const threads = options.threads ?? coreCount();
  if (!Number.isInteger(threads) || threads < 1 || threads > MAX_THREADS)
    throw new SpecError(`threads: got ${threads}, expected a whole number from 1 to ${MAX_THREADS}`);
  const { vectors } = options;
  checkVectors(vectors);
  return new CpuDevice({
    threads: shared ? threads : 1,
    shared,
    vectors,
    stored: options.stored ?? programStoreOf("WebAssembly"),
    startThread,
    alwaysShare: shared && options.share === "always",
  });
}

/**
 * Tells whether memory can be shared with workers. Browser pages need cross-origin isolation (two HTTP headers) for
 * this.
 */
function canShareMemory(): boolean {
  return typeof SharedArrayBuffer !== "undefined" && globalThis.crossOriginIsolated !== false;
}
