/**
 * Other libraries of CUDA's toolkit on a device of ours. They call the runtime, which works in whatever context is
 * current on the thread, so that the device's own serves them; what they record goes into its stream.
 */
import { DeviceUnavailableError } from "../../base/errors.ts";
import { addressOf, type ForeignLibrary } from "./ffi/koffi.ts";
import { bindFunctions, type Calls, type Table } from "./ffi/signatures.ts";
import { thisHost } from "../host.ts";
import { loadFailuresText, openFirst } from "./library/open.ts";
import { type ToolkitLibrary, toolkitPaths } from "./library/toolkit-paths.ts";
import type { Driver } from "./driver.ts";

/** The description of a library of the CUDA toolkit, with the functions to call. @stable */
export interface ForeignDescription<T extends Table> extends ToolkitLibrary {
  /** The name for messages: "cuBLAS". */
  readonly title: string;
  /** The environment variable that names the library's file. */
  readonly variable: string;
  readonly remedy: string;
  readonly functions: T;
}

/** The functions of a library of the CUDA toolkit. Each returns a status, which the caller checks. @stable */
export interface ForeignCalls<T extends Table> {
  readonly path: string;
  readonly calls: Calls<T>;
  /** The library, kept so that it stays loaded. */
  readonly library: ForeignLibrary;
}

/** Loaded libraries stay loaded, so each is bound once in a thread. */
const opened = new Map<string, ForeignCalls<any>>();

/** Opens a library of the CUDA toolkit. @throws DeviceUnavailableError */
export function openForeign<T extends Table>(driver: Driver, description: ForeignDescription<T>): ForeignCalls<T> {
  const { title, variable, remedy, functions } = description;
  const host = thisHost();
  const paths = toolkitPaths(host, description, host.environment[variable]);
  const key = [title, ...paths].join("\n");
  const known = opened.get(key) as ForeignCalls<T> | undefined;
  if (known !== undefined) return known;
  const { opened: found, refusals } = openFirst(driver.koffi, paths);
  if (found === undefined)
    throw new DeviceUnavailableError(
      `CUDA: ${title} is not here; ${remedy}; or name the file in ${variable}${loadFailuresText(refusals)}`,
    );
  const { library, path } = found;
  const made = { path, library, calls: bindFunctions(library, `${title} (${path})`, functions) };
  opened.set(key, made);
  return made;
}

/** The access to a CUDA device that calls of a library of the CUDA toolkit need. @stable */
export interface ForeignAccess {
  /** The CUstream for the library, ordered with everything else that the device records. */
  readonly stream: number;
  /** The device pointers of the buffers, in order. */
  readonly addresses: readonly number[];
  /** Returns the 64-bit word (a handle) that a call stores at the given address; `fail` throws. */
  word(call: (to: number) => number, fail: (status: number) => never): number;
  /** Returns the address of host memory. */
  hostAddress(memory: ArrayBuffer): number;
}

/** Returns the access to a CUDA device that calls of a library need. `addresses` are those of the buffers. */
export const accessTo = (driver: Driver, stream: number, addresses: readonly number[]): ForeignAccess => ({
  stream,
  addresses,
  word: (call, fail) => driver.take(call, fail),
  hostAddress: (memory) => addressOf(driver.koffi, memory),
});
