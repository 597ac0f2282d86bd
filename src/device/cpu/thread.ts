/** A worker thread, in Node or in a browser. */
import type * as WorkerThreads from "node:worker_threads";

import { WORKER_SOURCE } from "./worker-source.ts";

/** A message to a worker thread. `WORKER_SOURCE` documents the kinds of messages. */
export type ToWorker =
  | { readonly kind: "memory"; readonly memory: WebAssembly.Memory; readonly slots: number; readonly slotWords: number }
  | { readonly kind: "program"; readonly id: number; readonly module: WebAssembly.Module }
  | { readonly kind: "forget"; readonly id: number }
  | {
      readonly kind: "launch";
      readonly number: number;
      readonly after: number;
      readonly kernel: string;
      readonly program: number;
      readonly slot: number;
      readonly traps: number;
      readonly ranges: number;
      readonly begin: number;
      readonly end: number;
      readonly step: number;
      readonly scratch: number;
      readonly args: ArrayBuffer;
    }
  | { readonly kind: "fence"; readonly number: number };

/** A message from a worker thread: a kernel has trapped, or everything before a fence is complete. */
export type FromWorker =
  | { readonly kind: "trap"; readonly kernel: string; readonly text: string }
  | { readonly kind: "fence"; readonly number: number };

/** A worker thread, in Node or in a browser. */
export interface Thread {
  post(message: ToWorker): void;
  /** Sets whether the worker keeps the process alive. */
  hold(busy: boolean): void;
  terminate(): void;
}

/** The functions that a worker thread's owner provides for its messages and its unexpected end. */
export interface ThreadEvents {
  message(message: FromWorker): void;
  died(reason: string): void;
}

/** A function that starts a worker thread, which calls `events`. */
export type StartThread = (events: ThreadEvents) => Thread;

/** Returns a module of Node without an import, which bundlers for browsers could not resolve. */
function nodeModule<T>(name: string): T | undefined {
  const { process } = globalThis as { process?: { getBuiltinModule?: (name: string) => unknown } };
  return process?.getBuiltinModule?.(name) as T | undefined;
}

/** Returns the number of processor cores that are available to the process. */
export function coreCount(): number {
  const os = nodeModule<{ availableParallelism(): number }>("node:os");
  if (os !== undefined) return os.availableParallelism();
  return typeof navigator === "undefined" ? 1 : navigator.hardwareConcurrency;
}

/** Starts a worker thread in Node or a browser. */
export function startThread(events: ThreadEvents): Thread {
  const threads = nodeModule<typeof WorkerThreads>("node:worker_threads");
  return threads === undefined ? startWebWorker(events) : startNodeWorker(threads, events);
}

function startNodeWorker({ Worker }: typeof WorkerThreads, events: ThreadEvents): Thread {
  // Without the parent's flags: loaders (tsx, vitest) would cost more than the worker itself.
  const worker = new Worker(WORKER_SOURCE, { eval: true, execArgv: [], name: "feynkac" });
  worker.on("message", (message: FromWorker) => events.message(message));
  worker.on("error", (error) => events.died(String(error)));
  worker.on("exit", (code) => events.died(`worker exited with code ${code}`));
  worker.unref();
  return {
    post: (message) => worker.postMessage(message),
    hold: (busy) => {
      if (busy) worker.ref();
      else worker.unref();
    },
    terminate: () => void worker.terminate(),
  };
}

function startWebWorker(events: ThreadEvents): Thread {
  const url = URL.createObjectURL(new Blob([WORKER_SOURCE], { type: "text/javascript" }));
  const worker = new Worker(url, { name: "feynkac" });
  worker.addEventListener("message", (event: MessageEvent<FromWorker>) => events.message(event.data));
  worker.addEventListener("error", (event) => events.died(event.message));
  return {
    post: (message) => worker.postMessage(message),
    hold: () => {},
    terminate: () => {
      worker.terminate();
      URL.revokeObjectURL(url);
    },
  };
}
