/** Devices: the one interface, and how to open each back end. */
import { DeviceUnavailableError, PrecisionError } from "../errors.ts";
import type { Precision } from "../kernel/index.ts";
import { createCpuDevice } from "./cpu/index.ts";
import type { BackendName, Device } from "./device.ts";

export type * from "./device.ts";

export interface OpenOptions {
  /**
   * "auto" (the default) is the CPU, except for `precision: "f32"`, where it is a GPU through WebGPU if there is one that
   * is not emulated in software. It never trades precision for speed: f64 is always the CPU's in this version.
   */
  readonly backend?: BackendName | "auto";
  /** Threads of the CPU back end; every core by default. */
  readonly threads?: number;
  /** What `real` will have to be: the device offers it, or opening fails. */
  readonly precision?: Precision;
}

/**
 * Opens a device. Dispose it with `using`, or its threads and memory stay.
 * @throws DeviceUnavailableError (with what is missing and how to get it) | PrecisionError
 */
export async function openDevice(options: OpenOptions = {}): Promise<Device> {
  const device = await open(options);
  const { precision } = options;
  if (precision === undefined || device.precisions.includes(precision)) return device;
  const { name, precisions } = device;
  device[Symbol.dispose]();
  throw new PrecisionError(`${name}: offers ${precisions.join(", ")}, not ${precision}; the CPU offers f64`);
}

function open({ backend = "auto", threads, precision }: OpenOptions): Promise<Device> {
  const cpu = async (): Promise<Device> => createCpuDevice(threads === undefined ? {} : { threads });
  switch (backend) {
    case "auto":
      return precision === "f32" ? openHardwareGpu().then((gpu) => gpu ?? cpu()) : cpu();
    case "cpu":
      return cpu();
    case "webgpu":
      return openWebGpu();
    case "cuda":
      return Promise.reject(
        new DeviceUnavailableError("CUDA is not in this version; use the backends cpu (f64, f32) or webgpu (f32)"),
      );
    default:
      return Promise.reject(
        new DeviceUnavailableError(
          `unknown backend ${JSON.stringify(backend satisfies never)}, expected auto, cpu, webgpu or cuda`,
        ),
      );
  }
}

/** Loaded on demand, so that who only uses the CPU loads none of it. */
async function openWebGpu(): Promise<Device> {
  const { createWebGpuDevice } = await import("./webgpu/index.ts");
  return createWebGpuDevice();
}

async function openHardwareGpu(): Promise<Device | undefined> {
  const { createWebGpuDevice } = await import("./webgpu/index.ts");
  try {
    const device = await createWebGpuDevice();
    if (!device.software) return device;
    device[Symbol.dispose]();
  } catch (error) {
    if (!(error instanceof DeviceUnavailableError)) throw error;
  }
  return undefined;
}
