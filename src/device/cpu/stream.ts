/**
 * Runs what a device has recorded, in order: launches on the calling thread while they are short, on the workers
 * otherwise; the host's own reads and writes once everything before them is complete.
 */
import { OutOfMemoryError } from "../../errors.ts";
import type { CpuBuffer } from "./buffer.ts";
import type { CpuMemory } from "./memory.ts";
import type { PoolEvents } from "./pool.ts";
import { Pool } from "./pool.ts";
import type { Program } from "./program.ts";
import type { StartThread } from "./thread.ts";

/** Launches that their callers say take less, in microseconds, run on the calling thread wherever that is idle. */
const BRIEF = 2000;
/** Launches expected to take longer than this, in nanoseconds, go to the workers: waking them takes some 0.1 ms. */
const SHORT = 4e5;
/**
 * Workers start when that much work has been done or is in sight: starting them takes some 40 ms, and the pace of code
 * that is not yet optimised makes work look three times as long. A page must not stand still so long.
 */
const STARTING = typeof document === "undefined" ? 1e8 : 1e7;
/**
 * Each launch given to the workers lowers the pace held for its kernel by this factor, so that a kernel that was slow
 * once, for other arguments or before it was optimised, comes to be measured again.
 */
const FORGETTING = 0.95;
/**
 * Aim of one call into a kernel. V8 has no on-stack replacement for WebAssembly: code that is still unoptimised, three
 * times slower, stays so until the call returns, so calls must return often; then the optimised code of a pricing
 * kernel takes over after some 8 ms. (`--no-liftoff` would bring it at once, for 10 ms before the first call, but is a
 * setting of the whole process.) Also what makes the last ranges of a launch end together.
 */
const RANGE = 3e5;
/** Ranges for each worker at least, where there are items enough. */
const RANGES_PER_THREAD = 8;

/** A launch that the CPU device has recorded. */
export interface Launch {
  readonly program: Program;
  /** The block of arguments. */
  readonly args: ArrayBuffer;
  /** The number of work items, or of workgroups of a cooperative kernel. */
  readonly count: number;
  /** The time in microseconds that a work item takes on one core, if the caller knows it. */
  readonly microsecondsEach: number | undefined;
}

type Work = ({ readonly kind: "launch" } & Launch) | { readonly kind: "host"; readonly action: () => void };

/** Items of a launch from `begin` to `count`. */
interface Range {
  readonly begin: number;
  readonly count: number;
  /** True where they stay on the calling thread. */
  readonly isBrief: boolean;
}

/** Something recorded, and the buffers it touches: what touches none of them may overtake it. */
interface Command {
  readonly work: Work;
  readonly buffers: readonly CpuBuffer[] | "all";
}

/** The settings of a CPU device's command stream: the number of threads, and when launches use them. */
export interface StreamSettings {
  readonly threads: number;
  readonly startThread: StartThread;
  /** True if every launch runs on the workers, however short it is. */
  readonly alwaysShare: boolean;
}

/** The ordered command stream of a CPU device: launches, and reads and writes of the host. */
export class Stream {
  readonly #memory: CpuMemory;
  #threads: number;
  readonly #startThread: StartThread;
  #alwaysShare: boolean;
  readonly #events: PoolEvents;
  #pool: Pool | undefined;
  #scratch = { address: 0, bytes: 0 };
  /** Nanoseconds of launches run on the calling thread. */
  #spentHere = 0;
  #waiting: Command[] = [];
  /** Fences that have not been answered. */
  #fences = 0;

  constructor(memory: CpuMemory, { threads, startThread, alwaysShare }: StreamSettings, events: PoolEvents) {
    this.#memory = memory;
    this.#threads = threads;
    this.#startThread = startThread;
    this.#alwaysShare = alwaysShare;
    this.#events = events;
  }

  launch(launch: Launch, buffers: readonly CpuBuffer[]): void {
    this.#record({ work: { kind: "launch", ...launch }, buffers });
  }

  /**
   * Calls `action` when every recorded operation on `buffers` is complete, which may be immediately. The host can thus
   * fill the buffers of one launch and read those of another while the workers execute a third. Returns whether
   * `action` has been called already.
   */
  host(buffers: readonly CpuBuffer[] | "all", action: () => void): boolean {
    return this.#record({ work: { kind: "host", action }, buffers });
  }

  /** True if nothing is pending, so that memory may be reused. */
  get idle(): boolean {
    return this.#waiting.length === 0 && (this.#pool === undefined || this.#pool.idle);
  }

  terminate(): void {
    this.#waiting = [];
    this.#pool?.terminate();
  }

  /** Returns whether the command could be started at once. */
  #record(command: Command): boolean {
    const starts = !this.#waiting.some((earlier) => touch(earlier, command)) && this.#canStart(command);
    if (starts) this.#start(command);
    else {
      this.#waiting.push(command);
      // One for each of the host's commands: it is answered when the launches before that are complete, whatever comes
      // after.
      if (command.work.kind === "host" || this.#fences === 0) this.#resumeLater();
    }
    return starts;
  }

  /** Commands wait only for the pool. */
  #resumeLater(): void {
    if (this.#pool === undefined) return;
    this.#fences++;
    this.#pool.fence(() => {
      this.#fences--;
      this.#resume();
    });
  }

  /** Starts what can be started, in order; what has to wait holds up what touches the same buffers. */
  #resume(): void {
    const all = this.#waiting;
    this.#waiting = [];
    for (const command of all) {
      if (this.#waiting.some((earlier) => touch(earlier, command)) || !this.#canStart(command)) {
        this.#waiting.push(command);
        continue;
      }
      try {
        this.#start(command);
      } catch (error) {
        this.#events.failed(error); // nobody is there to catch it: whoever waits next is told
      }
    }
    if (this.#waiting.length > 0 && this.#fences === 0) this.#resumeLater();
  }

  #canStart({ work, buffers }: Command): boolean {
    const pool = this.#pool;
    if (pool === undefined) return true;
    if (work.kind === "launch") return !pool.full;
    if (buffers === "all") return pool.idle;
    return buffers.every(({ lastLaunch }) => lastLaunch === undefined || pool.isComplete(lastLaunch));
  }

  #start({ work, buffers }: Command): void {
    if (work.kind === "host") return work.action();
    const touched = buffers as readonly CpuBuffer[];
    // Launches that share no buffer overlap: who is done with one begins the next while others finish.
    const after = touched.reduce((last, { lastLaunch = -1 }) => Math.max(last, lastLaunch), -1);
    const shared = this.#startLaunch(work, after);
    if (shared !== undefined) for (const buffer of touched) buffer.lastLaunch = shared;
  }

  #startLaunch({ program, args, count, microsecondsEach }: Launch, after: number): number | undefined {
    if (count === 0) return undefined;
    const isBrief = microsecondsEach !== undefined && count * microsecondsEach < BRIEF;
    const isIdle = this.#pool === undefined || this.#pool.idle;
    const begin = isIdle ? this.#runHere(program, args, { begin: 0, count, isBrief }) : 0;
    return begin < count ? this.#share(program, args, begin, count, after) : undefined;
  }

  /** Tells whether the rest of a launch had better go to the workers. */
  #worthSharing(pace: number | undefined, rest: number): boolean {
    if (this.#alwaysShare) return true;
    if (this.#threads === 1) return false;
    if (pace === undefined || pace * rest < SHORT) return false;
    return this.#pool !== undefined || this.#spentHere + pace * rest > STARTING;
  }

  #share(program: Program, args: ArrayBuffer, begin: number, end: number, after: number): number | undefined {
    const pool = this.#startPool();
    if (pool === undefined) return void this.#runHere(program, args, { begin, count: end, isBrief: false });
    const step = this.#step(program, Math.ceil((end - begin) / (pool.size * RANGES_PER_THREAD)));
    if (program.pace !== undefined) program.pace *= FORGETTING;
    return pool.launch({ after, program, args, begin, end, step });
  }

  /**
   * Starts the workers; undefined where they are forbidden (a page's security policy, Node's permissions): then there
   * is this thread.
   */
  #startPool(): Pool | undefined {
    try {
      this.#pool ??= new Pool(this.#threads, this.#startThread, this.#memory, this.#events);
    } catch (error) {
      if (error instanceof OutOfMemoryError) throw error;
      this.#threads = 1;
      this.#alwaysShare = false;
    }
    return this.#pool;
  }

  /** The number of items of one call: some RANGE, at most `most`, whole chunks. */
  #step({ pace, unit }: Program, max: number): number {
    const aim = pace === undefined ? unit : Math.min(RANGE / pace, max);
    return Math.max(unit, Math.floor(aim / unit) * unit);
  }

  /** Runs items from `begin` on this thread while that is the quicker way, and returns how far it came. */
  #runHere(program: Program, args: ArrayBuffer, { begin, count, isBrief }: Range): number {
    const isWorthSharing = (rest: number): boolean => !isBrief && this.#worthSharing(program.pace, rest);
    if (isWorthSharing(count - begin)) return begin;
    const address = this.#ownScratch(program.scratchBytes);
    new Uint8Array(this.#memory.memory.buffer, address, args.byteLength).set(new Uint8Array(args));
    const run = program.run(this.#memory.memory);
    let at = begin;
    try {
      do {
        const end = Math.min(count, at + this.#step(program, count));
        const start = performance.now();
        run(at, end, address, address);
        const elapsed = (performance.now() - start) * 1e6;
        this.#spentHere += elapsed;
        program.measured(end - at, elapsed);
        at = end;
      } while (at < count && !isWorthSharing(count - at));
    } catch (error) {
      this.#events.trap(program.signature.name, String(error));
      return count;
    }
    return at;
  }

  #ownScratch(bytes: number): number {
    if (this.#scratch.bytes >= bytes) return this.#scratch.address;
    const address = this.#memory.allocate(bytes);
    if (this.#scratch.bytes > 0) this.#memory.free(this.#scratch.address);
    this.#scratch = { address, bytes };
    return address;
  }
}

/** Tells whether two commands touch the same memory, so that one must not overtake the other. */
function touch({ buffers: a }: Command, { buffers: b }: Command): boolean {
  return a === "all" || b === "all" || a.some((buffer) => b.includes(buffer));
}
