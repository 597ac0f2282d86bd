/**
 * Copies from the host: at once into pinned memory, so that the caller may reuse its array, and from there by the GPU
 * in its turn. The pinned pages are filled one after the other; a large copy overlaps with its own transfer, a page
 * being filled while the others are on their way.
 */
import { OutOfMemoryError } from "../../../base/errors.ts";
import { CUDA_ERROR_NOT_READY, CUDA_SUCCESS } from "../ffi/results.ts";
import { EventPool } from "../events.ts";
import type { Session } from "../session.ts";
import { allocatePinned, type PinnedBlock } from "./pinned.ts";

const PAGE_BYTES = 2 ** 21;
const MAX_PAGES = 16;
const ALIGNMENT = 64;

interface Page {
  readonly memory: PinnedBlock;
  /** Recorded behind the last copy out of it. */
  event: number | undefined;
}

/** The copies from the host to a CUDA device. */
export class Uploads {
  readonly #session: Session;
  readonly #events: EventPool;
  /** The pages in the order of their use; the last is being filled. */
  readonly #pages: Page[] = [];
  #used = 0;

  constructor(session: Session) {
    this.#session = session;
    this.#events = new EventPool(session);
  }

  /** Copies bytes to a device address through pinned memory. @throws OutOfMemoryError (no pinned memory) */
  copy(target: number, bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length;) {
      const { address, bytes: page } = this.#room();
      const count = Math.min(bytes.length - at, PAGE_BYTES - this.#used);
      page.set(bytes.subarray(at, at + count), this.#used);
      const { calls, stream } = this.#session;
      this.#session.check("write", calls.cuMemcpyHtoDAsync_v2(target + at, address + this.#used, count, stream));
      this.#used += Math.ceil(count / ALIGNMENT) * ALIGNMENT;
      at += count;
    }
  }

  /** The page being filled, with room in it. */
  #room(): PinnedBlock {
    const current = this.#pages.at(-1);
    if (current !== undefined && this.#used < PAGE_BYTES) return current.memory;
    if (current !== undefined) current.event = this.#events.record();
    const next = this.#nextPage();
    this.#pages.push(next);
    this.#used = 0;
    return next.memory;
  }

  /** The oldest page if the GPU is done with it; otherwise a new one; or else the oldest, waited for. */
  #nextPage(): Page {
    const [oldest] = this.#pages;
    if (oldest === undefined) return this.#newPage();
    if (!this.#isFree(oldest)) {
      const page = this.#pages.length < MAX_PAGES ? this.#tryNewPage() : undefined;
      if (page !== undefined) return page;
      this.#wait(oldest);
    }
    this.#pages.shift();
    return oldest;
  }

  #newPage(): Page {
    return { memory: allocatePinned(this.#session, PAGE_BYTES), event: undefined };
  }

  #tryNewPage(): Page | undefined {
    try {
      return this.#newPage();
    } catch (error) {
      if (error instanceof OutOfMemoryError) return undefined;
      throw error;
    }
  }

  #isFree(page: Page): boolean {
    if (page.event === undefined) return true;
    const status = this.#session.calls.cuEventQuery(page.event);
    if (status === CUDA_ERROR_NOT_READY) return false;
    if (status !== CUDA_SUCCESS) this.#session.check("write", status);
    this.#release(page, page.event);
    return true;
  }

  #wait(page: Page): void {
    if (page.event === undefined) return;
    this.#session.check("write", this.#session.calls.cuEventSynchronize(page.event));
    this.#release(page, page.event);
  }

  #release(page: Page, event: number): void {
    this.#events.reuse(event);
    page.event = undefined;
  }
}
