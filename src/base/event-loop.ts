import { SpecError } from "./errors.ts";
import { shownType } from "./argument-checks.ts";

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
const TURN = 3;

/** A timer for long work on the host, which lets the event loop run every few milliseconds. */
export class Turns {
  readonly #signal: AbortSignal | undefined;
  #last = performance.now();

  /** Starts the timer. @throws the signal's reason if it was aborted before */
  constructor(signal: AbortSignal | undefined) {
    checkWork({ signal });
    this.#signal = signal;
    signal?.throwIfAborted();
  }

  /** True if it is time to call `take`. */
  get due(): boolean {
    return performance.now() - this.#last > TURN;
  }

  /** Lets the event loop run once. @throws the signal's reason */
  async take(): Promise<void> {
    await pause();
    this.#signal?.throwIfAborted();
    this.#last = performance.now();
  }

  /**
   * Waits for a device's recorded work, and lets the event loop run, so that the work can be aborted between two
   * launches. @throws as `take`
   */
  async after(device: { finish(): Promise<void> }): Promise<void> {
    await device.finish();
    await this.take();
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
export function checkWork({ signal, onProgress }: WorkOptions): void {
  if (signal !== undefined && typeof signal?.throwIfAborted !== "function")
    throw new SpecError(`signal: got ${shownType(signal)}, expected the signal of an AbortController`);
  if (onProgress !== undefined && typeof onProgress !== "function")
    throw new SpecError(`onProgress: got ${shownType(onProgress)}, expected a function of { done, total }`);
}

/** Long work that counts its progress, lets the event loop run, and can be aborted. */
export class Work {
  readonly #options: WorkOptions;
  readonly #turns: Turns;
  readonly #counted: { done: number; total: number };

  /**
   * Starts the work. `counted` is the progress that several parts of one task share, for example on several devices.
   * @throws the signal's reason if it was aborted before
   */
  constructor(options: WorkOptions, counted = { done: 0, total: 0 }) {
    this.#options = options;
    this.#counted = counted;
    checkWork(options);
    this.#turns = new Turns(options.signal);
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
    await this.turn();
  }

  /** Lets the event loop run if it is time. @throws the signal's reason */
  async turn(): Promise<void> {
    if (this.#turns.due) await this.#turns.take();
  }
}

/**
 * Returns the result of a promise; undefined if it takes longer than `patience` milliseconds. @throws the promise's
 * rejection
 */
export function within<T>(patience: number, promise: Promise<T>): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, Math.max(patience, 0), undefined);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** A function that calls another one which does not let the event loop run, and returns its result. */
export type Unheard = <T>(work: () => T) => T;

let around: Unheard = (work) => work();

/**
 * Sets how `unheard` calls functions: a program that listens to signals does so in a way that lets them end the
 * process, although no listener is called meanwhile.
 */
export function setUnheard(own: Unheard): void {
  around = own;
}

/** Calls a function that may take seconds without letting the event loop run, and returns its result. */
export const unheard: Unheard = (work) => around(work);
