/** The worker threads of a device, and the launches that were sent to them. */
import { LruCache } from "../../base/memoize.ts";
import type { CpuMemory } from "./memory.ts";
import { MAX_PROGRAMS } from "../max-programs.ts";
import type { Program } from "./programs.ts";
import type { FromWorker, StartThread, Thread } from "./thread.ts";

/** The maximum number of pending launches. Each has four numbers in shared memory. */
const SLOTS = 1024;
const WORDS = 4;
const [NEXT, REMAINING, DONE] = [0, 1, 2];
/** The index in shared memory of the number of traps so far, after the numbers of the launches. */
const TRAPS = SLOTS * WORDS;
const ALL_WORDS = TRAPS + 1;

/** The functions that a pool of worker threads calls to report failures. */
export interface PoolEvents {
  /** Reports a WebAssembly trap, such as an access out of bounds, in a kernel. */
  trap(kernel: string, text: string): void;
  /** Reports that a worker thread ended unexpectedly. */
  died(reason: string): void;
  /** Reports an error of a recorded operation. */
  failed(error: unknown): void;
}

/** A launch whose work items are divided among the worker threads. */
export interface SharedLaunch {
  /** The number of a launch. It and all launches before it must be complete before this one starts; −1 for none. */
  readonly after: number;
  readonly program: Program;
  readonly args: ArrayBuffer;
  /** The first work item (or workgroup). */
  readonly begin: number;
  /** The work item (or workgroup) after the last. */
  readonly end: number;
  /** The number of work items that a worker takes at a time. */
  readonly step: number;
}

interface Fence {
  readonly number: number;
  /** The number of launches that were sent before the fence. */
  readonly launches: number;
  readonly resolve: () => void;
  answers: number;
  resolved: boolean;
}

/** A pool of worker threads that execute launches. */
export class ThreadPool {
  readonly #memory: CpuMemory;
  readonly #events: PoolEvents;
  readonly #threads: Thread[];
  readonly #slots: number;
  /**
   * The programs that the workers have, by id. Workers execute messages in order, so that a program may be removed as
   * soon as its launches have been sent.
   */
  readonly #known = new LruCache<number, number>(MAX_PROGRAMS, (id) => this.#postAll({ kind: "forget", id }));
  readonly #scratch: { address: number; bytes: number }[];
  readonly #outgrown: { address: number; launches: number }[] = [];
  #fences: Fence[] = [];
  #fenceCount = 0;
  #launches = 0;
  #traps = 0;
  /** The number of launches that every worker has left behind, so that their places in shared memory may be reused. */
  #passed = 0;
  /** The number of launches that are complete, counted from the first. */
  #complete = 0;

  constructor(count: number, startThread: StartThread, memory: CpuMemory, events: PoolEvents) {
    this.#memory = memory;
    this.#events = events;
    this.#slots = memory.allocate(ALL_WORDS * 4);
    this.#scratch = Array.from({ length: count }, () => ({ address: 0, bytes: 0 }));
    this.#threads = Array.from({ length: count }, () =>
      startThread({ message: (m) => this.#receive(m), died: (reason) => events.died(reason) }),
    );
    this.#postAll({ kind: "memory", memory: memory.memory, slots: this.#slots, slotWords: ALL_WORDS });
  }

  get size(): number {
    return this.#threads.length;
  }

  /** True if everything sent to the workers is complete and reported. */
  get idle(): boolean {
    while (this.#complete < this.#launches && this.#isDone(this.#complete)) this.#complete++;
    return this.#complete === this.#launches && this.#told;
  }

  /** Tells whether a launch, and with it all launches that it waited for, is complete and reported. */
  isComplete(number: number): boolean {
    return this.#isDone(number) && this.#told;
  }

  #isDone(number: number): boolean {
    return number < this.#passed || Atomics.load(this.#words(), this.#slotOf(number) + DONE) === 1;
  }

  get #told(): boolean {
    return this.#traps === Atomics.load(this.#words(), TRAPS);
  }

  /** True if no further launch can be sent to the workers before a fence. */
  get full(): boolean {
    return this.#launches - this.#passed >= SLOTS - 1;
  }

  /** Divides a launch among the workers and returns its number. */
  launch({ after, program, args, begin, end, step }: SharedLaunch): number {
    if (this.#known.get(program.id) === undefined) {
      this.#postAll({ kind: "program", id: program.id, module: program.module });
      this.#known.set(program.id, program.id);
    }
    const scratches = this.#threads.map((_, i) => this.#scratchOf(i, program.scratchBytes));
    const ranges = Math.ceil((end - begin) / step);
    const number = this.#launches++;
    const slot = this.#slotOf(number);
    const words = this.#words();
    Atomics.store(words, slot + NEXT, 0);
    Atomics.store(words, slot + REMAINING, ranges);
    Atomics.store(words, slot + DONE, 0);
    this.#threads.forEach((thread, i) => {
      thread.post({
        kind: "launch",
        number,
        after,
        kernel: program.signature.name,
        program: program.id,
        slot,
        traps: TRAPS,
        ranges,
        begin,
        end,
        step,
        scratch: scratches[i],
        args,
      });
    });
    return number;
  }

  /** Calls `resolve` when everything sent so far is complete. The process stays alive until then. */
  fence(resolve: () => void): void {
    if (this.#fences.length === 0) for (const thread of this.#threads) thread.hold(true);
    const number = this.#fenceCount++;
    this.#fences.push({ number, launches: this.#launches, resolve, answers: 0, resolved: false });
    this.#postAll({ kind: "fence", number });
  }

  terminate(): void {
    for (const thread of this.#threads) thread.terminate();
  }

  #receive(message: FromWorker): void {
    if (message.kind === "trap") {
      this.#traps++;
      return this.#events.trap(message.kernel, message.text);
    }
    const fence = this.#fences.find((f) => f.number === message.number);
    if (fence === undefined) return;
    fence.answers++;
    if (fence.answers === this.size) this.#pass(fence);
    this.#resolve(fence);
  }

  /**
   * Resolves a fence when all workers have answered. A worker that reached the fence has seen every launch before it
   * complete, but another worker's message about a trap may still be on its way, ahead of that worker's answer.
   */
  #resolve(fence: Fence): void {
    if (fence.resolved || (!this.#told && fence.answers < this.size)) return;
    fence.resolved = true;
    fence.resolve();
  }

  /** Releases what launches before a fence used, when all workers are beyond it. */
  #pass(fence: Fence): void {
    this.#fences = this.#fences.filter((f) => f !== fence);
    this.#passed = Math.max(this.#passed, fence.launches);
    for (const old of this.#outgrown.splice(0)) {
      if (old.launches <= this.#passed) this.#memory.free(old.address);
      else this.#outgrown.push(old);
    }
    if (this.#fences.length === 0) for (const thread of this.#threads) thread.hold(false);
  }

  #scratchOf(thread: number, bytes: number): number {
    const have = this.#scratch[thread];
    if (have.bytes >= bytes) return have.address;
    const address = this.#memory.allocate(bytes);
    if (have.bytes > 0) this.#outgrown.push({ address: have.address, launches: this.#launches });
    this.#scratch[thread] = { address, bytes };
    return address;
  }

  #slotOf(launch: number): number {
    return (launch % SLOTS) * WORDS;
  }

  /** Returns a view of the shared memory. The memory may have grown, so that older views end too early. */
  #words(): Int32Array {
    return new Int32Array(this.#memory.memory.buffer, this.#slots, ALL_WORDS);
  }

  #postAll(message: Parameters<Thread["post"]>[0]): void {
    for (const thread of this.#threads) thread.post(message);
  }
}
