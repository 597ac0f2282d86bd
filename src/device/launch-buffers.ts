/** Buffers of one launch, and buffers that are filled from the host. */
import type { BufferElement, Device, DeviceBuffer, HostArray } from "./device.ts";

/** A buffer with `values`. */
export function uploaded<E extends BufferElement>(device: Device, element: E, values: HostArray): DeviceBuffer<E> {
  const buffer = device.createBuffer(element, values.length);
  device.write(buffer, values);
  return buffer;
}

/** The buffers that are made for one launch, all of which go when it is over, whatever happens. */
export class LaunchBuffers implements Disposable {
  readonly #device: Device;
  readonly #made: DeviceBuffer[] = [];

  constructor(device: Device) {
    this.#device = device;
  }

  /** A buffer with anything in it. */
  empty<E extends BufferElement>(element: E, length: number): DeviceBuffer<E> {
    return this.#keep(this.#device.createBuffer(element, length));
  }

  /** A buffer with `values`. */
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
