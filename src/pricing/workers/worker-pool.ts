import type * as FileSystem from "node:fs";
import type * as WorkerThreads from "node:worker_threads";
import { failedResult, type ParsedTrade, type TradeResult } from "../../book/index.ts";
import type { Device, DeviceParts } from "../../device/index.ts";
import { type FromMember, type Job, type MemberData, type ToMember, unpackResults } from "./messages.ts";

/** Jobs a member has at once: the next one is there when it has done with one. */
const JOBS_A_MEMBER = 2;

/** What a crew is told about a batch. */
export type BatchOf<T> = Omit<Job, "trades"> & { readonly trades: T };

/** A job that is out, and what to do with its answer. */
interface Pending {
  readonly job: Job;
  readonly resolve: (results: TradeResult[] | undefined) => void;
}

/** Starts a member; tests bring another. */
export type StartMember = (data: MemberData) => WorkerThreads.Worker;

interface Member {
  readonly worker: WorkerThreads.Worker;
  readonly pending: Map<number, Pending>;
  ready: boolean;
}

/**
 * Threads that price whole batches side by side, each on its own part of a device: preparing trades and reading results costs the host more than a core
 * solves in the same time. Results are those of one thread, to the bit.
 */
export class Crew implements Disposable {
  readonly #members: Member[] = [];
  readonly #stops = new WeakMap<AbortSignal, Set<() => void>>();
  #jobs = 0;

  constructor({ count, options }: Pick<DeviceParts, "count" | "options">, start: StartMember) {
    for (let i = 0; i < count; i++) this.#start(start, options);
  }

  /** Batches that it takes at once, now: none before its first member is ready, and when all are gone. */
  get room(): number {
    return JOBS_A_MEMBER * this.#members.filter(({ ready }) => ready).length;
  }

  /**
   * Prices a batch, or gives undefined where the member could not: it is gone, or something failed that is no trade's own.
   * @throws the signal's reason
   */
  async price(batch: BatchOf<readonly ParsedTrade[]>, signal: AbortSignal): Promise<TradeResult[] | undefined> {
    signal.throwIfAborted();
    const { trades } = batch;
    const job = { ...batch, trades: trades.map((parsed) => (parsed.ok ? parsed.trade : undefined)) };
    const results = await this.#done(job, signal);
    return results?.map((result, i) => {
      const parsed = trades[i];
      return parsed.ok ? result : failedResult(parsed.id, parsed.error);
    });
  }

  [Symbol.dispose](): void {
    while (this.#members.length > 0) this.#lose(this.#members[0]);
  }

  #done(job: Job, signal: AbortSignal): Promise<TradeResult[] | undefined> {
    const member = this.#leastBusy();
    if (member === undefined) return Promise.resolve(undefined);
    const number = this.#jobs++;
    return new Promise((resolve, reject) => {
      try {
        tell(member, { kind: "job", number, job });
      } catch {
        resolve(undefined); // a trade of one's own making that cannot be sent to another thread
        return;
      }
      const stop = (): void => {
        tell(member, { kind: "stop", number });
        this.#settle(member, number);
        reject(signal.reason as Error);
      };
      const stops = this.#stopsOf(signal).add(stop);
      const settled = (results: TradeResult[] | undefined): void => {
        stops.delete(stop);
        resolve(results);
      };
      member.pending.set(number, { job, resolve: settled });
      member.worker.ref();
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

  #leastBusy(): Member | undefined {
    let least: Member | undefined;
    for (const member of this.#members)
      if (member.ready && !(member.pending.size >= (least?.pending.size ?? Number.POSITIVE_INFINITY))) least = member;
    return least;
  }

  /** No member where threads are forbidden (Node's permissions), or the machine has no more of them: who is there does the work. */
  #start(start: StartMember, data: MemberData): void {
    let worker: WorkerThreads.Worker;
    try {
      worker = start(data);
    } catch {
      return;
    }
    const member: Member = { worker, pending: new Map(), ready: false };
    this.#members.push(member);
    const lost = (): void => this.#lose(member);
    member.worker.on("message", (message: FromMember) => this.#hear(member, message));
    member.worker.on("error", lost);
    member.worker.on("exit", lost);
    member.worker.unref();
  }

  #hear(member: Member, message: FromMember): void {
    if (message.kind === "ready") member.ready = true;
    else {
      const pending = this.#settle(member, message.number);
      if (pending === undefined) return; // stopped meanwhile
      pending.resolve(message.kind === "done" ? unpackResults(message.packed, pending.job.scenarios) : undefined);
    }
  }

  #settle(member: Member, number: number): Pending | undefined {
    const pending = member.pending.get(number);
    member.pending.delete(number);
    if (member.pending.size === 0) member.worker.unref();
    return pending;
  }

  /** Who waits for it does the work. */
  #lose(member: Member): void {
    const place = this.#members.indexOf(member);
    if (place < 0) return;
    this.#members.splice(place, 1);
    void member.worker.terminate();
    for (const { resolve } of member.pending.values()) resolve(undefined);
    member.pending.clear();
  }
}

function tell({ worker }: Member, message: ToMember): void {
  worker.postMessage(message);
}

/** Crews by the device that they are part of; they go when it does. */
const crews = new WeakMap<Device, Crew>();

/** The crew of a device if one is at work. */
export function crewOf(device: Device): Crew | undefined {
  return crews.get(device);
}

/** The crew of a device; undefined where there can be none: one thread, a page, a program put together from one file. */
export function startCrew(device: Device): Crew | undefined {
  const known = crews.get(device);
  const { parts } = device;
  if (known !== undefined || parts === undefined) return known;
  const start = startThread();
  if (start === undefined) return undefined;
  const crew = new Crew(parts, start);
  crews.set(device, crew);
  parts.keep(crew);
  return crew;
}

/** Node's, where the member's file is beside this one as JavaScript. */
function startThread(): StartMember | undefined {
  const { process } = globalThis as { process?: { getBuiltinModule?: (name: string) => unknown } };
  const threads = process?.getBuiltinModule?.("node:worker_threads") as typeof WorkerThreads | undefined;
  const files = process?.getBuiltinModule?.("node:fs") as typeof FileSystem | undefined;
  if (threads === undefined || files === undefined) return undefined;
  const file = new URL("./crew-worker.js", import.meta.url);
  if (file.protocol !== "file:" || !files.existsSync(file)) return undefined;
  return (workerData) => new threads.Worker(file, { workerData, execArgv: [], name: "feynkac crew" });
}
