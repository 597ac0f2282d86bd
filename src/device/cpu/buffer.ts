import { DisposedError } from "../../base/errors.ts";
import { ARRAY_TYPES } from "../buffers.ts";
import type { BufferElement, Device, DeviceBuffer, HostArrays } from "../device.ts";

/** A buffer of the CPU device. It is a range of the device's WebAssembly memory. */
export class CpuBuffer<E extends BufferElement = BufferElement> implements DeviceBuffer<E> {
  readonly device: Device;
  readonly element: E;
  readonly length: number;
  readonly address: number;
  /** The number of the last launch on the worker threads that accesses the buffer; undefined if there is none. */
  lastLaunch: number | undefined;
  #disposed = false;
  readonly #release: (buffer: CpuBuffer) => void;

  constructor(device: Device, element: E, length: number, address: number, release: (buffer: CpuBuffer) => void) {
    this.device = device;
    this.element = element;
    this.length = length;
    this.address = address;
    this.#release = release;
  }

  get disposed(): boolean {
    return this.#disposed;
  }

  assertUsable(who: string): void {
    if (this.#disposed) throw new DisposedError(`${who}: the buffer has been disposed`);
  }

  /** Returns a typed array on the buffer's elements, without a copy. */
  view(memory: WebAssembly.Memory): HostArrays[E] {
    return new ARRAY_TYPES[this.element](memory.buffer, this.address, this.length) as HostArrays[E];
  }

  [Symbol.dispose](): void {
    if (this.#disposed) return;
    this.#disposed = true;
    this.#release(this);
  }
}
