/**
 * Other libraries of CUDA's toolkit on a device of ours. They call the runtime, which works in whatever context is
 * current on the thread, so that the device's own serves them; what they record goes into its stream.
 */
import { DeviceUnavailableError } from "../../errors.ts";
import { addressOf, type ForeignLibrary } from "./ffi/koffi.ts";
import { bind, type Calls, type Table } from "./ffi/signatures.ts";
import { thisHost } from "../host.ts";
import { listRefusals, openFirst } from "./library/open.ts";
import { type ToolkitLibrary, toolkitPlaces } from "./library/toolkit-places.ts";
import type { Driver } from "./driver.ts";

/** A library of the CUDA toolkit, and the functions of it that are called. */
export interface ForeignDescription<T extends Table> extends ToolkitLibrary {
  /** The name for people: "cuBLAS". */
  readonly title: string;
  /** The environment variable that names the file. */
  readonly variable: string;
  readonly remedy: string;
  readonly functions: T;
}

/** A library's functions. Each returns a status, which its caller checks. */
export interface ForeignCalls<T extends Table> {
  readonly path: string;
  readonly calls: Calls<T>;
  /** The library, held so that it stays loaded. */
  readonly library: ForeignLibrary;
}

/** Loaded libraries stay loaded, so each is bound once in a thread. */
const opened = new Map<string, ForeignCalls<any>>();

/** Opens a library of the toolkit. @throws DeviceUnavailableError */
export function openForeign<T extends Table>(driver: Driver, description: ForeignDescription<T>): ForeignCalls<T> {
  const { title, variable, remedy, functions } = description;
  const host = thisHost();
  const places = toolkitPlaces(host, description, host.environment[variable]);
  const key = [title, ...places].join("\n");
  const known = opened.get(key) as ForeignCalls<T> | undefined;
  if (known !== undefined) return known;
  const { opened: found, refusals } = openFirst(driver.koffi, places);
  if (found === undefined)
    throw new DeviceUnavailableError(
      `CUDA: ${title} is not here; ${remedy}; or name the file in ${variable}${listRefusals(refusals)}`,
    );
  const { library, path } = found;
  const made = { path, library, calls: bind(library, `${title} (${path})`, functions) };
  opened.set(key, made);
  return made;
}

/** The access that a device lends to a library's calls. */
export interface ForeignAccess {
  /** The CUstream, to be given to the library: it is ordered with everything else that the device records. */
  readonly stream: number;
  /** The device pointers of the buffers, in order. */
  readonly addresses: readonly number[];
  /** The 64-bit word (a handle) that a call stores where it is told to; `fail` throws. */
  word(call: (to: number) => number, fail: (status: number) => never): number;
  /** The address at which host memory lies. */
  hostAddress(memory: ArrayBuffer): number;
}

export const accessTo = (driver: Driver, stream: number, addresses: readonly number[]): ForeignAccess => ({
  stream,
  addresses,
  word: (call, fail) => driver.take(call, fail),
  hostAddress: (memory) => addressOf(driver.koffi, memory),
});
