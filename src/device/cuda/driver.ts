/** libcuda, loaded and initialised: its functions, its version, and the words that calls leave their results in. */
import { DeviceUnavailableError } from "../../base/errors.ts";
import { driverDeviceFunctions } from "./ffi/driver-devices.ts";
import { driverModuleFunctions } from "./ffi/driver-modules.ts";
import { driverStreamFunctions } from "./ffi/driver-streams.ts";
import { addressOf, type ForeignLibrary, type Koffi } from "./ffi/koffi.ts";
import { CUDA_SUCCESS, describeResult } from "./ffi/results.ts";
import { bindFunctions, type Calls, type Table } from "./ffi/signatures.ts";
import { driverPaths } from "./library/driver-paths.ts";
import { type Host, thisHost } from "../host.ts";
import { loadFailuresText, openFirst, type OpenedLibrary } from "./library/open.ts";

/** The signatures of the driver's functions for memory. */
const driverMemory = {
  cuMemGetInfo_v2: ["u64", "u64"], // size_t *free, size_t *total
  cuMemAlloc_v2: ["u64", "u64"], // CUdeviceptr *address, size_t bytes
  cuMemFree_v2: ["u64"],
  cuMemHostAlloc: ["u64", "u64", "u32"], // void **address, size_t bytes, flags
  cuMemFreeHost: ["u64"],
  cuMemcpyHtoDAsync_v2: ["u64", "u64", "u64", "u64"], // CUdeviceptr to, const void *from, size_t bytes, CUstream
  cuMemcpyDtoHAsync_v2: ["u64", "u64", "u64", "u64"], // void *to, CUdeviceptr from, size_t bytes, CUstream
  cuMemsetD8Async: ["u64", "u32", "u64", "u64"], // CUdeviceptr, unsigned char, size_t bytes, CUstream
} as const satisfies Table;

const functions = { ...driverDeviceFunctions, ...driverMemory, ...driverModuleFunctions, ...driverStreamFunctions };

/** The functions of the CUDA driver that this back end calls, bound by koffi. */
export type DriverCalls = Calls<typeof functions>;

/** A version of CUDA or NVRTC. */
export interface Version {
  readonly major: number;
  readonly minor: number;
}

/** Returns a version as text, such as "13.0". */
export const versionText = ({ major, minor }: Version): string => `${major}.${minor}`;

/** The CUDA driver, loaded through koffi. */
export class Driver {
  readonly koffi: Koffi;
  readonly path: string;
  readonly calls: DriverCalls;
  /** The library, kept so that it stays loaded. */
  readonly library: ForeignLibrary;
  /** The version of CUDA that the driver supports, such as 13.0, not that of the driver package. */
  readonly version: Version;
  /** The context that this back end last made current on this thread. */
  current = 0;
  readonly #words = new BigUint64Array(1);
  readonly #ints = new Int32Array(this.#words.buffer);
  readonly #floats = new Float32Array(this.#words.buffer);
  readonly #address: number;

  constructor(koffi: Koffi, { library, path }: OpenedLibrary, calls: DriverCalls) {
    this.koffi = koffi;
    this.path = path;
    this.library = library;
    this.calls = calls;
    this.#address = addressOf(koffi, this.#words.buffer);
    const version = this.int("cuDriverGetVersion", (to) => calls.cuDriverGetVersion(to));
    this.version = { major: Math.floor(version / 1000), minor: Math.floor((version % 1000) / 10) };
  }

  /** Returns the 64-bit word (handle, address, size) that a call stores at the given address. */
  word(what: string, call: (to: number) => number): number {
    return this.take(call, (status) => throwUnavailable(what, status));
  }

  /** Returns a word as `word` does, with `fail` called on failure, which throws. */
  take(call: (to: number) => number, fail: (status: number) => void): number {
    this.#words[0] = 0n;
    const status = call(this.#address);
    if (status !== CUDA_SUCCESS) fail(status);
    return Number(this.#words[0]);
  }

  int(what: string, call: (to: number) => number): number {
    this.word(what, call);
    return this.#ints[0];
  }

  float(call: (to: number) => number, fail: (status: number) => void): number {
    this.take(call, fail);
    return this.#floats[0];
  }
}

/**
 * Throws the error of a failed CUDA call. `what` is the name of the call, and `status` the status that it returned.
 * @throws DeviceUnavailableError
 */
export function throwUnavailable(what: string, status: number): never {
  throw new DeviceUnavailableError(`CUDA: ${what}: ${describeResult(status)}${remedyFor(status)}`);
}

const REMEDIES: Readonly<Record<number, string>> = {
  34: "; put the real driver's libcuda.so.1 before the toolkit's stubs on LD_LIBRARY_PATH",
  100: "; look at nvidia-smi, CUDA_VISIBLE_DEVICES and, in a container, at --gpus all",
  802: "; see nvidia-smi -q, Fabric",
  803: "; reboot, or reload the kernel module of the installed version",
  804: "; remove the package cuda-compat, or its folder from LD_LIBRARY_PATH",
  999: "; reboot, or reload the kernel module nvidia_uvm",
};

/** Faults of kernels, which some drivers keep for the whole process. */
const isFault = (status: number): boolean => status >= 700 && status < 720;

const remedyFor = (status: number): string =>
  REMEDIES[status] ?? (isFault(status) ? "; the driver keeps an earlier fault of this process: start a new one" : "");

/** Loaded libraries stay loaded, so each is bound once in a thread. */
const drivers = new Map<string, Driver>();

/** Opens the CUDA driver. @throws DeviceUnavailableError (no library, or no GPU) */
export function openDriver(koffi: Koffi, given?: string, host: Host = thisHost()): Driver {
  const paths = driverPaths(host, given ?? host.environment["FEYNKAC_CUDA_DRIVER"]);
  const key = paths.join("\n");
  const known = drivers.get(key);
  if (known !== undefined) return known;
  const driver = search(koffi, paths, host);
  drivers.set(key, driver);
  return driver;
}

/** The first library that starts: in the Windows subsystem a distribution's own may come before the one that works. */
function search(koffi: Koffi, paths: readonly string[], host: Host): Driver {
  let calls: DriverCalls | undefined;
  let first: { readonly path: string; readonly status: number } | undefined;
  const { opened, refusals } = openFirst(koffi, paths, ({ library, path }) => {
    calls = bindFunctions(library, `the driver (${path})`, functions);
    const status = calls.cuInit(0);
    if (status === CUDA_SUCCESS) return undefined;
    first ??= { path, status };
    return describeResult(status);
  });
  if (opened !== undefined && calls !== undefined) return new Driver(koffi, opened, calls);
  if (first !== undefined) throwUnavailable(`the driver ${first.path} does not start`, first.status);
  throw new DeviceUnavailableError(noDriver(host) + loadFailuresText(refusals));
}

function noDriver({ platform }: Host): string {
  switch (platform) {
    case "linux":
      return "CUDA: the NVIDIA driver's libcuda.so.1 is not here; install the driver (Debian, Ubuntu: apt install nvidia-driver; WSL: the driver for Windows) or name the file in FEYNKAC_CUDA_DRIVER";
    case "win32":
      return "CUDA: the NVIDIA driver's nvcuda.dll is not here; install the driver from nvidia.com or name the file in FEYNKAC_CUDA_DRIVER";
    default:
      return `CUDA: NVIDIA has no driver for ${platform}; use the backends cpu or webgpu`;
  }
}
