/** The CUDA back end: NVIDIA GPUs in f64 and f32, through the driver and NVRTC; no toolkit is needed. */
import { DeviceUnavailableError } from "../../base/errors.ts";
import type { SharedContext } from "../device.ts";
import { CudaDevice } from "./device.ts";
import { type Driver, openDriver } from "./driver.ts";
import { loadKoffi } from "./ffi/koffi.ts";
import { type CudaDeviceInfo, deviceHandle, listDevices } from "./list.ts";
import { openNvrtc } from "./nvrtc.ts";
import { Compiler } from "./program/compiler.ts";
import { targetOf } from "./program/target.ts";
import { type ProgramStore, programStoreOf } from "../cache/stored.ts";
import type { CudaImage } from "./program/compiler.ts";
import { openSession, Session } from "./session.ts";

export type { CudaDevice } from "./device.ts";
export type { ForeignAccess, ForeignCalls, ForeignDescription } from "./foreign.ts";
export type { CudaDeviceInfo } from "./list.ts";
export type { LaunchSequence } from "./sequence.ts";
export { type CudaPart, diagnoseCuda } from "./diagnose.ts";

/**
 * The paths of the driver and of NVRTC. By default they are those in the environment variables FEYNKAC_CUDA_DRIVER and
 * FEYNKAC_NVRTC, or the first ones found.
 */
export interface CudaLibraries {
  readonly driver?: string;
  readonly nvrtc?: string;
}

/** The options of `createCudaDevice`. */
export interface CudaDeviceOptions extends CudaLibraries {
  /**
   * The GPU, by its index in `cudaDevices`; the first by default. With several, threads that share the device
   * (`DeviceParts`) use all, and its own work runs on the first.
   */
  readonly device?: number | readonly number[];
  /**
   * The treatment of freed memory: kept for buffers of about the same size (the default), or exact allocations that are
   * freed at once, which is slower but lets tools detect accesses out of bounds.
   */
  readonly memory?: "reuse" | "exact";
  /** The context of another thread's device of this GPU in which to work; it must outlive this device. */
  readonly shared?: SharedContext;
  /** The store of compiled kernels; by default the one of this build of the package. */
  readonly stored?: ProgramStore<CudaImage>;
}

/** Creates a CUDA device. @throws DeviceUnavailableError, which says what is missing and how to get it */
export async function createCudaDevice(options: CudaDeviceOptions = {}): Promise<CudaDevice> {
  const [first = 0, ...others] = [options.device ?? 0].flat();
  const peers: CudaDevice[] = [];
  try {
    for (const device of others) peers.push(await createOne({ ...options, device }));
    return await createOne({ ...options, device: first, peers });
  } catch (error) {
    for (const peer of peers) peer[Symbol.dispose]();
    throw error;
  }
}

/** One GPU of several. */
interface One extends Omit<CudaDeviceOptions, "device"> {
  readonly device: number;
  readonly peers?: readonly CudaDevice[];
}

async function createOne(options: One): Promise<CudaDevice> {
  const koffi = await loadKoffi();
  const driver = openDriver(koffi, options.driver);
  const info = choose(driver, options.device);
  const nvrtc = openNvrtc(koffi, driver.version, options.nvrtc);
  const compiler = new Compiler(nvrtc, targetOf(info, nvrtc));
  const { shared, memory, peers = [] } = options;
  const session =
    shared === undefined ? openSession(driver, deviceHandle(driver, info.index)) : new Session(driver, shared);
  const stored = options.stored ?? programStoreOf<CudaImage>("CUDA");
  return new CudaDevice(session, compiler, {
    info,
    exactMemory: memory === "exact",
    sharers: shared?.count ?? 1,
    stored,
    peers,
  });
}

/** Returns a description of each CUDA device, in the driver's order. @throws DeviceUnavailableError */
export async function cudaDevices(libraries: CudaLibraries = {}): Promise<CudaDeviceInfo[]> {
  return listDevices(openDriver(await loadKoffi(), libraries.driver));
}

function choose(driver: Driver, index: number): CudaDeviceInfo {
  const all = listDevices(driver);
  const found = all[index];
  if (found !== undefined) return found;
  const names = all.map(({ name }, i) => `${i} (${name})`).join(", ");
  throw new DeviceUnavailableError(`CUDA: no GPU ${index}; expected ${names || "one, but the driver shows none"}`);
}
