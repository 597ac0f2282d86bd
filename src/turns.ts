/**
 * Lets the event loop turn: a device that works in the background has said something, a signal has come, a page can
 * be drawn.
 */
function pause(): Promise<void> {
  if (typeof setImmediate === "function") return new Promise((resolve) => setImmediate(resolve));
  // Timers would wait for 4 ms in a page.
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(undefined);
  });
}

/** The time in milliseconds of long work on the host after which the event loop turns. A turn costs microseconds. */
const TURN = 3;

/** Lets the event loop turn every so often during long work on the host. */
export class Turns {
  readonly #signal: AbortSignal | undefined;
  #last = performance.now();

  constructor(signal: AbortSignal | undefined) {
    this.#signal = signal;
  }

  /** True where it is time to `take` one. */
  get due(): boolean {
    return performance.now() - this.#last > TURN;
  }

  /** @throws the signal's reason */
  async take(): Promise<void> {
    await pause();
    this.#signal?.throwIfAborted();
    this.#last = performance.now();
  }
}

/**
 * Returns what a promise gives; undefined if it does not within so many milliseconds.
 * @throws what the promise is rejected with
 */
export function within<T>(patience: number, promise: Promise<T>): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, Math.max(patience, 0), undefined);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
