/**
 * Executes what a device has recorded, in order. Short launches run on the calling thread, others on the workers. Reads
 * and writes of the host happen when everything before them is complete.
 */
import { OutOfMemoryError } from "../../base/errors.ts";
import type { CpuMemory, CpuBuffer } from "./memory.ts";
import type { PoolEvents } from "./pool.ts";
import { ThreadPool } from "./pool.ts";
import type { Program } from "./programs.ts";
import type { StartThread } from "./thread.ts";

/**
 * Launches that take less than this many microseconds, according to their callers, run on the calling thread if nothing
 * is pending.
 */
const BRIEF = 2000;
/**
 * Launches that are expected to take longer than this many nanoseconds run on the workers. Waking these takes about 0.1
 * ms.
 */
const SHORT = 4e5;
/**
 * Workers are started when this many nanoseconds of work have been done or are expected. Starting them takes about 40
 * ms, and unoptimised code makes work seem three times as long. A browser page must not stop for so long.
 */
const STARTING = typeof document === "undefined" ? 1e8 : 1e7;
/**
 * Each launch on the workers lowers the measured time of its kernel by this factor. A kernel that was slow once,
 * because of other arguments or before it was optimised, is thus measured again later.
 */
const FORGETTING = 0.95;
/**
 * The intended duration in nanoseconds of one call of a kernel. V8 cannot replace WebAssembly code while it runs:
 * unoptimised code, which is three times slower, stays in use until the call returns. Calls must therefore return
 * often; then the optimised code of a pricing kernel is used after about 8 ms. (`--no-liftoff` would use it at once,
 * after 10 ms before the first call, but is a setting of the whole process.) Short ranges also let the workers finish a
 * launch together.
 */
const RANGE = 3e5;
/** The minimum number of ranges for each worker, if there are enough work items. */
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

/** The work items `begin` … `count` − 1 of a launch. */
interface Range {
  readonly begin: number;
  readonly count: number;
  /** True if they stay on the calling thread. */
  readonly isBrief: boolean;
}

/** A recorded operation and the buffers that it accesses. Operations on other buffers may overtake it. */
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

/** The command stream of a CPU device, in order: launches, and the host's reads and writes. */
export class Stream {
  readonly #memory: CpuMemory;
  #threads: number;
  readonly #startThread: StartThread;
  #alwaysShare: boolean;
  readonly #events: PoolEvents;
  #pool: ThreadPool | undefined;
  #scratch = { address: 0, bytes: 0 };
  /** The time in nanoseconds of launches on the calling thread so far. */
  #spentHere = 0;
  #waiting: Command[] = [];
  /** The number of fences that the workers have not answered yet. */
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

  /** Records a command, and returns whether it could be started at once. */
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

  /** Continues when the workers have finished, which is all that commands wait for. */
  #resumeLater(): void {
    if (this.#pool === undefined) return;
    this.#fences++;
    this.#pool.fence(() => {
      this.#fences--;
      this.#resume();
    });
  }

  /**
   * Starts the commands that can be started, in order. A command that must wait delays later commands on the same
   * buffers.
   */
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

  /** Tells whether the rest of a launch should run on the workers. */
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
   * Starts the workers. Undefined if they are forbidden by a page's security policy or Node's permissions; then
   * everything runs on this thread.
   */
  #startPool(): ThreadPool | undefined {
    try {
      this.#pool ??= new ThreadPool(this.#threads, this.#startThread, this.#memory, this.#events);
    } catch (error) {
      if (error instanceof OutOfMemoryError) throw error;
      this.#threads = 1;
      this.#alwaysShare = false;
    }
    return this.#pool;
  }

  /** Returns the number of work items of one call: about RANGE nanoseconds, at most `max`, and whole chunks. */
  #step({ pace, unit }: Program, max: number): number {
    const aim = pace === undefined ? unit : Math.min(RANGE / pace, max);
    return Math.max(unit, Math.floor(aim / unit) * unit);
  }

  /**
   * Executes work items from `begin` on this thread as long as that is faster, and returns the first item that is left.
   */
  #runHere(program: Program, args: ArrayBuffer, { begin, count, isBrief }: Range): number {
    const isWorthSharing = (rest: number): boolean => !isBrief && this.#worthSharing(program.pace, rest);
    if (isWorthSharing(count - begin)) return begin;
    const address = this.#ownScratch(program.scratchBytes);
    new Uint8Array(this.#memory.memory.buffer, address, args.byteLength).set(new Uint8Array(args));
    const run = program.run(this.#memory.memory, isBrief ? count - begin : Infinity);
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

/** Tells whether two commands access the same memory, so that one must not overtake the other. */
function touch({ buffers: a }: Command, { buffers: b }: Command): boolean {
  return a === "all" || b === "all" || a.some((buffer) => b.includes(buffer));
}
