/**
 * The points that the host waits for, in the stream's order.
 *
 * Waiting polls: a call that blocks would stop everything else on this thread, and one on another thread answers tens
 * of microseconds later than the launch with wait itself takes (10 µs). So the first wait spins for some tens of
 * microseconds, then the event loop polls at every turn, and what takes longer than some milliseconds is looked at
 * every millisecond. A lost device answers a poll with its error, so nothing waits for ever.
 */
import { CUDA_ERROR_NOT_READY } from "./ffi/results.ts";
import { EventPool } from "./events.ts";
import type { Session } from "./session.ts";

/** Milliseconds. */
const SPIN = 0.03;
const EVERY_TURN = 20;
const PAUSE = 1;
/** Arrived data is copied on this thread, at the speed it arrives: a large read must leave the event loop its turns. */
const LONGEST_TURN = 5;

interface Mark {
  readonly event: number;
  readonly sequence: number;
  readonly reached: () => void;
  readonly failed: (error: Error) => void;
}

/** The marks in a CUDA stream by which the host learns when recorded work is complete. */
export class Timeline {
  readonly #session: Session;
  readonly #events: EventPool;
  readonly #reached: (sequence: number) => void;
  readonly #meanwhile: () => void;
  #marks: Mark[] = [];
  #scheduled = false;
  #lastProgress = 0;
  #failure: Error | undefined;

  /**
   * `reached` is told up to which number of the device's launches all is complete; `meanwhile` is work for a turn of
   * the event loop at which the GPU has not got further.
   */
  constructor(session: Session, reached: (sequence: number) => void, meanwhile: () => void) {
    this.#session = session;
    this.#events = new EventPool(session);
    this.#reached = reached;
    this.#meanwhile = meanwhile;
  }

  /** Calls `reached` once everything recorded so far, up to launch number `sequence`, is complete. */
  mark(sequence: number, reached: () => void, failed: (error: Error) => void): void {
    this.#marks.push({ event: this.#events.record(), sequence, reached, failed });
  }

  /** Starts to wait for the marks made since the last call. */
  watch(): void {
    if (this.#scheduled || this.#marks.length === 0) return;
    this.#lastProgress = performance.now();
    this.#poll(() => {
      const until = this.#lastProgress + SPIN;
      do this.#advance();
      while (this.#marks.length > 0 && performance.now() < until);
    });
  }

  /** Blocks until the oldest mark is reached. @throws DeviceLostError */
  waitForOldest(): void {
    const [mark] = this.#marks;
    if (mark === undefined) return;
    this.#session.check("cuEventSynchronize", this.#session.calls.cuEventSynchronize(mark.event));
    this.#take(mark);
  }

  /** Fails all pending marks. */
  fail(error: Error): void {
    this.#failure ??= error;
    const marks = this.#marks;
    this.#marks = [];
    for (const { failed } of marks) failed(this.#failure);
  }

  /** Takes the marks that have been reached, for a while. */
  #advance(): void {
    const until = performance.now() + LONGEST_TURN;
    for (let mark = this.#marks[0]; mark !== undefined && performance.now() < until; mark = this.#marks[0]) {
      const status = this.#session.calls.cuEventQuery(mark.event);
      if (status === CUDA_ERROR_NOT_READY) return;
      this.#session.check("waiting", status);
      this.#take(mark);
    }
  }

  #take(mark: Mark): void {
    this.#marks.shift();
    this.#events.reuse(mark.event);
    this.#lastProgress = performance.now();
    this.#reached(mark.sequence);
    mark.reached();
  }

  #schedule(): void {
    if (this.#marks.length === 0) return;
    this.#scheduled = true;
    if (performance.now() - this.#lastProgress < EVERY_TURN) setImmediate(this.#turn);
    else setTimeout(this.#turn, PAUSE);
  }

  readonly #turn = (): void => {
    this.#scheduled = false;
    if (this.#failure !== undefined || this.#marks.length === 0) return;
    this.#poll(() => {
      this.#session.enter();
      const waiting = this.#marks.length;
      this.#advance();
      if (this.#marks.length === waiting) this.#meanwhile();
    });
  };

  /** A failure goes to whoever waits; the session has told the device already. */
  #poll(advance: () => void): void {
    try {
      advance();
      this.#schedule();
    } catch (error) {
      this.fail(error as Error);
    }
  }
}
