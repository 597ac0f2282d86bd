import { SpecError } from "./errors.ts";
import { typeInWords } from "./argument-checks.ts";

/** Waits until all promises are settled, even if one is rejected, and returns their results. @throws the first error */
export async function settleAll<T>(jobs: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(jobs);
  return Promise.all(jobs);
}

/** Lets the event loop run once, so that messages of devices and signals arrive, and a page can be drawn. */
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

/**
 * The time in milliseconds after which long work on the host lets the event loop run, which itself takes microseconds.
 */
const INTERVAL_MS = 3;

/** A timer that lets long work on the host yield to the event loop every few milliseconds. */
export class EventLoopYielder {
  readonly #signal: AbortSignal | undefined;
  #last = performance.now();

  /** Starts the timer. @throws the signal's reason if it was aborted before */
  constructor(signal: AbortSignal | undefined) {
    checkWorkOptions({ signal });
    this.#signal = signal;
    signal?.throwIfAborted();
  }

  /** True if it is time to call `yieldNow`. */
  get isDue(): boolean {
    return performance.now() - this.#last > INTERVAL_MS;
  }

  /** Lets the event loop run once. @throws the signal's reason */
  async yieldNow(): Promise<void> {
    await pause();
    this.#signal?.throwIfAborted();
    this.#last = performance.now();
  }

  /**
   * Waits for a device's recorded work, and then lets the event loop run, so that the work can be aborted between two
   * launches. @throws the signal's reason
   */
  async finishAndYield(device: { finish(): Promise<void> }): Promise<void> {
    await device.finish();
    await this.yieldNow();
  }
}

/** The progress of long work. The function that reports it defines the unit. @stable */
export interface Progress {
  /** The number of completed units. */
  readonly done: number;
  /** The total number of units, as far as it is known. */
  readonly total: number;
}

/** The options of functions that may take long. @stable */
export interface WorkOptions {
  /** A signal that aborts the work between two launches. The function then throws the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** A function that is called during the work, and when it is complete. */
  readonly onProgress?: ((progress: Progress) => void) | undefined;
}

/** Checks that a signal and a callback are of these types. @throws SpecError */
export function checkWorkOptions({ signal, onProgress }: WorkOptions): void {
  if (signal !== undefined && typeof signal?.throwIfAborted !== "function")
    throw new SpecError(`signal: got ${typeInWords(signal)}, expected the signal of an AbortController`);
  if (onProgress !== undefined && typeof onProgress !== "function")
    throw new SpecError(`onProgress: got ${typeInWords(onProgress)}, expected a function of { done, total }`);
}

/** The progress of long work: counts and reports it, lets the event loop run meanwhile, and aborts it on a signal. */
export class WorkProgress {
  readonly #options: WorkOptions;
  readonly #yielder: EventLoopYielder;
  readonly #counted: { done: number; total: number };

  /**
   * Starts the work. `counted` is the progress that several parts of one task share, for example on several devices.
   * @throws the signal's reason if it was aborted before
   */
  constructor(options: WorkOptions, counted = { done: 0, total: 0 }) {
    this.#options = options;
    this.#counted = counted;
    checkWorkOptions(options);
    this.#yielder = new EventLoopYielder(options.signal);
  }

  /** Adds a number of units to the work that is to be done. */
  expect(units: number): void {
    this.#counted.total += units;
  }

  /**
   * Counts completed units, reports the progress, and lets the event loop run if it is time. @throws the signal's
   * reason
   */
  async done(units: number): Promise<void> {
    this.#counted.done += units;
    this.#options.onProgress?.({ ...this.#counted });
    await this.yieldIfDue();
  }

  /** Lets the event loop run if it is time. @throws the signal's reason */
  async yieldIfDue(): Promise<void> {
    if (this.#yielder.isDue) await this.#yielder.yieldNow();
  }
}

/**
 * Returns the result of a promise, or undefined if it takes longer than `patience` milliseconds. @throws the promise's
 * rejection
 */
export function resultWithin<T>(patience: number, promise: Promise<T>): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, Math.max(patience, 0), undefined);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** A function that calls `work`, which blocks the event loop, and returns the result of the call. */
export type BlockingRunner = <T>(work: () => T) => T;

let around: BlockingRunner = (work) => work();

/**
 * Sets the function by which `runBlocking` runs functions. A program with signal listeners needs one of its own: while
 * the event loop is blocked no listener is called, but a signal should still end the process.
 */
export function setBlockingRunner(own: BlockingRunner): void {
  around = own;
}

/** Runs a function that blocks the event loop, possibly for seconds, and returns its result. */
export const runBlocking: BlockingRunner = (work) => around(work);

/** Runs a blocking function after a whole turn of the event loop, in which signals that came before are heard. */
export async function runBlockingNext<T>(work: () => T): Promise<T> {
  await pause(); // ends the turn that has begun, which may be past its signals
  await pause();
  return runBlocking(work);
}
