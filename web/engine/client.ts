/** The page's side of the worker: calls as promises, which a signal cancels. */
import type { Answer, Argument, CallName, Event, Failure, FromWorker, ToWorker } from "./protocol.ts";

/** What the engine refused, with the place in the book where it is one. */
export class EngineError extends Error {
  readonly code: string;
  readonly path: string | undefined;
  readonly columns: Failure["columns"];
  constructor({ code, path, message, name, columns }: Failure) {
    super(message);
    this.name = name;
    this.code = code;
    this.path = path;
    this.columns = columns;
  }
}

interface Pending {
  readonly resolve: (value: never) => void;
  readonly reject: (error: Error) => void;
  readonly onEvent: ((event: Event) => void) | undefined;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly onEvent?: (event: Event) => void;
}

/** A kernel cannot be stopped: a worker that has not answered a cancel after so long is ended. Milliseconds. */
const PATIENCE = 1500;

export class Engine {
  #worker: Worker | undefined;
  readonly #pending = new Map<number, Pending>();
  readonly #start: () => Worker;
  #calls = 0;
  /** Told when a device is lost, and when the worker had to be ended. */
  onLost: (reason: string) => void = () => {};

  constructor(start: () => Worker) {
    this.#start = start;
    this.#worker = this.#listen(start());
  }

  call<N extends CallName>(name: N, argument: Argument<N>, { signal, onEvent }: CallOptions = {}): Promise<Answer<N>> {
    const id = this.#calls++;
    return new Promise<Answer<N>>((resolve, reject) => {
      if (signal?.aborted === true) {
        reject(signal.reason as Error);
        return;
      }
      this.#pending.set(id, { resolve, reject, onEvent });
      this.#tell({ kind: "call", id, name, argument });
      signal?.addEventListener("abort", () => this.#cancel(id), { once: true });
    });
  }

  #tell(message: ToWorker): void {
    this.#worker ??= this.#listen(this.#start());
    this.#worker.postMessage(message);
  }

  #cancel(id: number): void {
    if (!this.#pending.has(id)) return;
    this.#tell({ kind: "cancel", id });
    setTimeout(() => {
      if (this.#pending.has(id)) this.#end("the engine did not answer and was started again");
    }, PATIENCE);
  }

  #listen(worker: Worker): Worker {
    worker.addEventListener("message", ({ data }: MessageEvent<FromWorker>) => this.#hear(data));
    worker.addEventListener("error", (event) => this.#end(event.message || "the engine could not be loaded"));
    return worker;
  }

  #hear(message: FromWorker): void {
    if (message.kind === "lost") {
      this.onLost(message.reason);
      return;
    }
    const pending = this.#pending.get(message.id);
    if (message.kind === "event") pending?.onEvent?.(message.event);
    else {
      this.#pending.delete(message.id);
      if (message.kind === "answer") pending?.resolve(message.value as never);
      else pending?.reject(new EngineError(message.failure));
    }
  }

  #end(reason: string): void {
    this.#worker?.terminate();
    this.#worker = undefined;
    const failure = { name: "Error", code: "ENGINE_ENDED", message: reason };
    for (const { reject } of this.#pending.values()) reject(new EngineError(failure));
    this.#pending.clear();
    this.onLost(reason);
  }
}
