/**
 * An allocator that takes many small arrays from a few large ones. A trade needs half a dozen arrays of a few hundred
 * numbers, whose separate allocation would cost more than filling them.
 */
export class Arena {
  readonly #chunkLength: number;
  readonly #chunks: Float64Array[] = [];
  /** The index of the chunk that is being cut, and how much of it is gone. */
  #current = -1;
  #used = 0;
  #room = 0;

  constructor(chunkLength = 2 ** 16) {
    this.#chunkLength = chunkLength;
  }

  /** Returns an uninitialised array, which the caller must fill. */
  take(length: number): Float64Array {
    if (this.#used + length > this.#room) this.#nextChunk(length);
    const start = this.#used;
    this.#used += length;
    return this.#chunks[this.#current].subarray(start, this.#used);
  }

  /** Releases all arrays taken so far for reuse; those still in use elsewhere will be overwritten. */
  clear(): void {
    this.#current = -1;
    this.#used = 0;
    this.#room = 0;
  }

  #nextChunk(length: number): void {
    this.#current++;
    this.#used = 0;
    if (!((this.#chunks[this.#current]?.length ?? 0) >= length))
      this.#chunks[this.#current] = new Float64Array(Math.max(this.#chunkLength, length));
    this.#room = this.#chunks[this.#current].length;
  }
}
