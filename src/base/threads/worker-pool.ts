import type * as FileSystem from "node:fs";
import type * as WorkerThreads from "node:worker_threads";
import type { FromWorker, ToWorker } from "./messages.ts";

/**
 * The maximum number of jobs that a worker has at a time. With two, it need not wait for the next job when it completes
 * one.
 */
const JOBS_PER_WORKER = 2;

/** A function that starts a worker thread and returns it. */
export type StartWorker = () => WorkerThreads.Worker;

interface PoolWorker<Answer> {
  readonly thread: WorkerThreads.Worker;
  /** The functions that receive the answers to the worker's jobs, by job number. */
  readonly pending: Map<number, (answer: Answer | undefined) => void>;
  ready: boolean;
}

/**
 * A pool of worker threads that run `serveJobs`. The threads load their modules at once, and take jobs after `begin`.
 */
export class WorkerPool<Setup, Job, Answer> implements Disposable {
  readonly #workers: PoolWorker<Answer>[] = [];
  readonly #stops = new WeakMap<AbortSignal, Set<() => void>>();
  #jobs = 0;
  #ended: Promise<unknown> = Promise.resolve();
  #announce: () => void = () => {};
  readonly #started: Promise<void>;

  /** Starts the workers, one with each of the given functions. */
  constructor(starts: readonly StartWorker[]) {
    this.#started = new Promise((resolve) => (this.#announce = resolve));
    for (const start of starts) this.#start(start);
    this.#announceIfStarted();
  }

  /**
   * The number of further jobs that the pool accepts now. It is 0 before the first worker is ready, and after all
   * workers have ended.
   */
  get freeSlots(): number {
    return JOBS_PER_WORKER * this.#workers.filter(({ ready }) => ready).length;
  }

  /** A promise that resolves when all workers have ended. */
  get ended(): Promise<unknown> {
    return this.#ended;
  }

  /**
   * Waits until each worker is ready or has ended. If jobs were given to the first ready worker only, the others would
   * start later. The process stays alive meanwhile.
   */
  async whenStarted(): Promise<void> {
    for (const { thread } of this.#workers) thread.ref();
    await this.#started;
    for (const { thread, pending } of this.#workers) if (pending.size === 0) thread.unref();
  }

  /**
   * Sends all workers the setup that all jobs share. It is called once. @throws DataCloneError data that cannot be sent
   */
  begin(setup: Setup): void {
    for (const { thread } of this.#workers) thread.postMessage({ kind: "begin", setup } satisfies ToWorker<Setup, Job>);
  }

  /**
   * Runs a job and returns a worker's answer. Undefined if no worker could do the job for reasons outside the job.
   * @throws the signal's reason
   */
  run(job: Job, signal: AbortSignal): Promise<Answer | undefined> {
    signal.throwIfAborted();
    const worker = this.#leastBusy();
    if (worker === undefined) return Promise.resolve(undefined);
    const number = this.#jobs++;
    return new Promise((resolve, reject) => {
      try {
        worker.thread.postMessage({ kind: "job", number, job } satisfies ToWorker<Setup, Job>);
      } catch {
        resolve(undefined); // a trade of one's own making that cannot be sent to another thread
        return;
      }
      const stop = (): void => {
        worker.thread.postMessage({ kind: "stop", number } satisfies ToWorker<Setup, Job>);
        this.#settle(worker, number);
        reject(signal.reason as Error);
      };
      const stops = this.#stopsOf(signal).add(stop);
      worker.pending.set(number, (answer) => {
        stops.delete(stop);
        resolve(answer);
      });
      worker.thread.ref();
    });
  }

  [Symbol.dispose](): void {
    while (this.#workers.length > 0) this.#lose(this.#workers[0]);
  }

  /**
   * The functions to call when a signal is aborted. There is only one listener per signal, independently of the number
   * of jobs.
   */
  #stopsOf(signal: AbortSignal): Set<() => void> {
    let stops = this.#stops.get(signal);
    if (stops === undefined) {
      const all = (stops = new Set());
      this.#stops.set(signal, all);
      signal.addEventListener("abort", () => all.forEach((stop) => stop()), { once: true });
    }
    return stops;
  }

  #leastBusy(): PoolWorker<Answer> | undefined {
    let min: PoolWorker<Answer> | undefined;
    for (const worker of this.#workers)
      if (worker.ready && !(worker.pending.size >= (min?.pending.size ?? Number.POSITIVE_INFINITY))) min = worker;
    return min;
  }

  /**
   * Starts a worker. If that fails, because Node's permissions forbid threads or the machine allows no more, the pool
   * has one worker fewer.
   */
  #start(start: StartWorker): void {
    let thread: WorkerThreads.Worker;
    try {
      thread = start();
    } catch {
      return;
    }
    const worker: PoolWorker<Answer> = { thread, pending: new Map(), ready: false };
    this.#workers.push(worker);
    const lost = (): void => this.#lose(worker);
    thread.on("message", (message: FromWorker<Answer>) => this.#hear(worker, message));
    thread.on("error", lost);
    thread.on("exit", lost);
    thread.unref();
  }

  #hear(worker: PoolWorker<Answer>, message: FromWorker<Answer>): void {
    if (message.kind === "ready") {
      worker.ready = true;
      this.#announceIfStarted();
    } else this.#settle(worker, message.number)?.(message.kind === "done" ? message.answer : undefined);
  }

  /**
   * Removes a job from a worker, and returns the function that receives its answer; undefined if the job was aborted.
   */
  #settle(worker: PoolWorker<Answer>, number: number): ((answer: Answer | undefined) => void) | undefined {
    const pending = worker.pending.get(number);
    worker.pending.delete(number);
    if (worker.pending.size === 0) worker.thread.unref();
    return pending;
  }

  /** Removes a worker. Its jobs are answered by undefined, so that the callers do them. */
  #lose(worker: PoolWorker<Answer>): void {
    const place = this.#workers.indexOf(worker);
    if (place < 0) return;
    this.#workers.splice(place, 1);
    this.#ended = Promise.all([this.#ended, worker.thread.terminate()]);
    for (const resolve of worker.pending.values()) resolve(undefined);
    worker.pending.clear();
    this.#announceIfStarted();
  }

  #announceIfStarted(): void {
    if (this.#workers.every(({ ready }) => ready)) this.#announce();
  }
}

/**
 * Returns functions that start worker threads from a JavaScript file, one function for each entry of `data`. Its thread
 * receives the entry. The result is undefined if there is no such file: in a browser page, in a program bundled into
 * one file, and in uncompiled sources.
 */
export function workerStarters(file: URL, data: readonly unknown[]): StartWorker[] | undefined {
  const { process } = globalThis as { process?: { getBuiltinModule?: (name: string) => unknown } };
  const threads = process?.getBuiltinModule?.("node:worker_threads") as typeof WorkerThreads | undefined;
  const files = process?.getBuiltinModule?.("node:fs") as typeof FileSystem | undefined;
  if (threads === undefined || files === undefined) return undefined;
  if (file.protocol !== "file:" || !files.existsSync(file)) return undefined;
  return data.map((workerData) => () => new threads.Worker(file, { workerData, execArgv: [], name: "feynkac worker" }));
}
