/** The page's side of the worker: calls as promises, which a signal cancels, and which outlive a worker. */
import type { Answer, Argument, CallName, Edit, Event, Failure, FromWorker, ToWorker } from "./protocol.ts";

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

interface Call {
  readonly name: CallName;
  readonly argument: unknown;
}

interface Pending extends Call {
  readonly resolve: (value: never) => void;
  readonly reject: (error: Error) => void;
  readonly onEvent: ((event: Event) => void) | undefined;
  /** Whether it is one of those that a new worker is told. */
  readonly isRepeated?: boolean;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly onEvent?: (event: Event) => void;
}

/** The least time in milliseconds in which a worker has to answer a cancel. */
const MIN_PATIENCE = 1500;
/**
 * The same in units of the time that the worker took to its first answer. What blocks it is mostly a kernel that is
 * compiled, which takes longer on a busy machine, and which a new worker would have to compile again.
 */
const STARTS = 4;

/**
 * The worker. A call that is cancelled is rejected at once. If the worker does not hear of it, because a kernel cannot
 * be stopped, another one takes its place: it is given the device, the book and the edits that the first one had, and
 * then the calls that are still wanted. What has been computed is lost.
 */
export class Engine {
  #worker: Worker | undefined;
  /** Calls without an answer, in their order. */
  readonly #pending = new Map<number, Pending>();
  /** Cancelled calls that the worker has not answered. */
  readonly #cancelled = new Set<number>();
  /** What a new worker has to be told, in this order. */
  #kept: readonly Call[] = [];
  readonly #start: () => Worker;
  #calls = 0;
  #started = 0;
  /** From the start of the worker to its first answer, in milliseconds. */
  #firstAnswer: number | undefined;
  /** Called when a device is lost. */
  onLost: (reason: string) => void = () => {};
  /** Called when a new worker has taken the place of another, and has no results. */
  onRestart: () => void = () => {};

  constructor(start: () => Worker) {
    this.#start = start;
    this.#worker = this.#begun();
  }

  call<N extends CallName>(name: N, argument: Argument<N>, { signal, onEvent }: CallOptions = {}): Promise<Answer<N>> {
    return new Promise<Answer<N>>((resolve, reject) => {
      if (signal?.aborted === true) {
        reject(signal.reason as Error);
        return;
      }
      const id = this.#send({ name, argument, resolve, reject, onEvent });
      signal?.addEventListener("abort", () => this.#cancel(id, signal.reason as Error), { once: true });
    });
  }

  #send(call: Pending): number {
    const worker = this.#worker ?? this.#restarted();
    const id = this.#calls++;
    this.#pending.set(id, call);
    post(worker, { kind: "call", id, name: call.name, argument: call.argument });
    return id;
  }

  #cancel(id: number, reason: Error): void {
    const pending = this.#pending.get(id);
    if (pending === undefined || this.#worker === undefined) return;
    this.#pending.delete(id);
    this.#cancelled.add(id);
    post(this.#worker, { kind: "cancel", id });
    this.#watch(id);
    pending.reject(reason);
  }

  /** Starts another worker if this one does not answer a cancelled call. One that is still starting is waited for. */
  #watch(id: number): void {
    const patience = Math.max(MIN_PATIENCE, STARTS * (this.#firstAnswer ?? 0));
    setTimeout(() => {
      if (!this.#cancelled.has(id)) return;
      if (this.#firstAnswer === undefined) this.#watch(id);
      else this.#restarted();
    }, patience);
  }

  #begun(): Worker {
    this.#started = performance.now();
    this.#firstAnswer = undefined;
    const worker = this.#start();
    worker.addEventListener("message", ({ data }: MessageEvent<FromWorker>) => {
      if (worker === this.#worker) this.#hear(data);
    });
    worker.addEventListener("error", ({ message }) => {
      if (worker === this.#worker) this.#end(message || "the engine could not be loaded");
    });
    return worker;
  }

  /** A new worker with all that the old one had but results, which goes on with the calls that are wanted. */
  #restarted(): Worker {
    this.#worker?.terminate();
    const worker = (this.#worker = this.#begun());
    this.#cancelled.clear();
    const wanted = [...this.#pending.values()].filter(({ isRepeated }) => isRepeated !== true);
    this.#pending.clear();
    const repeated = {
      resolve: () => {},
      reject: ({ message }: Error) => this.onLost(message),
      onEvent: undefined,
      isRepeated: true,
    };
    for (const call of this.#kept) this.#send({ ...call, ...repeated });
    for (const call of wanted) this.#send(call);
    this.onRestart();
    return worker;
  }

  #hear(message: FromWorker): void {
    if (message.kind === "lost") {
      this.#kept = this.#kept.filter(({ name }) => name !== "open");
      this.onLost(message.reason);
      return;
    }
    const pending = this.#pending.get(message.id);
    if (message.kind === "event") {
      pending?.onEvent?.(message.event);
      return;
    }
    this.#firstAnswer ??= performance.now() - this.#started;
    this.#cancelled.delete(message.id);
    this.#pending.delete(message.id);
    if (pending === undefined) return;
    if (message.kind === "failure") pending.reject(new EngineError(message.failure));
    else {
      if (pending.isRepeated !== true) this.#kept = kept(this.#kept, pending);
      pending.resolve(message.value as never);
    }
  }

  /** Ends a worker that cannot go on. The next call starts another one. */
  #end(reason: string): void {
    this.#worker?.terminate();
    this.#worker = undefined;
    const failure = { name: "Error", code: "ENGINE_ENDED", message: reason };
    const ended = [...this.#pending.values()];
    this.#pending.clear();
    this.#cancelled.clear();
    for (const { reject } of ended) reject(new EngineError(failure));
  }
}

function post(worker: Worker, message: ToWorker): void {
  worker.postMessage(message);
}

/** What a new worker has to be told after one more call that has been answered. */
function kept(before: readonly Call[], { name, argument }: Call): readonly Call[] {
  const call = { name, argument };
  switch (name) {
    case "open":
      return [call, ...before.filter((one) => one.name !== "open")];
    case "load":
      return [...before.filter((one) => one.name === "open"), call];
    case "scenarios":
      return [...before.filter((one) => one.name !== "scenarios"), call];
    case "edit": {
      const last = before.at(-1);
      const isReplaced = last?.name === "edit" && replaces(argument as Edit, last.argument as Edit);
      return [...(isReplaced ? before.slice(0, -1) : before), call];
    }
    default:
      return before;
  }
}

/** Whether an edit leaves nothing of the one before it, as when digits are typed. */
function replaces(edit: Edit, before: Edit): boolean {
  if (edit.kind === "trade") return before.kind === "trade" && before.place === edit.place;
  if (edit.kind !== "header" || before.kind !== "header" || before.value === undefined) return false;
  return edit.path.length === before.path.length && edit.path.every((key, i) => key === before.path[i]);
}
