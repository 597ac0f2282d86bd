import { type Device, openDevice } from "../../../device/index.ts";

/**
 * The CPU beside the device of a run. The kernel of convertibles keeps a whole solution in private memory, of which a
 * GPU has too little for a work item, so that the CPU solves them whatever device was asked for.
 */
export class CpuBeside implements Disposable {
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
