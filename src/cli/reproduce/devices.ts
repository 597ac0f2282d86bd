import { availableParallelism } from "node:os";
import { type Device, isGpu, openDevice, type OpenOptions } from "../../device/index.ts";
import { DeviceUnavailableError, PrecisionError } from "../../errors.ts";
import type { EngineOptions } from "../choose-backend.ts";

/** Opens a device: `openDevice`, or what stands in for it in tests. */
export type Open = (options: OpenOptions) => Promise<Device>;

/** Opens the CPU with so many threads. This thread stays free to hear of Ctrl-C. */
export const openCores = async (threads: number, { precision }: EngineOptions): Promise<Device> =>
  openDevice({ backend: "cpu", threads, share: "always", precision });

/**
 * The number of threads of the CPU that are compared with one; undefined if only a GPU is to be, or if there is one
 * only.
 */
export function allCores({ backend, threads = availableParallelism() }: EngineOptions): number | undefined {
  return (backend === "auto" || backend === "cpu") && threads > 1 ? threads : undefined;
}

export interface Gpus {
  /** The devices, to be disposed. */
  readonly devices: readonly Device[];
  /** The reasons why others are not there. */
  readonly missing: readonly string[];
}

/**
 * The GPU of a back end that is named; with "auto" all that there are in hardware.
 * @throws DeviceUnavailableError | PrecisionError of a back end that is named
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
