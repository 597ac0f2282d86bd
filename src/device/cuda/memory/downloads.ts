/**
 * Copies to the host: by the GPU into pinned pieces, from there into the caller's array as each piece arrives.
 *
 * Pinned memory is bounded, so of a very large copy some pieces cannot be recorded yet when `start` returns. Anything
 * recorded meanwhile would come before them and could change what they read; `settle`, called before anything is
 * recorded, therefore waits until they are recorded, too. Whoever awaits a read before recording more never notices.
 */
import type { Session } from "../session.ts";
import type { Timeline } from "../timeline.ts";
import { PinnedPool, type PinnedBlock } from "./pinned.ts";

const SMALL = { bytes: 2 ** 16, max: 64 };
const LARGE = { bytes: 2 ** 22, max: 16 };

/** Bytes of a page of the host's memory, and those whose pages are made at a time. */
const PAGE = 2 ** 12;
const PREPARED = 2 ** 22;

interface Download {
  readonly source: number;
  readonly target: Uint8Array;
  /** The device's launches so far. */
  readonly sequence: number;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
  recorded: number;
  arrived: number;
  /** Bytes whose pages the host has made. */
  prepared: number;
}

/** The copies from a CUDA device to the host that are in progress. */
export class Downloads {
  readonly #session: Session;
  readonly #timeline: Timeline;
  readonly #small: PinnedPool;
  readonly #large: PinnedPool;
  /** Not wholly recorded: at most one. */
  #unfinished: Download | undefined;
  /** Not wholly arrived, the oldest first. */
  readonly #open: Download[] = [];

  constructor(session: Session, timeline: Timeline) {
    this.#session = session;
    this.#timeline = timeline;
    this.#small = new PinnedPool(session, SMALL.bytes, SMALL.max);
    this.#large = new PinnedPool(session, LARGE.bytes, LARGE.max);
  }

  /** Starts to fill `target`, which is not empty; the promise settles when it is full. */
  start(source: number, target: Uint8Array, sequence: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#unfinished = { source, target, sequence, resolve, reject, recorded: 0, arrived: 0, prepared: 0 };
      this.#open.push(this.#unfinished);
      try {
        this.#record(this.#unfinished);
      } catch (error) {
        this.#abandon(error as Error);
      }
    });
  }

  /** Records everything requested so far; blocks where that has to wait for pinned memory. */
  settle(): void {
    while (this.#unfinished !== undefined) this.#timeline.waitForOldest();
  }

  /**
   * Touches the pages of target memory while the GPU has no data ready: an operating system allocates a page at its
   * first write, which takes longer than the copy.
   */
  prepare(): void {
    const next = this.#open.find(({ target, prepared }) => prepared < target.length);
    if (next === undefined) return;
    const { target } = next;
    // What has arrived is there to stay.
    let at = Math.max(next.prepared, next.arrived);
    const end = Math.min(at + PREPARED, target.length);
    for (; at < end; at += PAGE) target[at] = 0;
    next.prepared = at;
  }

  /** Records as many pieces as there is pinned memory for. */
  #record(download: Download): void {
    const { target, source, sequence } = download;
    const { calls, stream } = this.#session;
    while (download.recorded < target.length) {
      const rest = target.length - download.recorded;
      const pool = rest <= this.#small.pieceBytes ? this.#small : this.#large;
      const piece = pool.take();
      if (piece === undefined) return;
      const from = download.recorded;
      const count = Math.min(rest, pool.pieceBytes);
      this.#session.check("read", calls.cuMemcpyDtoHAsync_v2(piece.address, source + from, count, stream));
      download.recorded += count;
      this.#timeline.mark(
        sequence,
        () => this.#arrived(download, pool, piece, from, count),
        (error) => download.reject(error),
      );
    }
    this.#unfinished = undefined;
  }

  #arrived(download: Download, pool: PinnedPool, piece: PinnedBlock, at: number, count: number): void {
    download.target.set(piece.bytes.subarray(0, count), at);
    pool.giveBack(piece);
    download.arrived += count;
    if (download.arrived === download.target.length) {
      this.#close(download);
      download.resolve();
    }
    const unfinished = this.#unfinished;
    if (unfinished === undefined) return;
    try {
      this.#record(unfinished);
    } catch (error) {
      this.#abandon(error as Error);
    }
  }

  #abandon(error: Error): void {
    const download = this.#unfinished;
    if (download === undefined) return;
    this.#close(download);
    download.reject(error);
    this.#unfinished = undefined;
  }

  #close(download: Download): void {
    this.#open.splice(this.#open.indexOf(download), 1);
  }
}
