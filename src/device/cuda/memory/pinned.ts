/** Host memory that the GPU reaches by itself, and that JavaScript sees as bytes. */
import { OutOfMemoryError } from "../../../errors.ts";
import { memoryAt } from "../ffi/koffi.ts";
import type { Session } from "../session.ts";

export interface Pinned {
  readonly address: number;
  readonly bytes: Uint8Array;
}

/** Allocates pinned memory, which goes with the context. @throws OutOfMemoryError */
export function allocatePinned(session: Session, bytes: number): Pinned {
  const { calls, driver } = session;
  const address = session.word("cuMemHostAlloc", (to) => calls.cuMemHostAlloc(to, bytes, 0));
  return { address, bytes: new Uint8Array(memoryAt(driver.koffi, address, bytes)) };
}

/** A pool of up to `most` pieces of one size, allocated as they are first needed. */
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

  /** Takes pinned memory; undefined when all there can be is in use. @throws OutOfMemoryError (there is none at all) */
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
