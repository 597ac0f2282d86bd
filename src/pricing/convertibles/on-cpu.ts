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

/**
 * A provider of a CPU device beside the device of a run, for methods whose kernels need more private memory than a GPU
 * has. It is the run's own device if that is a CPU.
 */
export const cpuBeside: Opens<CpuBeside> = { open: (device) => new CpuBeside(device) };
