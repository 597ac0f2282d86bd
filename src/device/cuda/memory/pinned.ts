/** Host memory that the GPU reaches by itself, and that JavaScript sees as bytes. */
import { OutOfMemoryError } from "../../../base/errors.ts";
import { memoryAt } from "../ffi/koffi.ts";
import type { Session } from "../session.ts";

/** A piece of pinned host memory. */
export interface Pinned {
  readonly address: number;
  readonly bytes: Uint8Array;
}

/** Allocates pinned memory, which is freed with the context. @throws OutOfMemoryError */
export function allocatePinned(session: Session, bytes: number): Pinned {
  const { calls, driver } = session;
  const address = session.word("cuMemHostAlloc", (to) => calls.cuMemHostAlloc(to, bytes, 0));
  return { address, bytes: new Uint8Array(memoryAt(driver.koffi, address, bytes)) };
}

/** A pool of up to `most` pieces of pinned memory of one size, allocated on demand. */
export class PinnedPool {
  readonly pieceBytes: number;
  readonly #session: Session;
  readonly #max: number;
  readonly #idle: Pinned[] = [];
  #made = 0;

  constructor(session: Session, pieceBytes: number, max: number) {
    this.#session = session;
    this.pieceBytes = pieceBytes;
    this.#max = max;
  }

  /** Takes a piece of pinned memory; undefined when all are in use. @throws OutOfMemoryError (none can be allocated) */
  take(): Pinned | undefined {
    return this.#idle.pop() ?? this.#make();
  }

  giveBack(piece: Pinned): void {
    this.#idle.push(piece);
  }

  #make(): Pinned | undefined {
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
