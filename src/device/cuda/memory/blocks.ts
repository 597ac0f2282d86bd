/**
 * Device memory, with freed blocks kept for reuse.
 *
 * All work goes through one stream, so a block may be handed out again the moment it is freed: whatever still uses it
 * runs first. That is what the driver's stream-ordered pools do, too; but they belong to the device rather than to a
 * context (what a faulted context held would stay), become nodes when a graph is captured, and are missing on some
 * systems. `cuMemFree`, which waits for the whole device, is called only to keep what lies idle within bounds.
 */
import { OutOfMemoryError } from "../../../base/errors.ts";
import type { Session } from "../session.ts";
import { BaseBuffer } from "../../arguments.ts";
import type { BufferElement } from "../../device.ts";

/** A buffer of a CUDA device. */
export class CudaBuffer<E extends BufferElement = BufferElement> extends BaseBuffer<E, Block> {}

/** A block of device memory. */
export interface Block {
  readonly address: number;
  readonly bytes: number;
}

const SMALLEST = 512; // what the driver aligns to
const STEPS = 8; // sizes in an octave: at most an eighth is wasted
const COARSE = 2 ** 30;
const PAGE = 2 ** 21;
/** The multiple of what is wanted that a block may have at most: the driver takes tens of microseconds for another. */
const ROOMY = 2;

/** The settings of the allocator of device memory. */
export interface BlockSettings {
  /** The maximum number of unused bytes to keep. */
  readonly maxIdle: number;
  /** True for allocations of the exact size that are freed at once, for tools that detect accesses out of bounds. */
  readonly exact: boolean;
}

/** Returns a size in bytes rounded up, so that blocks of about the same size are interchangeable. */
export function roundedBlockBytes(bytes: number): number {
  if (bytes <= SMALLEST) return SMALLEST;
  const step = bytes > COARSE ? PAGE : Math.max(SMALLEST, 2 ** Math.floor(Math.log2(bytes)) / STEPS);
  return Math.ceil(bytes / step) * step;
}

/** The allocator of a CUDA device's memory. */
export class BlockAllocator {
  readonly #session: Session;
  readonly #maxIdle: number;
  readonly #exact: boolean;
  /** The idle blocks by age. */
  readonly #idle = new Set<Block>();
  readonly #bySize = new Map<number, Block[]>();
  #idleBytes = 0;

  constructor(session: Session, { maxIdle, exact }: BlockSettings) {
    this.#session = session;
    this.#maxIdle = exact ? 0 : maxIdle;
    this.#exact = exact;
  }

  get idleBytes(): number {
    return this.#idleBytes;
  }

  /** Allocates a block of at least the given bytes. @throws OutOfMemoryError */
  allocate(wanted: number): Block {
    const bytes = this.#exact ? Math.max(1, wanted) : roundedBlockBytes(wanted);
    const block = this.#idleBlock(bytes);
    if (block !== undefined) {
      this.#forget(block);
      return block;
    }
    try {
      return this.#allocate(bytes);
    } catch (error) {
      if (!(error instanceof OutOfMemoryError) || this.#idle.size === 0) throw error;
      this.#shrinkTo(0);
      return this.#allocate(bytes);
    }
  }

  /** Frees a block; work recorded before may still use it. */
  release(block: Block): void {
    if (block.bytes > this.#maxIdle) return this.#free(block);
    this.#shrinkTo(this.#maxIdle - block.bytes);
    this.#idle.add(block);
    const sameSize = this.#bySize.get(block.bytes);
    if (sameSize === undefined) this.#bySize.set(block.bytes, [block]);
    else sameSize.push(block);
    this.#idleBytes += block.bytes;
  }

  /** The smallest idle block of at least so many bytes that is not much larger. */
  #idleBlock(bytes: number): Block | undefined {
    const own = this.#bySize.get(bytes);
    if (own !== undefined || this.#exact) return own?.at(-1);
    let best = ROOMY * bytes + 1;
    for (const size of this.#bySize.keys()) if (size >= bytes && size < best) best = size;
    return this.#bySize.get(best)?.at(-1);
  }

  #allocate(bytes: number): Block {
    const { calls } = this.#session;
    return { address: this.#session.word("cuMemAlloc", (to) => calls.cuMemAlloc_v2(to, bytes)), bytes };
  }

  #shrinkTo(bytes: number): void {
    for (const block of this.#idle) {
      if (this.#idleBytes <= bytes) return;
      this.#forget(block);
      this.#free(block);
    }
  }

  #forget(block: Block): void {
    this.#idle.delete(block);
    const sameSize = this.#bySize.get(block.bytes) ?? [];
    sameSize.splice(sameSize.indexOf(block), 1);
    if (sameSize.length === 0) this.#bySize.delete(block.bytes);
    this.#idleBytes -= block.bytes;
  }

  #free({ address }: Block): void {
    this.#session.check("cuMemFree", this.#session.calls.cuMemFree_v2(address));
  }
}
