import type * as FileSystem from "node:fs";
import type * as WorkerThreads from "node:worker_threads";
import { unreadResult, type ParsedTrade, type TradeResult } from "../../book/index.ts";
import type { Device, DeviceParts } from "../../device/index.ts";
import { type FromWorker, type Job, type WorkerData, type ToWorker, unpackResults } from "./messages.ts";

/** Jobs a worker has at once: the next one is there when it has done with one. */
const JOBS_PER_WORKER = 2;

/** What a worker pool is told about a batch. */
export type BatchOf<T> = Omit<Job, "trades" | "indices"> & { readonly trades: T };

/** A job that is out, and what to do with its answer. */
interface Pending {
  readonly job: Job;
  readonly resolve: (results: TradeResult[] | undefined) => void;
}

/** Starts a worker; tests bring another. */
export type StartWorker = (data: WorkerData) => WorkerThreads.Worker;

interface PoolWorker {
  readonly thread: WorkerThreads.Worker;
  readonly pending: Map<number, Pending>;
  ready: boolean;
}

/**
 * Threads that price whole batches in parallel, each on its own part of a device: the host takes longer to prepare
 * trades and to read results than a core takes to solve them. Results are those of one thread, to the bit.
 */
export class WorkerPool implements Disposable {
  readonly #workers: PoolWorker[] = [];
  readonly #stops = new WeakMap<AbortSignal, Set<() => void>>();
  #jobs = 0;

  constructor({ count, options }: Pick<DeviceParts, "count" | "options">, start: StartWorker) {
    for (let i = 0; i < count; i++) this.#start(start, options);
  }

  /** Batches that it takes at once, now: none before its first worker is ready, and when all are gone. */
  get room(): number {
    return JOBS_PER_WORKER * this.#workers.filter(({ ready }) => ready).length;
  }

  /**
   * Prices a batch. Undefined where the worker could not: it has ended, or something failed that is not one trade's
   * fault.
   * @throws the signal's reason
   */
  async price(batch: BatchOf<readonly ParsedTrade[]>, signal: AbortSignal): Promise<TradeResult[] | undefined> {
    signal.throwIfAborted();
    const { trades } = batch;
    const job = {
      ...batch,
      trades: trades.map((parsed) => (parsed.ok ? parsed.trade : undefined)),
      indices: trades.map(({ index }) => index),
    };
    const results = await this.#done(job, signal);
    return results?.map((result, i) => {
      const parsed = trades[i];
      return parsed.ok ? result : unreadResult(parsed);
    });
  }

  [Symbol.dispose](): void {
    while (this.#workers.length > 0) this.#lose(this.#workers[0]);
  }

  #done(job: Job, signal: AbortSignal): Promise<TradeResult[] | undefined> {
    const worker = this.#leastBusy();
    if (worker === undefined) return Promise.resolve(undefined);
    const number = this.#jobs++;
    return new Promise((resolve, reject) => {
      try {
        tell(worker, { kind: "job", number, job });
      } catch {
        resolve(undefined); // a trade of one's own making that cannot be sent to another thread
        return;
      }
      const stop = (): void => {
        tell(worker, { kind: "stop", number });
        this.#settle(worker, number);
        reject(signal.reason as Error);
      };
      const stops = this.#stopsOf(signal).add(stop);
      const settled = (results: TradeResult[] | undefined): void => {
        stops.delete(stop);
        resolve(results);
      };
      worker.pending.set(number, { job, resolve: settled });
      worker.thread.ref();
    });
  }

  /** What to do when a signal comes: one listener a run, however many jobs it has here. */
  #stopsOf(signal: AbortSignal): Set<() => void> {
    let stops = this.#stops.get(signal);
    if (stops === undefined) {
      const all = (stops = new Set());
      this.#stops.set(signal, all);
      signal.addEventListener("abort", () => all.forEach((stop) => stop()), { once: true });
    }
    return stops;
  }

  #leastBusy(): PoolWorker | undefined {
    let min: PoolWorker | undefined;
    for (const worker of this.#workers)
      if (worker.ready && !(worker.pending.size >= (min?.pending.size ?? Number.POSITIVE_INFINITY))) min = worker;
    return min;
  }

  /** No worker where Node's permissions forbid threads, or the machine has no more of them: the others do the work. */
  #start(start: StartWorker, data: WorkerData): void {
    let thread: WorkerThreads.Worker;
    try {
      thread = start(data);
    } catch {
      return;
    }
    const worker: PoolWorker = { thread, pending: new Map(), ready: false };
    this.#workers.push(worker);
    const lost = (): void => this.#lose(worker);
    thread.on("message", (message: FromWorker) => this.#hear(worker, message));
    thread.on("error", lost);
    thread.on("exit", lost);
    thread.unref();
  }

  #hear(worker: PoolWorker, message: FromWorker): void {
    if (message.kind === "ready") worker.ready = true;
    else {
      const pending = this.#settle(worker, message.number);
      if (pending === undefined) return; // stopped meanwhile
      pending.resolve(message.kind === "done" ? unpackResults(message.packed, pending.job.scenarios) : undefined);
    }
  }

  #settle(worker: PoolWorker, number: number): Pending | undefined {
    const pending = worker.pending.get(number);
    worker.pending.delete(number);
    if (worker.pending.size === 0) worker.thread.unref();
    return pending;
  }

  /** Whoever waits for its results prices those trades. */
  #lose(worker: PoolWorker): void {
    const place = this.#workers.indexOf(worker);
    if (place < 0) return;
    this.#workers.splice(place, 1);
    void worker.thread.terminate();
    for (const { resolve } of worker.pending.values()) resolve(undefined);
    worker.pending.clear();
  }
}

function tell({ thread }: PoolWorker, message: ToWorker): void {
  thread.postMessage(message);
}

/** Worker pools by their device; a pool ends when its device does. */
const pools = new WeakMap<Device, WorkerPool>();

/** The worker pool of a device if one is at work. */
export function workerPoolOf(device: Device): WorkerPool | undefined {
  return pools.get(device);
}

/** The worker pool of a device; undefined where there can be none: one thread, a page, a program in one file. */
export function startWorkerPool(device: Device): WorkerPool | undefined {
  const known = pools.get(device);
  const { parts } = device;
  if (known !== undefined || parts === undefined) return known;
  const start = startThread();
  if (start === undefined) return undefined;
  const pool = new WorkerPool(parts, start);
  pools.set(device, pool);
  parts.keep(pool);
  return pool;
}

/** Node's, where the worker's file is beside this one as JavaScript. */
function startThread(): StartWorker | undefined {
  const { process } = globalThis as { process?: { getBuiltinModule?: (name: string) => unknown } };
  const threads = process?.getBuiltinModule?.("node:worker_threads") as typeof WorkerThreads | undefined;
  const files = process?.getBuiltinModule?.("node:fs") as typeof FileSystem | undefined;
  if (threads === undefined || files === undefined) return undefined;
  const file = new URL("./worker.js", import.meta.url);
  if (file.protocol !== "file:" || !files.existsSync(file)) return undefined;
  return (workerData) => new threads.Worker(file, { workerData, execArgv: [], name: "feynkac worker" });
}
