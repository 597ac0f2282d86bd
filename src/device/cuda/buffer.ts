import { DisposedError } from "../../base/errors.ts";
import { bytesPerElement } from "../buffers.ts";
import type { BufferElement, Device, DeviceBuffer } from "../device.ts";
import type { Block } from "./memory/blocks.ts";

/** A buffer of a CUDA device. */
export class CudaBuffer<E extends BufferElement = BufferElement> implements DeviceBuffer<E> {
  readonly device: Device;
  readonly element: E;
  readonly length: number;
  readonly block: Block;
  #disposed = false;
  readonly #release: (buffer: CudaBuffer<any>) => void;

  constructor(device: Device, element: E, length: number, block: Block, release: (buffer: CudaBuffer<any>) => void) {
    this.device = device;
    this.element = element;
    this.length = length;
    this.block = block;
    this.#release = release;
  }

  get disposed(): boolean {
    return this.#disposed;
  }

  get elementBytes(): number {
    return bytesPerElement(this.element);
  }

  assertUsable(who: string): void {
    if (this.#disposed) throw new DisposedError(`${who}: the buffer has been disposed`);
  }

  [Symbol.dispose](): void {
    if (this.#disposed) return;
    this.#disposed = true;
    this.#release(this);
  }
}
