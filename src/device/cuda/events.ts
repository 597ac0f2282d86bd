/** Marks in the stream, used again and again. */
import { EVENT_DISABLE_TIMING } from "./ffi/driver-streams.ts";
import type { Session } from "./session.ts";

/** A pool of CUDA events, which are recorded in a session's stream and reused. */
export class EventPool {
  readonly #session: Session;
  readonly #idle: number[] = [];

  constructor(session: Session) {
    this.#session = session;
  }

  /** Records an event at the stream's end. */
  record(): number {
    const { calls, stream } = this.#session;
    const event =
      this.#idle.pop() ?? this.#session.word("cuEventCreate", (to) => calls.cuEventCreate(to, EVENT_DISABLE_TIMING));
    this.#session.check("cuEventRecord", calls.cuEventRecord(event, stream));
    return event;
  }

  /** Returns a completed event to the pool. */
  reuse(event: number): void {
    this.#idle.push(event);
  }
}
