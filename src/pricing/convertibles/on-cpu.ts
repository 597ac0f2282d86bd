import { type Device, openDevice } from "../../device/index.ts";
import type { Opens } from "../backend.ts";

/**
 * The CPU beside the device of a run. The kernel of convertibles keeps a whole solution in private memory, of which a
 * GPU has too little for a work item, so that the CPU solves them whatever device was asked for.
 */
class CpuBeside implements Disposable {
  readonly #device: Device;
  #own: Promise<Device> | undefined;

  constructor(device: Device) {
    this.#device = device;
  }

  /** The run's own device where that is a CPU, else one that is opened when it is first wanted. */
  get device(): Promise<Device> {
    if (this.#device.backend === "cpu") return Promise.resolve(this.#device);
    return (this.#own ??= openDevice({ backend: "cpu" }));
  }

  [Symbol.dispose](): void {
    void this.#own?.then((device) => device[Symbol.dispose]());
  }
}

/** A method that opens the CPU besides a device, for the sessions of an engine. */
export const cpuBeside: Opens<CpuBeside> = { open: (device) => new CpuBeside(device) };
