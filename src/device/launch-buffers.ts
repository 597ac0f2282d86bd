/** The buffers of one launch, and buffers that are filled from the host. */
import type { BufferElement, Device, DeviceBuffer, HostArray } from "./device.ts";

/** Returns a new buffer that contains `values`. */
export function uploaded<E extends BufferElement>(device: Device, element: E, values: HostArray): DeviceBuffer<E> {
  const buffer = device.createBuffer(element, values.length);
  device.write(buffer, values);
  return buffer;
}

/** The buffers made for one launch. They are disposed together when this object is disposed, also after an error. */
export class LaunchBuffers implements Disposable {
  readonly #device: Device;
  readonly #made: DeviceBuffer[] = [];

  constructor(device: Device) {
    this.#device = device;
  }

  /** Returns a new buffer with unspecified contents. */
  empty<E extends BufferElement>(element: E, length: number): DeviceBuffer<E> {
    return this.#keep(this.#device.createBuffer(element, length));
  }

  /** Returns a new buffer with `values`. */
  filled<E extends BufferElement>(element: E, values: HostArray): DeviceBuffer<E> {
    return this.#keep(uploaded(this.#device, element, values));
  }

  [Symbol.dispose](): void {
    for (const buffer of this.#made) buffer[Symbol.dispose]();
  }

  #keep<E extends BufferElement>(buffer: DeviceBuffer<E>): DeviceBuffer<E> {
    this.#made.push(buffer);
    return buffer;
  }
}
