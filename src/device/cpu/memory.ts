/** The WebAssembly memory of a device and its allocator. */
import { OutOfMemoryError } from "../../base/errors.ts";
import { ARRAY_TYPES, BaseBuffer } from "../arguments.ts";
import type { BufferElement, HostArrays } from "../device.ts";

/** A buffer of the CPU device, at an address of the device's WebAssembly memory. */
export class CpuBuffer<E extends BufferElement = BufferElement> extends BaseBuffer<E, number> {
  /** The number of the last launch on the worker threads that accesses the buffer; undefined if there is none. */
  lastLaunch: number | undefined;

  /** Returns a typed array on the buffer's elements, without a copy. */
  view({ buffer }: WebAssembly.Memory): HostArrays[E] {
    return new ARRAY_TYPES[this.element](buffer, this.memory, this.length) as HostArrays[E];
  }
}

const PAGE = 65_536;
const MAX_PAGES = 65_536;
/**
 * The alignment of buffers in bytes. It separates cache lines, and exceeds the distance by which vector accesses may
 * leave an array.
 */
const ALIGNMENT = 128;

interface Block {
  readonly start: number;
  readonly end: number;
}

/** The WebAssembly memory of a CPU device, with the allocator for buffers in it. */
export class CpuMemory {
  readonly memory: WebAssembly.Memory;
  readonly shared: boolean;
  /** The maximum number of bytes. */
  readonly capacity: number;
  /** The free blocks, sorted by address, of which no two are adjacent. */
  readonly #free: Block[] = [];
  readonly #used = new Map<number, number>();
  /** The address from which on memory has never been used and is therefore zero. */
  #fresh = PAGE;

  constructor(shared: boolean) {
    const { memory, pages } = reserve(shared);
    this.memory = memory;
    this.shared = shared;
    this.capacity = (pages - 1) * PAGE; // addresses just below 2³² would wrap
  }

  get bytesInUse(): number {
    let total = 0;
    for (const size of this.#used.values()) total += size;
    return total;
  }

  /** Allocates zeroed memory, padded on both sides. @throws OutOfMemoryError */
  allocate(bytes: number): number {
    const size = Math.ceil((bytes + ALIGNMENT) / ALIGNMENT) * ALIGNMENT;
    const start = this.#reuse(size) ?? this.#extend(size);
    this.#used.set(start, size);
    return start;
  }

  free(start: number): void {
    const size = this.#used.get(start);
    if (size === undefined) throw new Error(`internal: address ${start} is not allocated`);
    this.#used.delete(start);
    const at = this.#free.findIndex((b) => b.start > start);
    this.#free.splice(at < 0 ? this.#free.length : at, 0, { start, end: start + size });
    this.#merge();
  }

  #reuse(size: number): number | undefined {
    const i = this.#free.findIndex((b) => b.end - b.start >= size);
    if (i < 0) return undefined;
    const { start, end } = this.#free[i];
    this.#free.splice(i, 1, ...(end - start > size ? [{ start: start + size, end }] : []));
    // Of shared memory, eight times as fast as by bytes.
    new BigInt64Array(this.memory.buffer, start, size / 8).fill(0n);
    return start;
  }

  #extend(size: number): number {
    const start = this.#fresh;
    const end = start + size;
    const missing = Math.ceil((end + PAGE - this.memory.buffer.byteLength) / PAGE);
    if (end > this.capacity) throw this.#exhausted(size);
    if (missing > 0) this.#grow(missing, size);
    this.#fresh = end;
    return start;
  }

  #grow(pages: number, size: number): void {
    try {
      this.memory.grow(pages);
    } catch (cause) {
      throw this.#exhausted(size, cause);
    }
  }

  #exhausted(size: number, cause?: unknown): OutOfMemoryError {
    const mebibytes = (bytes: number): string => `${Math.round(bytes / 2 ** 20)} MiB`;
    return new OutOfMemoryError(
      `CPU device: no room for ${mebibytes(size)}: ${mebibytes(this.bytesInUse)} of at most ${mebibytes(this.capacity)} in use; ` +
        "dispose buffers, or work in smaller batches",
      { cause },
    );
  }

  #merge(): void {
    for (let i = this.#free.length - 1; i > 0; i--) {
      if (this.#free[i - 1].end !== this.#free[i].start) continue;
      this.#free.splice(i - 1, 2, { start: this.#free[i - 1].start, end: this.#free[i].end });
    }
  }
}

/** Reserves address space, not memory. On systems that do not allow the maximum, it reserves less. */
function reserve(shared: boolean): { memory: WebAssembly.Memory; pages: number } {
  for (let pages = MAX_PAGES; ; pages /= 2) {
    try {
      return { memory: new WebAssembly.Memory({ initial: 2, maximum: pages, shared }), pages };
    } catch (error) {
      if (pages <= 1024) throw error;
    }
  }
}
