/** Settings and counters of a built emulator, through koffi. */
import { type Koffi, loadKoffi } from "../../src/device/cuda/ffi/koffi.ts";
import { DeviceUnavailableError } from "../../src/base/errors.ts";
import type { CudaEmulatorPaths } from "./build.ts";

/**
 * What can be set; the environment variable FKEMU_<NAME> sets the same before anything is called. README.md explains
 * each.
 */
export type DriverSetting =
  | "devices"
  | "name"
  | "memory"
  | "compute"
  | "multiprocessors"
  | "driver_version"
  | "memory_pools"
  | "init_error"
  | "deferred"
  | "polls"
  | "late_events"
  | "poison"
  | "order"
  | "check_pointers"
  | "fault_scope"
  | "oom_at"
  | "oom_host_at"
  | "ptx_too_new";

export type NvrtcSetting = "nvrtc_version" | "nvrtc_archs" | "sanitize" | "optimise" | "keep" | "gxx" | "objects";

/** What is alive now. A context's end takes the rest with it, and counts it as leaked. */
export interface LiveResources {
  readonly contexts: number;
  readonly allocations: number;
  readonly bytes: number;
  readonly pinned: number;
  readonly streams: number;
  readonly events: number;
  readonly modules: number;
  readonly graphs: number;
  readonly graph_execs: number;
}

export interface LeakedResources {
  readonly allocations: number;
  readonly pinned: number;
  readonly streams: number;
  readonly events: number;
  readonly modules: number;
}

/** How much was done since the library was loaded. */
export interface WorkDone {
  /** Calls of cuLaunchKernel, and kernels that ran: a captured one runs with each launch of its graph. */
  readonly launches: number;
  readonly kernels: number;
  readonly copies: number;
  readonly graph_launches: number;
  readonly compiler_runs: number;
  readonly cache_hits: number;
}

export interface CudaEmulatorControl {
  set(name: DriverSetting | NvrtcSetting, value: string | number): void;
  /** Takes back every `set`, and a fault of the whole process. */
  reset(): void;
  readonly live: LiveResources;
  readonly leaked: LeakedResources;
  readonly done: WorkDone;
  /** What the last faulting kernel or copy did, with its block, thread and line; "" if none has. */
  readonly lastFault: string;
}

const nvrtcSettings: readonly string[] = [
  "nvrtc_version",
  "nvrtc_archs",
  "sanitize",
  "optimise",
  "keep",
  "gxx",
  "objects",
] satisfies NvrtcSetting[];

/** Undefined where koffi is not installed. The libraries are loaded into this process and stay. */
export async function controlCudaEmulator(paths: CudaEmulatorPaths): Promise<CudaEmulatorControl | undefined> {
  try {
    // The device's own: koffi takes its settings before the first library only.
    return new Control(await loadKoffi(), paths);
  } catch (error) {
    if (error instanceof DeviceUnavailableError) return undefined;
    throw error;
  }
}

class Control implements CudaEmulatorControl {
  readonly #changed = new Set<DriverSetting | NvrtcSetting>();
  readonly #setDriver: (...args: unknown[]) => unknown;
  readonly #setNvrtc: (...args: unknown[]) => unknown;
  readonly #driverCounter: (...args: unknown[]) => unknown;
  readonly #nvrtcCounter: (...args: unknown[]) => unknown;
  readonly #recover: (...args: unknown[]) => unknown;
  readonly #lastFault: (...args: unknown[]) => unknown;

  constructor(koffi: Koffi, paths: CudaEmulatorPaths) {
    const [driver, nvrtc] = [koffi.load(paths.driver), koffi.load(paths.nvrtc)];
    this.#setDriver = driver.func("fkemu_set", "void", ["str", "str"]);
    this.#setNvrtc = nvrtc.func("fkemu_nvrtc_set", "void", ["str", "str"]);
    this.#driverCounter = driver.func("fkemu_counter", "double", ["str"]);
    this.#nvrtcCounter = nvrtc.func("fkemu_nvrtc_counter", "double", ["str"]);
    this.#recover = driver.func("fkemu_recover", "void", []);
    this.#lastFault = driver.func("fkemu_last_fault", "str", []);
  }

  set(name: DriverSetting | NvrtcSetting, value: string | number): void {
    this.#changed.add(name);
    this.#put(name, String(value));
  }

  reset(): void {
    for (const name of this.#changed) this.#put(name, "");
    this.#changed.clear();
    this.#recover();
  }

  get live(): LiveResources {
    return {
      contexts: this.#count("contexts"),
      allocations: this.#count("allocations"),
      bytes: this.#count("bytes"),
      pinned: this.#count("pinned"),
      streams: this.#count("streams"),
      events: this.#count("events"),
      modules: this.#count("modules"),
      graphs: this.#count("graphs"),
      graph_execs: this.#count("graph_execs"),
    };
  }

  get leaked(): LeakedResources {
    return {
      allocations: this.#count("leaked_allocations"),
      pinned: this.#count("leaked_pinned"),
      streams: this.#count("leaked_streams"),
      events: this.#count("leaked_events"),
      modules: this.#count("leaked_modules"),
    };
  }

  get done(): WorkDone {
    return {
      launches: this.#count("launches"),
      kernels: this.#count("kernels"),
      copies: this.#count("copies"),
      graph_launches: this.#count("graph_launches"),
      compiler_runs: this.#nvrtcCounter("compiler_runs") as number,
      cache_hits: this.#nvrtcCounter("cache_hits") as number,
    };
  }

  get lastFault(): string {
    return this.#lastFault() as string;
  }

  #put(name: string, value: string): void {
    if (nvrtcSettings.includes(name)) this.#setNvrtc(name, value);
    else this.#setDriver(name, value);
  }

  #count(name: string): number {
    return this.#driverCounter(name) as number;
  }
}
