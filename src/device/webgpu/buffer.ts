import { DisposedError, type OutOfMemoryError } from "../../base/errors.ts";
import type { BufferElement, Device, DeviceBuffer } from "../device.ts";

let created = 0;

/**
 * A buffer on a WebGPU device. Its `gpuBuffer` has room for at least one element, because WebGPU does not allow empty
 * bindings.
 */
export class WebGpuBuffer<E extends BufferElement = BufferElement> implements DeviceBuffer<E> {
  readonly device: Device;
  readonly element: E;
  readonly length: number;
  readonly gpuBuffer: GPUBuffer;
  /** The unique number of the buffer, which is part of the key of cached bind groups. */
  readonly id = created++;
  /** The error of the buffer's allocation, which WebGPU reports later. */
  failure: OutOfMemoryError | undefined;
  #disposed = false;
  readonly #release: (buffer: WebGpuBuffer<any>) => void;

  constructor(
    device: Device,
    element: E,
    length: number,
    gpuBuffer: GPUBuffer,
    release: (buffer: WebGpuBuffer<any>) => void,
  ) {
    this.device = device;
    this.element = element;
    this.length = length;
    this.gpuBuffer = gpuBuffer;
    this.#release = release;
  }

  get disposed(): boolean {
    return this.#disposed;
  }

  /** Throws unless the buffer is usable. */
  assertUsable(who: string): void {
    if (this.#disposed) throw new DisposedError(`${who}: the buffer has been disposed`);
    if (this.failure !== undefined) throw this.failure;
  }

  [Symbol.dispose](): void {
    if (this.#disposed) return;
    this.#disposed = true;
    this.#release(this);
  }
}
