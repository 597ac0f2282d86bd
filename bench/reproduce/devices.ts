import { availableParallelism } from "node:os";
import { type Device, isGpu, openDevice, type OpenOptions } from "../../src/device/index.ts";
import { DeviceUnavailableError, PrecisionError } from "../../src/base/errors.ts";
import type { EngineOptions } from "../../src/cli/choose-backend.ts";

/** A function that opens a device. Tests replace `openDevice` by another one. */
export type Open = (options: OpenOptions) => Promise<Device>;

/** Opens the CPU with a number of threads in addition to the calling thread, which stays responsive to Ctrl-C. */
export const openCores = async (threads: number, { precision }: EngineOptions): Promise<Device> =>
  openDevice({ backend: "cpu", threads, share: "always", precision });

/**
 * Returns the number of CPU threads whose speed is compared with that of one thread. Undefined if only a GPU is
 * measured, or if there is one core.
 */
export function allCores({ backend, threads = availableParallelism() }: EngineOptions): number | undefined {
  return (backend === "auto" || backend === "cpu") && threads > 1 ? threads : undefined;
}

/** The GPUs that could be opened, and the reasons for which others could not. */
export interface Gpus {
  /** The devices, which the caller disposes. */
  readonly devices: readonly Device[];
  /** The reasons for which other GPUs could not be opened. */
  readonly missing: readonly string[];
}

/**
 * Opens the GPU of the back end that the options name, or, with "auto", all hardware GPUs. @throws
 * DeviceUnavailableError | PrecisionError for a named back end
 */
export async function openGpus(options: EngineOptions, open: Open = openDevice): Promise<Gpus> {
  const { backend, device, precision } = options;
  if (backend === "cpu") return { devices: [], missing: [] };
  if (backend !== "auto")
    return {
      devices: [await open({ backend, precision, ...(device === undefined ? {} : { device }) })],
      missing: [],
    };
  const devices: Device[] = [];
  const missing: string[] = [];
  for (const candidate of ["cuda", "webgpu"] as const) {
    try {
      const opened = await open({ backend: candidate, precision });
      if (isGpu(opened)) devices.push(opened);
      else {
        missing.push(`${opened.name} runs on the CPU`);
        opened[Symbol.dispose]();
      }
    } catch (error) {
      if (!(error instanceof DeviceUnavailableError || error instanceof PrecisionError)) throw error;
      missing.push(error.message);
    }
  }
  return { devices, missing };
}
