/** Host memory that the GPU reaches by itself, and that JavaScript sees as bytes. */
import { OutOfMemoryError } from "../../../base/errors.ts";
import { memoryAt } from "../ffi/koffi.ts";
import type { Session } from "../session.ts";

/** A block of pinned (page-locked) host memory. */
export interface PinnedBlock {
  readonly address: number;
  readonly bytes: Uint8Array;
}

/** Allocates a block of pinned memory, which is freed with the context. @throws OutOfMemoryError */
export function allocatePinned(session: Session, bytes: number): PinnedBlock {
  const { calls, driver } = session;
  const address = session.word("cuMemHostAlloc", (to) => calls.cuMemHostAlloc(to, bytes, 0));
  return { address, bytes: new Uint8Array(memoryAt(driver.koffi, address, bytes)) };
}

/** A pool of up to `most` blocks of pinned memory of one size, which are allocated on demand. */
export class PinnedPool {
  readonly pieceBytes: number;
  readonly #session: Session;
  readonly #max: number;
  readonly #idle: PinnedBlock[] = [];
  #made = 0;

  constructor(session: Session, pieceBytes: number, max: number) {
    this.#session = session;
    this.pieceBytes = pieceBytes;
    this.#max = max;
  }

  /** Takes a piece of pinned memory; undefined when all are in use. @throws OutOfMemoryError (none can be allocated) */
  take(): PinnedBlock | undefined {
    return this.#idle.pop() ?? this.#make();
  }

  giveBack(piece: PinnedBlock): void {
    this.#idle.push(piece);
  }

  #make(): PinnedBlock | undefined {
    if (this.#made >= this.#max) return undefined;
    try {
      const piece = allocatePinned(this.#session, this.pieceBytes);
      this.#made++;
      return piece;
    } catch (error) {
      if (error instanceof OutOfMemoryError && this.#made > 0) return undefined;
      throw error;
    }
  }
}
