/** Devices: the common interface of the CPU, WebGPU and CUDA back ends, and functions that open a device. */
import { DeviceUnavailableError, SpecError } from "../base/errors.ts";
import { checkDevice } from "../base/argument-checks.ts";
import type { Precision } from "../kernel/index.ts";
import { createCpuDevice } from "./cpu/index.ts";
import type { CudaDevice, CudaDeviceInfo, CudaPart } from "./cuda/index.ts";
import { cudaMayBeHere } from "./cuda/library/driver-paths.ts"; // a small file, where the index would load all of CUDA
import type { BackendName, Device, SharedContext } from "./device.ts";
import type { WorkOptions } from "../base/event-loop.ts";
import { offeredPrecision } from "./capabilities.ts";

export type * from "./device.ts";
export type { Progress, WorkOptions } from "../base/event-loop.ts";
export { type EmulationOptions, isGpu, offeredPrecision } from "./capabilities.ts";
/** @internal */
export {
  compileExact,
  firstThatFits,
  hasResources,
  maxInstancesPerLaunch,
  privateSizes,
  type WorkgroupResources,
} from "./capabilities.ts";
/** @internal */
export { LaunchScheduler } from "./launch-scheduler.ts";
/** @internal */
export { TemporaryBuffers, createBufferOf } from "./arguments.ts";
/** @internal */
export { cudaMayBeHere } from "./cuda/library/driver-paths.ts";
/** @internal */
export { buildId } from "./cache/stored.ts";
/** @internal */
export { KernelCache } from "./cache/kernel-cache.ts";
/** @internal */
export { type CacheFolder, cacheFolder } from "./cache/folder.ts";
export type {
  CudaDevice,
  CudaDeviceInfo,
  CudaPart,
  ForeignAccess,
  ForeignCalls,
  ForeignDescription,
  LaunchSequence,
} from "./cuda/index.ts";

// The names of back ends are written out: so TypeScript shows them to whoever misspells one.
/** The options of `openDevice`. @stable */
export interface OpenOptions<B extends "auto" | "cpu" | "webgpu" | "cuda" = "auto" | BackendName> {
  /**
   * The back end. "auto", the default, never trades precision for speed.
   *
   * * For f64, and without `precision`, "auto" is CUDA if an NVIDIA GPU is usable (driver, NVRTC and the package koffi
   *   exist, and the GPU opens) and has fast f64. Otherwise it is the CPU.
   * * For f32, "auto" is CUDA if usable, otherwise a hardware GPU through WebGPU, otherwise the CPU.
   */
  readonly backend?: B;
  /**
   * The index of the GPU in `devices("cuda")`, for the back end "cuda"; the first by default. With a list of several,
   * long calls of `priceTrades` use all of them, with each batch on one GPU. Everything else runs on the first GPU of
   * the list.
   */
  readonly device?: number | readonly number[];
  /** The number of threads of the CPU back end; every core by default. */
  readonly threads?: number;
  /**
   * When launches are divided among threads on the CPU back end. With "when-quicker", the default, short launches run
   * on the calling thread. With "always" no kernel runs on the calling thread, which therefore remains responsive.
   */
  readonly share?: "when-quicker" | "always";
  /**
   * The precision that `real` will have. Opening fails if the device does not offer it. f64 on WebGPU is emulated
   * (f32x2). It is tested when the device is opened, and opening fails if the test does.
   */
  readonly precision?: Precision;
  /**
   * The CUDA context of another thread's device in which this device works (`DeviceParts`).
   *
   * @internal
   */
  readonly shared?: SharedContext;
}

/**
 * Opens a device. Dispose it, for instance with `using`; otherwise its threads and memory remain in use.
 *
 * @param options the back end ("auto" by default), the number of threads, and the precision that is needed.
 * @returns the device; with `backend: "cuda"` a `CudaDevice`.
 *
 * @throws DeviceUnavailableError with what is missing and how to get it; PrecisionError; SpecError.
 * @example
 * import { openDevice } from "feynkac/device";
 *
 * using device = await openDevice({ backend: "cpu", threads: 2 });
 * console.log(device.backend, device.precisions.join(" ")); // cpu f64 f32
 * @stable
 */
export async function openDevice<B extends "auto" | "cpu" | "webgpu" | "cuda" = "auto">(
  options: OpenOptions<B> = {},
): Promise<B extends "cuda" ? CudaDevice : Device> {
  const device = await open(options);
  try {
    if (options.precision !== undefined) await offeredPrecision(device, options.precision);
    return device as B extends "cuda" ? CudaDevice : Device;
  } catch (error) {
    device[Symbol.dispose]();
    throw error;
  }
}

/** The options of a function that computes on a device. @stable */
export interface CallOptions extends WorkOptions {
  /**
   * The device to compute on, which the function does not dispose. By default a device is opened for the call and
   * disposed afterwards.
   */
  readonly device?: Device | undefined;
}

interface Opening {
  readonly backend?: BackendName | "auto";
  readonly precision?: Precision | undefined;
}

/**
 * Calls `compute` with `device`, or, if that is undefined, with a device that is opened for the call and disposed
 * afterwards. @internal
 */
export async function withDevice<T>(
  device: Device | undefined,
  { backend = "auto", precision }: Opening,
  compute: (device: Device) => Promise<T>,
): Promise<T> {
  if (device !== undefined) {
    checkDevice(device);
    return compute(device);
  }
  using own = await openDevice({ backend, ...(precision === undefined ? {} : { precision }) });
  return await compute(own);
}

/**
 * Lists the GPUs of a back end. Only CUDA can list them.
 *
 * @param _backend "cuda".
 * @returns one entry for each GPU, in the driver's order; its `index` is what `openDevice` takes as `device`.
 *
 * @throws DeviceUnavailableError if the driver or koffi is missing.
 * @example
 * import { DeviceUnavailableError } from "feynkac";
 * import { devices } from "feynkac/device";
 *
 * try {
 *   const names = (await devices("cuda")).map(({ name }) => name);
 * } catch (error) {
 *   if (!(error instanceof DeviceUnavailableError)) throw error;
 * }
 * @stable
 */
export async function devices(_backend: "cuda"): Promise<CudaDeviceInfo[]> {
  const { cudaDevices } = await import("./cuda/index.ts");
  return cudaDevices();
}

/**
 * Checks everything that CUDA needs: whether each component was found, and how to get it if not. `feynkac doctor`
 * prints the result.
 *
 * @returns one entry for each component: koffi, the driver, NVRTC, and each GPU.
 *
 * @example
 * import { diagnoseCuda } from "feynkac/device";
 *
 * const [first] = await diagnoseCuda();
 * console.log(first?.part); // koffi
 * @stable
 */
export async function diagnoseCuda(): Promise<CudaPart[]> {
  const cuda = await import("./cuda/index.ts");
  return cuda.diagnoseCuda();
}

function open(options: OpenOptions): Promise<Device> {
  const { backend = "auto", device } = options;
  if (device !== undefined && backend !== "cuda") {
    const asked = [device].flat().join();
    const message = `device: got ${asked} with the backend ${backend}; only "cuda" has devices to choose from`;
    return Promise.reject(new SpecError(message));
  }
  switch (backend) {
    case "auto":
      return openAny(options);
    case "cpu":
      return openCpu(options);
    case "webgpu":
      return openWebGpu();
    case "cuda":
      return openCuda(options);
    default:
      return Promise.reject(
        new DeviceUnavailableError(
          `unknown backend ${JSON.stringify(backend satisfies never)}, expected auto, cpu, webgpu or cuda`,
        ),
      );
  }
}

async function openAny(options: OpenOptions): Promise<Device> {
  const { precision = "f64" } = options;
  const single = precision === "f32";
  const cuda = single || precision === "f64" ? await openUsableCuda(single ? Infinity : MAX_RATIO) : undefined;
  if (cuda !== undefined) return cuda;
  return (precision === "f64" ? undefined : await openHardwareGpu()) ?? openCpu(options);
}

async function openCpu({ threads, share }: OpenOptions): Promise<Device> {
  return createCpuDevice({ ...(threads === undefined ? {} : { threads }), ...(share === undefined ? {} : { share }) });
}

async function openCuda({ device, shared }: OpenOptions): Promise<CudaDevice> {
  const { createCudaDevice } = await import("./cuda/index.ts");
  return createCudaDevice({ ...(device === undefined ? {} : { device }), ...(shared === undefined ? {} : { shared }) });
}

/**
 * The largest ratio of f32 to f64 speed with which a GPU is chosen for f64. GPUs made for computing have a ratio of 2,
 * a few of 3 or 4; all others have 24 to 64, with which the CPU may well be faster.
 */
const MAX_RATIO = 8;

/**
 * Opens a CUDA device; undefined if any part of CUDA is missing or does not work. It returns at once if there is no
 * NVIDIA GPU.
 */
async function openUsableCuda(maxRatio: number): Promise<CudaDevice | undefined> {
  if (!cudaMayBeHere()) return undefined;
  const { cudaDevices, createCudaDevice } = await import("./cuda/index.ts");
  try {
    const [first] = await cudaDevices();
    return first !== undefined && first.singleToDoubleRatio <= maxRatio ? await createCudaDevice() : undefined;
  } catch {
    return undefined; // whatever it is that is there by half, `feynkac doctor` names it
  }
}

/** Opens a WebGPU device. Like CUDA, it is loaded on demand, so that programs that use only the CPU do not load it. */
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
