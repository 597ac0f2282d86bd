import type { OutOfMemoryError } from "../../base/errors.ts";
import { BaseBuffer } from "../arguments.ts";
import type { BufferElement } from "../device.ts";

let created = 0;

/**
 * A buffer on a WebGPU device. Its `memory` has room for at least one element, because WebGPU does not allow empty
 * bindings.
 */
export class WebGpuBuffer<E extends BufferElement = BufferElement> extends BaseBuffer<E, GPUBuffer> {
  /** The unique number of the buffer, which is part of the key of cached bind groups. */
  readonly id = created++;
  /** The error of the buffer's allocation, which WebGPU reports later. */
  failure: OutOfMemoryError | undefined;

  override assertUsable(who: string): void {
    super.assertUsable(who);
    if (this.failure !== undefined) throw this.failure;
  }
}
