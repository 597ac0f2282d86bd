/**
 * The kernels loaded into a context, in memory that its threads share. The driver loads one at a time, for milliseconds
 * in which other threads wait for it, and a function's handle is valid in all threads: so each kernel is loaded once.
 */
import { cacheFileName } from "../cache/entry.ts";
import { MAX_PROGRAMS } from "../max-programs.ts";

/** Words of 8 bytes of a kernel: two of its hash, its function, its state. */
const WORDS = 4;

const ABSENT = 0;
const LOADING = 1;
const LOADED = 2;

/** After this long, in milliseconds, the thread that loads a kernel is taken to have been ended. */
const LOADING_LASTS = 10_000;

/** The table of the kernels that are loaded in a context. It has at most `MAX_PROGRAMS` kernels. */
export class LoadedKernels {
  readonly memory: SharedArrayBuffer;
  readonly #hashes: BigUint64Array;
  readonly #functions: Float64Array;
  readonly #states: Int32Array;

  /** `memory`: that of another thread's table of the same context. */
  constructor(memory = new SharedArrayBuffer(MAX_PROGRAMS * WORDS * 8)) {
    this.memory = memory;
    this.#hashes = new BigUint64Array(memory);
    this.#functions = new Float64Array(memory);
    this.#states = new Int32Array(memory);
  }

  /**
   * Returns the function of the kernel that `text` tells apart from all others; undefined where it has no place here.
   * A kernel that no thread has loaded is loaded by `load` and stays so until the context ends. While another thread
   * loads it, the call blocks, as the driver would. @throws whatever `load` throws; the next call loads the kernel
   */
  functionOf(text: string, load: () => number): number | undefined {
    const digits = cacheFileName(text);
    const [first, second] = [0, 16].map((at) => BigInt(`0x${digits.slice(at, at + 16)}`));
    const at = this.#placeOf(first);
    if (at === undefined) return undefined;
    const state = 2 * (at + 3); // of words of 4 bytes
    for (;;) {
      const before = Atomics.compareExchange(this.#states, state, ABSENT, LOADING);
      if (before === LOADED) return this.#hashes[at + 1] === second ? this.#functions[at + 2] : undefined;
      if (before === LOADING) {
        if (Atomics.wait(this.#states, state, LOADING, LOADING_LASTS) === "timed-out") return undefined;
        continue;
      }
      let after = ABSENT;
      try {
        this.#functions[at + 2] = load();
        this.#hashes[at + 1] = second;
        after = LOADED;
        return this.#functions[at + 2];
      } finally {
        Atomics.store(this.#states, state, after);
        Atomics.notify(this.#states, state);
      }
    }
  }

  /** Returns the index of a kernel's first word, by the first word of its hash; undefined if all places are taken. */
  #placeOf(hash: bigint): number | undefined {
    const start = Number(hash % BigInt(MAX_PROGRAMS));
    for (let i = 0; i < MAX_PROGRAMS; i++) {
      const at = ((start + i) % MAX_PROGRAMS) * WORDS;
      const owner = Atomics.compareExchange(this.#hashes, at, 0n, hash);
      if (owner === 0n || owner === hash) return at;
    }
    return undefined;
  }
}
